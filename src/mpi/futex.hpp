#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tamis {

/// Sleeps until the word, which may lie in memory shared with other processes, is woken or the time
/// is over; not at all where it no longer holds `expected`. May also return for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::chrono::nanoseconds at_most);

/// Wakes every process that sleeps on the word.
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace tamis
