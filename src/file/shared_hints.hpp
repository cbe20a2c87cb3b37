#pragma once

#include <span>

#include "engine/team.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// Collective over the comm, one broadcast: rank 0 applies its texts to `hints`, and what comes out
/// is in force everywhere, whatever others were given. A rank may fail alone (no memory): ranks
/// have to agree afterwards. What is ignored, `tamis hints --check` says.
Task<Status> share_hints(Comm& comm, std::span<const HintText> texts, Hints& hints);

}  // namespace tamis
