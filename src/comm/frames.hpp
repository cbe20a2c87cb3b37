#pragma once

#include <cstddef>

namespace tamis {

// Memory for the frames of tasks. Where the system has none left a small reserve of this process
// steps in: a rank that is out of memory must still be able to tell the others, and that is done by
// tasks. The reserve is enough for a few operations at once, in different threads.

inline constexpr std::size_t kReservedFrameBytes = 8192;  ///< the largest frame it can hold
inline constexpr int kReservedFrames = 32;

/// Throws std::bad_alloc only where the reserve is used up or too small as well.
void* take_frame(std::size_t bytes);
void give_frame_back(void* frame) noexcept;

}  // namespace tamis
