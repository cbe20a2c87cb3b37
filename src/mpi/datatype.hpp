#pragma once

#include "base/result.hpp"
#include "layout/dataloop.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// What a datatype looks like in memory or in a file: data, order, bounds. Decoded once through the
/// envelope and the contents of the type and kept on it; predefined types come from a table.
/// The pointer is good as long as the datatype is (a predefined one's for ever); copy the Dataloop
/// to keep it longer. Whether a type was committed cannot be asked of an MPI and is not checked.
/// Errors: type (MPI_DATATYPE_NULL, a type this host does not really have, nesting beyond all
/// reason), arg (bounds beyond 64 bits), internal (the host contradicts itself).
/// HOT PATH for predefined types: no lock, no call of the host. Any thread may call it.
/// REQUIRES: find_host() has succeeded.
Result<const Dataloop*> decode(MPI_Datatype type);

/// The type was given by the standard and must not be freed: a named one, or a Fortran
/// parameterised one (MPI 4.1, section 19.1.5).
bool is_predefined(MPI_Datatype type);

}  // namespace tamis
