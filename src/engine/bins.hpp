#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tamis {

/// A histogram over [0, whatever comes) in constant memory: where something lies beyond the last
/// bin, the bins double their width and neighbours are joined.
class Bins {
 public:
  static constexpr std::size_t kCount = 64;

  /// Bins of 2^log2_width to begin with.
  explicit Bins(int log2_width = 0) : log2_width_(log2_width) {}

  std::int64_t width() const { return std::int64_t{1} << log2_width_; }
  std::span<const std::int64_t, kCount> sums() const { return sums_; }

  /// Spreads `amount` evenly over [first, last). REQUIRES: 0 <= first < last.
  void add(std::int64_t first, std::int64_t last, std::int64_t amount);
  /// Joins bins until their width is at least this.
  void widen(std::int64_t width);

 private:
  int log2_width_;
  std::array<std::int64_t, kCount> sums_{};
};

}  // namespace tamis
