#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

namespace tamis {

/// Lets MPI_Get_count and its relatives answer from `bytes` with any datatype; not cancelled.
/// MPI_ERROR stays as it is (section 3.2.5). MPI_STATUS_IGNORE is passed over.
void fill_status(MPI_Status* status, std::int64_t bytes);

}  // namespace tamis
