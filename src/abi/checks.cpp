#include "abi/checks.hpp"

#include <array>
#include <utility>

#include "base/checked.hpp"
#include "mpi/datatype.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

struct Condition {
  unsigned scope;  ///< applies to calls with any of these bits
  bool (*broken)(const Facts&);
  Errc code;
  const char* sentence;
};

// REQUIRES: the condition on count * size was fulfilled.
std::int64_t data_bytes(const Facts& f) { return f.type == nullptr ? 0 : f.count * f.type->size(); }

// MPI_BOTTOM is a null pointer too: then the type's displacements are addresses, and no data lies
// in the first page of memory.
bool has_no_buffer(const Facts& f) {
  constexpr std::int64_t kPage = 4096;
  return f.buffer == nullptr && data_bytes(f) > 0 && f.type->true_lb() > -kPage &&
         f.type->true_lb() < kPage;
}

constexpr unsigned kTransfers = kReads | kWrites;

// In the order in which they are asked; later ones rely on earlier ones. Classes as MPICH gives
// them where the standard leaves the choice. What depends on the view is the file's to check.
constexpr std::array kConditions = {
    Condition{kTransfers, [](const Facts& f) { return f.count < 0; }, Errc::count,
              "the count is negative"},
    Condition{
        kTransfers,
        [](const Facts& f) { return f.type != nullptr && !checked_mul(f.count, f.type->size()); },
        Errc::count, "count times type size exceeds 64 bits"},
    Condition{kExplicit | kLocates, [](const Facts& f) { return f.offset < 0; }, Errc::arg,
              "the offset is negative"},
    Condition{kResizes, [](const Facts& f) { return f.offset < 0; }, Errc::arg,
              "the size is negative"},
    Condition{kReads, [](const Facts& f) { return (f.amode & kWriteOnly) != 0; }, Errc::access,
              "the file was opened for writing only"},
    Condition{kWrites | kResizes, [](const Facts& f) { return (f.amode & kReadOnly) != 0; },
              Errc::read_only, "the file was opened for reading only"},
    Condition{kExplicit | kPointer | kResizes,
              [](const Facts& f) { return (f.amode & kSequential) != 0; },
              Errc::unsupported_operation,
              "not allowed for a file opened with MPI_MODE_SEQUENTIAL"},
    Condition{kTransfers, has_no_buffer, Errc::buffer, "the buffer is a null pointer"},
};

template <std::size_t I>
bool breaks(unsigned scope, const Facts& facts) {
  constexpr Condition kCondition = kConditions[I];
  return (kCondition.scope & scope) != 0 && kCondition.broken(facts);
}

// The place of the first broken condition, or their number. Unrolled at compile time, so that the
// conditions are inlined on the hot path.
template <std::size_t... I>
std::size_t first_broken(unsigned scope, const Facts& facts, std::index_sequence<I...>) {
  std::size_t place = 0;
  (void)((breaks<I>(scope, facts) || (++place, false)) || ...);
  return place;
}

// An MPI cannot be asked whether a type was committed, but packing nothing of it answers the
// question; errors come back, since the file's communicator has MPI_ERRORS_RETURN.
bool is_usable(const OpenFile& file, MPI_Datatype datatype) {
  char nothing = 0;
  int position = 0;
  return host().Pack(&nothing, 0, datatype, &nothing, 1, &position, file.comm) == MPI_SUCCESS;
}

}  // namespace

Status check(unsigned scope, const Facts& facts) {
  const std::size_t place =
      first_broken(scope, facts, std::make_index_sequence<kConditions.size()>());
  if (place == kConditions.size()) [[likely]]
    return {};
  return failure(kConditions[place].code, kConditions[place].sentence);
}

Result<const Dataloop*> checked_type(OpenFile& file, MPI_Datatype datatype) {
  if (datatype != file.familiar_type.load(std::memory_order_relaxed)) [[unlikely]] {
    if (datatype == MPI_DATATYPE_NULL) return failure(Errc::type, "the datatype is null");
    if (!is_usable(file, datatype)) return failure(Errc::type, "the datatype is not committed");
    if (is_predefined(datatype)) {
      file.familiar_type.store(datatype, std::memory_order_relaxed);
    }
  }
  return decode(datatype);
}

}  // namespace tamis::abi
