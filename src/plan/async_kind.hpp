#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tamis {

/// Whether an aggregator's transfers go on beside its other work, as a hint may say it.
enum class AsyncKind : std::uint8_t {
  disable,
  enable,    ///< in threads of the library's
  io_uring,  ///< in the kernel's queue where the system allows it, else in threads
};

inline constexpr std::array kAsyncKinds = {AsyncKind::disable, AsyncKind::enable,
                                           AsyncKind::io_uring};

inline const char* name(AsyncKind kind) {
  constexpr std::array names = {"disable", "enable", "io_uring"};
  return names.at(static_cast<std::size_t>(kind));
}

}  // namespace tamis
