#pragma once

#include <cstdint>
#include <limits>

#include "layout/cursor.hpp"
#include "layout/extent.hpp"

namespace tamis {

/// Says whether pieces contributed by many ranks tile an extent exactly, without listing them.
///
/// The pieces cover every byte of [a, b) exactly once if and only if the multiset
/// {starts} + {b} equals the multiset {ends} + {a}. Each side is summed up as a sum of mixed
/// 64-bit hashes, so contributions of ranks are added in any order, in constant memory.
/// Errors are one-sided but for a chance of 2^-64: overlapping pieces are reported as not tiled.
struct Coverage {
  std::int64_t bytes = 0;
  std::uint64_t balance = 0;                                      ///< sum of h(start) - h(end)
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  ///< lowest offset seen
  std::int64_t last = std::numeric_limits<std::int64_t>::min();   ///< highest end seen

  void add(const Run& run);
  void add(const Coverage& other);
  /// The pieces added are a tiling of `extent`.
  bool tiles(const Extent& extent) const;
};

/// Coverage of the stream bytes [cursor.position(), + n); advances the cursor past them.
Coverage cover(Cursor& cursor, std::int64_t n);

}  // namespace tamis
