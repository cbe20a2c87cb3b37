#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "file/file.hpp"
#include "mpi/mpi.hpp"
#include "plan/hints.hpp"

namespace tamis::abi {

/// The keys and values of an info object; nothing for MPI_INFO_NULL.
std::vector<HintText> texts_of(MPI_Info info);

/// What an info object given to an open file changes of its hints. Where that fails, nothing, and
/// `error` says why: the calling rank still takes part in the collective call.
std::vector<HintText> changed_hints(const File& file, MPI_Info info, Status& error);

/// A new info object, which the program frees. Values longer than the host takes are left out.
Result<MPI_Info> make_info(std::span<const HintText> texts);

}  // namespace tamis::abi
