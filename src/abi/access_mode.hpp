#pragma once

#include "base/result.hpp"

namespace tamis::abi {

/// The AccessMode bits for a host's MPI_MODE_ numbers, held against the rules of MPI 4.1,
/// section 14.2.1. Errc::amode with the rule that is broken.
Result<unsigned> access_mode(int amode);

}  // namespace tamis::abi
