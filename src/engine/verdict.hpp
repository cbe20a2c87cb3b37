#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace tamis {

/// What ranks tell each other at the end of a step they take together.
struct Verdict {
  Status worst;
  std::int32_t incomplete = 0;  ///< somebody could not do all of it, be it an error or not
  void merge(const Verdict& other) {
    worst.merge(other.worst);
    incomplete |= other.incomplete;
  }
};

}  // namespace tamis
