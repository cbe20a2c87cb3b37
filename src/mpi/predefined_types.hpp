#pragma once

#include "base/result.hpp"
#include "layout/dataloop.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// What is known already of a named type; nullptr where it has not been met, and for other types.
/// HOT PATH: a multiplication and, as a rule, one comparison. Any thread may call it.
const Dataloop* find_predefined(MPI_Datatype type);

/// Remembers a named type for ever and returns the place; nullptr where there is no room left.
/// Only one thread at a time.
const Dataloop* keep_predefined(MPI_Datatype type, const Dataloop& loop);

/// A type without contents (named, or one of Fortran's parameterised ones), asked of the host.
/// REQUIRES: find_host() has succeeded.
Result<Dataloop> describe_predefined(MPI_Datatype type);

}  // namespace tamis
