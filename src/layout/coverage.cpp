#include "layout/coverage.hpp"

#include <algorithm>

namespace tamis {
namespace {

/// The finaliser of splitmix64: a bijection that spreads regular offsets over all 64 bits.
std::uint64_t mixed(std::int64_t offset) {
  std::uint64_t x = static_cast<std::uint64_t>(offset) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

void Coverage::add(const Run& run) {
  const std::int64_t last_start =
      run.count > 1 ? run.offset + (run.count - 1) * run.stride : run.offset;
  first = std::min({first, run.offset, last_start});
  last = std::max({last, run.offset + run.block, last_start + run.block});
  bytes += run.bytes();
  if (run.count == 1 || run.stride == run.block) {  // touching blocks cancel
    balance += mixed(run.offset) - mixed(last_start + run.block);
    return;
  }
  std::uint64_t sum = 0;
  std::int64_t start = run.offset;
  for (std::int64_t i = 0; i < run.count; ++i, start += run.stride)
    sum += mixed(start) - mixed(start + run.block);
  balance += sum;
}

void Coverage::add(const Coverage& other) {
  bytes += other.bytes;
  balance += other.balance;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

bool Coverage::tiles(const Extent& extent) const {
  if (bytes != std::max<std::int64_t>(extent.length, 0)) return false;
  if (bytes == 0) return true;
  return first == extent.offset && last == extent.end() &&
         balance == mixed(extent.offset) - mixed(extent.end());
}

Coverage cover(Cursor& cursor, std::int64_t n) {
  Coverage coverage;
  while (n > 0) {
    const Run run = cursor.next(n);
    coverage.add(run);
    n -= run.bytes();
  }
  return coverage;
}

}  // namespace tamis
