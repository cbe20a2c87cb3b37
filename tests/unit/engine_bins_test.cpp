#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "engine/bins.hpp"

namespace tamis {
namespace {

std::int64_t sum(const Bins& bins) {
  return std::accumulate(bins.sums().begin(), bins.sums().end(), std::int64_t{0});
}

TEST(Bins, keep_their_place_while_all_lies_inside) {
  Bins bins(3);
  bins.add(0, 8, 5);
  bins.add(504, 512, 7);
  EXPECT_EQ(bins.width(), 8);
  EXPECT_EQ(bins.sums()[0], 5);
  EXPECT_EQ(bins.sums()[63], 7);
}

TEST(Bins, join_neighbours_where_something_lies_beyond) {
  Bins bins(3);
  bins.add(0, 8, 1);
  bins.add(8, 16, 2);
  bins.add(16, 24, 4);
  bins.add(512, 513, 8);
  EXPECT_EQ(bins.width(), 16);
  EXPECT_EQ(bins.sums()[0], 3);
  EXPECT_EQ(bins.sums()[1], 4);
  EXPECT_EQ(bins.sums()[32], 8);
}

TEST(Bins, reach_the_last_offset_there_is) {
  Bins bins;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  bins.add(kEnd - 1, kEnd, 3);
  EXPECT_EQ(sum(bins), 3);
}

RC_GTEST_PROP(Bins, spread_evenly_and_lose_nothing, ()) {
  Bins bins;
  std::map<std::int64_t, double> oracle;  // per byte
  std::int64_t all = 0;
  const int adds = *rc::gen::inRange(1, 12);
  for (int i = 0; i < adds; ++i) {
    const std::int64_t first = *rc::gen::inRange(0, 500);
    const std::int64_t length = *rc::gen::inRange(1, 300);
    const std::int64_t amount = *rc::gen::inRange(0, 1000);
    bins.add(first, first + length, amount);
    for (std::int64_t at = first; at < first + length; ++at)
      oracle[at] += static_cast<double>(amount) / static_cast<double>(length);
    all += amount;
  }
  RC_ASSERT(sum(bins) == all);
  for (std::size_t bin = 0; bin < Bins::kCount; ++bin) {
    const std::int64_t begin = static_cast<std::int64_t>(bin) * bins.width();
    double expected = 0;
    for (auto at = oracle.lower_bound(begin); at != oracle.lower_bound(begin + bins.width()); ++at)
      expected += at->second;
    RC_ASSERT(std::abs(static_cast<double>(bins.sums()[bin]) - expected) <=
              static_cast<double>(adds) * 2);
  }
}

}  // namespace
}  // namespace tamis
