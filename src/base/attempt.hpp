#pragma once

#include <new>
#include <stdexcept>

#include "base/status.hpp"

namespace tamis {

/// Runs `body`, which returns a Status or a Result; where memory runs out in it the answer is
/// Errc::no_memory. For what a rank does between two agreements: an exception there would leave the
/// other ranks waiting.
template <typename Body>
auto attempt(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure(Errc::no_memory, "no memory left");
  } catch (const std::length_error&) {
    return failure(Errc::no_memory, "more than any memory could hold");
  }
}

}  // namespace tamis
