#pragma once

#include "abi/open_file.hpp"
#include "base/result.hpp"
#include "mpi/mpi.hpp"

namespace tamis::abi {

/// A handle that outlives the program's: a duplicate that somebody frees, or a predefined type
/// itself, which nobody frees.
Result<MPI_Datatype> duplicate_type(MPI_Datatype type);
void free_type(MPI_Datatype type);

}  // namespace tamis::abi
