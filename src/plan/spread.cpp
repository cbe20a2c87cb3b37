#include "plan/spread.hpp"

#include <algorithm>
#include <numeric>

namespace tamis {

Spread Spread::of(const Layout& file, std::int64_t first, std::int64_t n) {
  Spread spread;
  if (n <= 0) return spread;
  const Extent span = file.span_of(first, n);
  spread.hold(span.offset, span.end());
  std::int64_t before = first;
  for (std::size_t bin = 0; bin < spread.bins() && before < first + n; ++bin) {
    const bool last = spread.end_of(bin) >= span.end();
    const std::int64_t upto = last ? first + n : file.position_of(spread.end_of(bin));
    spread.bytes_[bin] = upto - before;
    before = upto;
  }
  return spread;
}

std::size_t Spread::bins() const {
  return empty() ? 0 : static_cast<std::size_t>(bin_of(last_ - 1) - bin_of(first_)) + 1;
}

std::int64_t Spread::begin_of(std::size_t bin) const {
  const std::int64_t begin = (bin_of(first_) + static_cast<std::int64_t>(bin)) << log2_width_;
  return std::max(begin, first_);
}

std::int64_t Spread::end_of(std::size_t bin) const {
  // Bins end within 64 bits, since the one with the last byte begins there.
  const std::int64_t begin = (bin_of(first_) + static_cast<std::int64_t>(bin)) << log2_width_;
  const std::int64_t width = std::int64_t{1} << log2_width_;
  return begin >= last_ - width ? last_ : begin + width;
}

// Widths only grow as ranks are added, and bins are joined whole: the result depends on the bytes
// of all ranks together and not on the order.
void Spread::hold(std::int64_t first, std::int64_t last) {
  const Spread old = *this;
  first_ = std::min(first_, first);
  last_ = std::max(last_, last);
  constexpr auto kLast = static_cast<std::int64_t>(kBins) - 1;
  while (bin_of(last_ - 1) - bin_of(first_) > kLast) ++log2_width_;
  bytes_.fill(0);
  if (old.empty()) return;
  for (std::size_t bin = 0; bin < old.bins(); ++bin) {
    const std::int64_t place = bin_of(old.begin_of(bin)) - bin_of(first_);
    bytes_[static_cast<std::size_t>(place)] += old.bytes_[bin];
  }
}

void Spread::merge(const Spread& other) {
  if (other.empty()) return;
  Spread theirs = other;
  hold(other.first_, other.last_);
  theirs.hold(first_, last_);
  for (std::size_t bin = 0; bin < kBins; ++bin) bytes_[bin] += theirs.bytes_[bin];
}

std::int64_t Spread::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t{0});
}

std::int64_t Spread::before(std::int64_t offset) const {
  std::int64_t sum = 0;
  for (std::size_t bin = 0; bin < bins() && begin_of(bin) < offset; ++bin) {
    const std::int64_t width = end_of(bin) - begin_of(bin);
    const std::int64_t part = std::min(offset, end_of(bin)) - begin_of(bin);
    sum += static_cast<std::int64_t>(static_cast<__int128>(bytes_[bin]) * part / width);
  }
  return sum;
}

std::int64_t Spread::within(const Layout& realm) const {
  if (empty() || realm.size() == 0) return 0;
  const std::int64_t begin = std::max(realm.offset_of(0), first_);
  const std::int64_t end =
      realm.repeat == Layout::kEndless ? last_ : realm.offset_of(realm.size() - 1) + 1;
  const std::int64_t bins_before = bin_of(begin) - bin_of(first_);
  std::int64_t sum = 0;
  for (auto bin = static_cast<std::size_t>(bins_before); bin < bins() && begin_of(bin) < end;
       ++bin) {
    const std::int64_t part = realm.position_of(end_of(bin)) - realm.position_of(begin_of(bin));
    const std::int64_t width = end_of(bin) - begin_of(bin);
    sum += static_cast<std::int64_t>(static_cast<__int128>(bytes_[bin]) * part / width);
  }
  return sum;
}

std::int64_t Spread::offset_after(std::int64_t bytes) const {
  for (std::size_t bin = 0; bin < bins(); ++bin) {
    if (bytes <= bytes_[bin] || bin + 1 == bins()) {
      const std::int64_t width = end_of(bin) - begin_of(bin);
      const std::int64_t all = std::max<std::int64_t>(bytes_[bin], 1);
      const auto part = static_cast<__int128>(width) * std::min(bytes, all) / all;
      return begin_of(bin) + static_cast<std::int64_t>(part);
    }
    bytes -= bytes_[bin];
  }
  return last_;
}

}  // namespace tamis
