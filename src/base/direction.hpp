#pragma once

#include <cstdint>

namespace tamis {

/// Which way bytes go: `read` from the file to memory, `write` from memory to the file.
enum class Direction : std::uint8_t { read, write };

}  // namespace tamis
