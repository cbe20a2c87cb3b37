#pragma once

#include <algorithm>
#include <cstdint>

namespace tamis {

/// A half-open range of bytes: [offset, offset + length).
struct Extent {
  std::int64_t offset = 0;
  std::int64_t length = 0;

  std::int64_t end() const { return offset + length; }
  bool empty() const { return length <= 0; }
  bool contains(std::int64_t byte) const { return byte >= offset && byte < end(); }
  bool operator==(const Extent&) const = default;
};

/// The bytes in both; empty (length 0) where there are none.
inline Extent intersect(const Extent& a, const Extent& b) {
  const std::int64_t begin = std::max(a.offset, b.offset);
  return {begin, std::max<std::int64_t>(0, std::min(a.end(), b.end()) - begin)};
}

inline Extent between(std::int64_t begin, std::int64_t end) { return {begin, end - begin}; }

/// `count` equal blocks, `stride` bytes from start to start: what a cursor yields.
/// count >= 1, block >= 1; stride means nothing where count is 1.
struct Run {
  std::int64_t offset = 0;
  std::int64_t block = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;

  std::int64_t bytes() const { return block * count; }
  bool operator==(const Run&) const = default;
};

}  // namespace tamis
