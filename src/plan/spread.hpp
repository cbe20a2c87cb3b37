#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "layout/layout.hpp"

namespace tamis {

/// Where in the file how many bytes are wanted, in constant size: bins of a power of two of bytes,
/// at multiples of it, just wide enough that all bytes fall into kBins of them. Spreads of ranks
/// are merged in any order with the same result.
class Spread {
 public:
  static constexpr std::size_t kBins = 32;

  /// Of stream bytes [first, first + n) of an ordered layout. Told bin by bin, not walked.
  static Spread of(const Layout& file, std::int64_t first, std::int64_t n);

  void merge(const Spread& other);

  bool empty() const { return last_ <= first_; }
  std::int64_t total() const;
  /// Bytes wanted before `offset`; within a bin as if they were spread evenly.
  std::int64_t before(std::int64_t offset) const;
  /// Bytes wanted of a realm; within a bin likewise. REQUIRES: it is ordered.
  std::int64_t within(const Layout& realm) const;
  /// The lowest offset before which about `bytes` are wanted. REQUIRES: !empty().
  std::int64_t offset_after(std::int64_t bytes) const;

 private:
  std::int64_t bin_of(std::int64_t offset) const { return offset >> log2_width_; }
  std::size_t bins() const;  ///< in use
  std::int64_t begin_of(std::size_t bin) const;
  std::int64_t end_of(std::size_t bin) const;
  /// Makes bins that hold [first, last), and puts what is there into them.
  void hold(std::int64_t first, std::int64_t last);

  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();  // lowest byte
  std::int64_t last_ = 0;                                          // behind the highest one
  std::int32_t log2_width_ = 0;
  std::array<std::int64_t, kBins> bytes_{};  // from the bin of first_ on
};

}  // namespace tamis
