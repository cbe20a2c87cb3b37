#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "mpi/mpi.hpp"
#include "plan/hints.hpp"

namespace tamis::abi {

/// The keys and values of an info object; nothing for MPI_INFO_NULL.
std::vector<HintText> texts_of(MPI_Info info);

/// A new info object, which the program frees. Values longer than the host takes are left out.
Result<MPI_Info> make_info(std::span<const HintText> texts);

}  // namespace tamis::abi
