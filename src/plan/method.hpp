#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tamis {

/// How one rank moves its own bytes, or an aggregator a window.
enum class Method : std::uint8_t {
  nothing,  ///< no bytes
  direct,   ///< one transfer, straight from or to the user's memory
  list,     ///< the same for many runs, handed to the driver in batches (list I/O)
  gather,   ///< packed in stream order through a bounded buffer, one transfer per run of the file
  sieve,    ///< whole windows of the file; a write reads them first and holds a lock
  whole,    ///< a window of a collective access that has no holes, in one transfer
  ahead,    ///< not at all: the bytes were read ahead
};

inline const char* name(Method method) {
  constexpr std::array names = {"nothing", "direct", "list", "gather", "sieve", "whole", "ahead"};
  return names.at(static_cast<std::size_t>(method));
}

/// Those that move a rank's own bytes.
inline constexpr std::array kMethods = {Method::direct, Method::list, Method::gather,
                                        Method::sieve};

}  // namespace tamis
