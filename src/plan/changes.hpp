#pragma once

#include <string>

#include "plan/strategy.hpp"

namespace tamis {

// Which hints would have led elsewhere, in plain words: found by trying them, one at a time.

/// Another method for a rank's own bytes. REQUIRES: shape.bytes > 0.
std::string other_methods(Direction direction, const Shape& shape,
                          const Circumstances& circumstances);

/// Another route for ranks together. REQUIRES: there is data.
std::string other_routes(const Survey& survey, const Circumstances& circumstances);

/// "read", "write".
const char* verb(Direction direction);

/// "every rank alone", "two-phase".
const char* words(Route route);

}  // namespace tamis
