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
  realms.alignment_ = alignment;
  realms.origin_ = region.offset / alignment * alignment;
  const std::int64_t share = divide_up(region.end() - realms.origin_, count);
  const std::int64_t wanted = std::max(share, least_bytes);
  const auto aligned = checked_mul(divide_up(wanted, alignment), alignment);
  realms.block_ = aligned.value_or(std::numeric_limits<std::int64_t>::max());
  realms.count_ = static_cast<int>(divide_up(region.end() - realms.origin_, realms.block_));
  return realms;
}

FileRealms FileRealms::balanced(const Extent& region, int count, std::int64_t alignment,
                                const Spread& wanted) {
  FileRealms realms;
  realms.kind_ = RealmKind::balanced;
  realms.region_ = region;
  realms.alignment_ = alignment;
  realms.wanted_ = wanted;
  realms.count_ = count;
  for (int i = 0; i < count; ++i)
    realms.block_ = std::max(realms.block_, realms.border(i + 1) - realms.border(i));
  return realms;
}

FileRealms FileRealms::cyclic(const Extent& region, int count, std::int64_t block, RealmKind kind) {
  FileRealms realms;
  realms.kind_ = kind;
  realms.region_ = region;
  realms.count_ = count;
  // So that all blocks of a turn stay within 64 bits.
  realms.block_ = std::min(block, std::numeric_limits<std::int64_t>::max() / count);
  return realms;
}

FileRealms FileRealms::given(const Extent& region, std::span<const Layout> layouts) {
  FileRealms realms;
  realms.kind_ = RealmKind::given;
  realms.region_ = region;
  realms.given_ = layouts;
  realms.count_ = static_cast<int>(layouts.size());
  for (const Layout& layout : layouts) realms.block_ = std::max(realms.block_, layout.loop.size());
  return realms;
}

/// Where balanced realm `index` begins, and the one before it ends.
std::int64_t FileRealms::border(int index) const {
  if (index <= 0) return region_.offset;
  if (index >= count_) return region_.end();
  const auto share = static_cast<__int128>(wanted_.total()) * index / count_;
  const std::int64_t offset = wanted_.offset_after(static_cast<std::int64_t>(share));
  return std::clamp(offset / alignment_ * alignment_, region_.offset, region_.end());
}

std::int64_t FileRealms::begin_of(int index) const {
  return kind_ == RealmKind::balanced ? border(index) : origin_ + index * block_;
}

Layout FileRealms::layout(int index) const {
  if (kind_ == RealmKind::given) return given_[static_cast<std::size_t>(index)];
  const std::int64_t begin = begin_of(index);
  if (kind_ == RealmKind::cyclic || kind_ == RealmKind::persistent) {
    const Result<Dataloop> turn = Dataloop::resized(0, block_ * count_, Dataloop::bytes(block_));
    return {*turn, begin, Layout::kEndless};
  }
  const std::int64_t end = kind_ == RealmKind::balanced
                               ? border(index + 1)
                               : begin + std::min(block_, region_.end() - begin);
  return Layout::contiguous(end - begin, begin);
}

Window FileRealms::in_region(int index) const {
  const Layout realm = layout(index);
  if (realm.size() == 0) return {};
  const std::int64_t first = realm.position_of(region_.offset);
  return {first, realm.position_of(region_.end()) - first};
}

Extent FileRealms::span(int index) const {
  const Window all = in_region(index);
  return all.empty() ? Extent{region_.offset, 0} : layout(index).span_of(all.first, all.bytes);
}

std::int64_t FileRealms::windows(int index, std::int64_t window_bytes) const {
  const Window all = in_region(index);
  if (all.empty()) return 0;
  return divide_up(all.end() - all.first / window_bytes * window_bytes, window_bytes);
}

std::int64_t FileRealms::rounds(std::int64_t window_bytes) const {
  // The first even realm may be clipped, and the last one; the second is whole or the last.
  const int different = kind_ == RealmKind::even ? std::min(count_, 2) : count_;
  std::int64_t most = 0;
  for (int index = 0; index < different; ++index)
    most = std::max(most, windows(index, window_bytes));
  return most;
}

std::int64_t FileRealms::total_windows(std::int64_t window_bytes) const {
  // All even realms but the first and the last are alike.
  const bool alike = kind_ == RealmKind::even && count_ > 3;
  std::int64_t sum = 0;
  for (int index = 0; index < (alike ? 2 : count_); ++index) {
    const std::int64_t times = alike && index == 1 ? count_ - 2 : 1;
    sum += times * windows(index, window_bytes);
  }
  return alike ? sum + windows(count_ - 1, window_bytes) : sum;
}

Window FileRealms::window(int index, std::int64_t round, std::int64_t window_bytes) const {
  const Window all = in_region(index);
  if (all.empty()) return {};
  const std::int64_t grid = all.first / window_bytes * window_bytes;
  if (round > (all.end() - 1 - grid) / window_bytes) return {all.end(), 0};
  const std::int64_t begin = grid + round * window_bytes;
  const std::int64_t end = begin + std::min(window_bytes, all.end() - begin);
  const std::int64_t first = std::max(begin, all.first);
  return {first, end - first};
}

}  // namespace tamis
