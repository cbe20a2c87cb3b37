#pragma once

#include <cstdint>

// What each simulated rank takes from operator new: counted by the program's own, which knows who
// acts.
namespace tamis::scale {

/// Counts for ranks 0 .. ranks - 1 from now on.
void count_memory(int ranks);
/// Bytes a rank holds now, and the most it held since count_memory or forget_peaks.
std::int64_t held(int rank);
std::int64_t most_held(int rank);
void forget_peaks();

}  // namespace tamis::scale
