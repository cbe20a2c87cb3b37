#include "comm/frames.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <new>

namespace tamis {
namespace {

struct alignas(std::max_align_t) ReservedFrame {
  std::byte bytes[kReservedFrameBytes];
};

ReservedFrame reserve[kReservedFrames];
std::atomic<std::uint32_t> taken = 0;  // a bit per frame
static_assert(kReservedFrames == 32);

void* take_reserved() {
  std::uint32_t seen = taken.load();
  for (;;) {
    const int free = std::countr_one(seen);
    if (free == kReservedFrames) throw std::bad_alloc();
    if (taken.compare_exchange_weak(seen, seen | std::uint32_t{1} << free)) return &reserve[free];
  }
}

}  // namespace

void* take_frame(std::size_t bytes) {
  if (void* frame = ::operator new(bytes, std::nothrow); frame != nullptr) [[likely]]
    return frame;
  if (bytes > kReservedFrameBytes) throw std::bad_alloc();
  return take_reserved();
}

void give_frame_back(void* frame) noexcept {
  const auto* one = static_cast<const ReservedFrame*>(frame);
  const std::less<const ReservedFrame*> before;
  if (before(one, reserve) || !before(one, reserve + kReservedFrames)) [[likely]] {
    ::operator delete(frame);
    return;
  }
  taken.fetch_and(~(std::uint32_t{1} << (one - reserve)));
}

}  // namespace tamis
