#include "plan/realms.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace tamis {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

FileRealms FileRealms::even(const Extent& region, int count, std::int64_t alignment,
                            std::int64_t least_bytes) {
  FileRealms realms;
  realms.region_ = region;
  realms.origin_ = region.offset / alignment * alignment;
  const std::int64_t share = divide_up(region.end() - realms.origin_, count);
  const std::int64_t wanted = std::max(share, least_bytes);
  const auto aligned = checked_mul(divide_up(wanted, alignment), alignment);
  realms.realm_bytes_ = aligned.value_or(std::numeric_limits<std::int64_t>::max());
  realms.count_ = static_cast<int>(divide_up(region.end() - realms.origin_, realms.realm_bytes_));
  return realms;
}

Extent FileRealms::realm(int index) const {
  const std::int64_t begin = origin_ + index * realm_bytes_;
  const std::int64_t end = begin + std::min(realm_bytes_, region_.end() - begin);
  return between(std::max(begin, region_.offset), end);
}

std::int64_t FileRealms::grid_begin(int index, std::int64_t window_bytes) const {
  const std::int64_t begin = origin_ + index * realm_bytes_;
  return begin + (realm(index).offset - begin) / window_bytes * window_bytes;
}

std::int64_t FileRealms::windows(int index, std::int64_t window_bytes) const {
  const Extent own = realm(index);
  return own.empty() ? 0 : divide_up(own.end() - grid_begin(index, window_bytes), window_bytes);
}

std::int64_t FileRealms::rounds(std::int64_t window_bytes) const {
  // The first realm may be clipped, and the last one; the second is whole or the last.
  std::int64_t most = 0;
  for (int index = 0; index < std::min(count_, 2); ++index)
    most = std::max(most, windows(index, window_bytes));
  return most;
}

std::int64_t FileRealms::total_windows(std::int64_t window_bytes) const {
  // All realms but the first and the last are alike.
  if (count_ <= 1) return count_ == 0 ? 0 : windows(0, window_bytes);
  return windows(0, window_bytes) + windows(count_ - 1, window_bytes) +
         (count_ - 2) * windows(1, window_bytes);
}

Extent FileRealms::window(int index, std::int64_t round, std::int64_t window_bytes) const {
  const Extent own = realm(index);
  const std::int64_t grid = grid_begin(index, window_bytes);
  if (round * window_bytes >= own.end() - grid) return {own.end(), 0};
  const std::int64_t begin = grid + round * window_bytes;
  const std::int64_t end = begin + std::min(window_bytes, own.end() - begin);
  return between(std::max(begin, own.offset), end);
}

}  // namespace tamis
