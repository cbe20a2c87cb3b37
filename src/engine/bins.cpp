#include "engine/bins.hpp"

#include <algorithm>

namespace tamis {

void Bins::widen(std::int64_t width) {
  while (this->width() < width) {
    for (std::size_t i = 0; i < kCount; ++i)
      sums_[i] = 2 * i < kCount ? sums_[2 * i] + sums_[2 * i + 1] : 0;
    ++log2_width_;
  }
}

void Bins::add(std::int64_t first, std::int64_t last, std::int64_t amount) {
  constexpr auto kBins = static_cast<std::int64_t>(kCount);
  while ((last - 1) >> log2_width_ >= kBins) widen(2 * width());
  const std::int64_t first_bin = first >> log2_width_;
  const std::int64_t last_bin = (last - 1) >> log2_width_;
  if (first_bin == last_bin) {
    sums_[static_cast<std::size_t>(first_bin)] += amount;
    return;
  }
  const auto length = static_cast<double>(last - first);
  // Each bin gets what lies before its end less what was given already, so nothing is lost.
  std::int64_t given = 0;
  for (std::int64_t bin = first_bin; bin <= last_bin; ++bin) {
    const std::int64_t upto = bin == last_bin ? last : (bin + 1) << log2_width_;
    const double share = static_cast<double>(upto - first) / length;
    const auto part =
        upto == last
            ? amount
            : std::min(amount, static_cast<std::int64_t>(share * static_cast<double>(amount)));
    sums_[static_cast<std::size_t>(bin)] += part - given;
    given = part;
  }
}

}  // namespace tamis
