#pragma once

#include <cstdint>

#include "abi/open_file.hpp"
#include "base/result.hpp"
#include "layout/dataloop.hpp"

namespace tamis::abi {

/// Which conditions a call must fulfil: a set of these.
enum Scope : unsigned {
  kReads = 1,     ///< takes data from the file
  kWrites = 2,    ///< gives data to the file
  kExplicit = 4,  ///< names an offset in the view
  kPointer = 8,   ///< uses the individual file pointer
  kResizes = 16,  ///< set_size, preallocate
  kLocates = 32,  ///< get_byte_offset: an offset, but no access
};

/// What the conditions look at; fields a scope does not look at may keep their defaults.
struct Facts {
  unsigned amode = 0;       ///< AccessMode bits
  std::int64_t offset = 0;  ///< etypes, or the size in bytes with kResizes
  std::int64_t count = 0;
  const void* buffer = nullptr;
  const Dataloop* type = nullptr;  ///< of the memory; where null, no data is looked at
};

/// Holds a call against the conditions of its scope; the first that it breaks.
/// HOT PATH: allocates nothing.
Status check(unsigned scope, const Facts& facts);

/// The decoded datatype. Fails (type) for MPI_DATATYPE_NULL and for types not committed.
/// HOT PATH where the type is predefined and was the last one used with the file.
Result<const Dataloop*> checked_type(OpenFile& file, MPI_Datatype datatype);

}  // namespace tamis::abi
