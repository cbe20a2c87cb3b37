#pragma once

#include <cstdint>

#include "layout/extent.hpp"

namespace tamis {

/// Which aggregator owns which bytes: the access region cut into equal realms, one per aggregator,
/// whose borders are multiples of the alignment (Thakur, Gropp, Lusk 1999, section 4.1).
class FileRealms {
 public:
  FileRealms() = default;
  /// REQUIRES: !region.empty(), count >= 1, alignment >= 1.
  static FileRealms even(const Extent& region, int count, std::int64_t alignment,
                         std::int64_t least_bytes);

  int count() const { return count_; }
  /// Realm `index`, clipped to the region; never empty. REQUIRES: 0 <= index < count().
  Extent realm(int index) const;

  // Windows of a realm lie on a grid of `window_bytes` from the realm's aligned begin; the first
  // and the last may be shorter.

  /// Windows the longest realm needs.
  std::int64_t rounds(std::int64_t window_bytes) const;
  /// Windows of all realms together.
  std::int64_t total_windows(std::int64_t window_bytes) const;
  /// Windows of one realm; those with numbers beyond are empty.
  std::int64_t windows(int index, std::int64_t window_bytes) const;
  Extent window(int index, std::int64_t round, std::int64_t window_bytes) const;

 private:
  std::int64_t grid_begin(int index, std::int64_t window_bytes) const;

  Extent region_;
  std::int64_t origin_ = 0;  ///< region's begin, rounded down to the alignment
  std::int64_t realm_bytes_ = 1;
  int count_ = 0;
};

}  // namespace tamis
