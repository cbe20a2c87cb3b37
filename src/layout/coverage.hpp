#pragma once

#include <cstdint>
#include <limits>

#include "layout/extent.hpp"
#include "layout/layout.hpp"
#include "layout/residue.hpp"

namespace tamis {

/// Says whether pieces contributed by many ranks tile an extent exactly, without listing them.
///
/// The pieces cover every byte of [a, b) exactly once if and only if the multiset
/// {starts} + {b} equals the multiset {ends} + {a}. Each side is summed up as a sum of powers
/// g^offset modulo a prime (a fingerprint in the sense of Karp and Rabin), so contributions of
/// ranks are added in any order, in constant memory, and regular pieces are geometric series that
/// need not be walked. Overlapping pieces are reported as not tiled; a hole is taken for none with
/// a chance of about 2^-61.
struct Coverage {
  std::int64_t bytes = 0;
  Residue balance;                                                ///< sum of g^start - g^end
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  ///< lowest offset seen
  std::int64_t last = std::numeric_limits<std::int64_t>::min();   ///< highest end seen

  void add(const Coverage& other);
  /// Whether the pieces tile what the other's pieces tile, where these do not overlap.
  bool operator==(const Coverage&) const = default;
  /// The pieces added are a tiling of `extent`.
  bool tiles(const Extent& extent) const;
};

/// Coverage of the stream bytes [first, first + n). REQUIRES: the layout is ordered.
/// O(depth * log) for regular layouts, plus the entries of lists that are met.
Coverage cover(const Layout& layout, std::int64_t first, std::int64_t n);

}  // namespace tamis
