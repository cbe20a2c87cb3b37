#pragma once

#include <string>

#include "plan/strategy.hpp"

namespace tamis {

// Decisions in plain words: what is asked, what was decided and why, and what the alternatives
// would have cost by the same model. Several lines; the first one is not indented, none ends the
// text. Pure, so that `tamis explain` says of a job that never ran what TAMIS_EXPLAIN says in one.

/// A rank that moves its own bytes. `choice` is what choose_method said.
std::string explain(Direction direction, const Shape& shape, const Choice& choice,
                    const Circumstances& circumstances);

/// Ranks that access together. `strategy` is what decide said.
std::string explain(const Survey& survey, const Circumstances& circumstances,
                    const Strategy& strategy);

/// "1.5 MiB", "512 bytes".
std::string bytes_text(std::int64_t bytes);

}  // namespace tamis
