#pragma once

#include <cstdint>

namespace tamis {

/// The calls of Storage and Driver as a value: what decorators report and fail.
enum class Verb : std::uint8_t {
  open,
  remove,
  transfer,
  sync,
  size,
  resize,
  preallocate,
  lock,
  unlock,
  close
};

}  // namespace tamis
