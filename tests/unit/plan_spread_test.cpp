#include <gtest/gtest.h>

#include <algorithm>

#include "plan/spread.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;

bool equal(const Spread& a, const Spread& b, std::int64_t upto) {
  for (std::int64_t offset = 0; offset <= upto; ++offset)
    if (a.before(offset) != b.before(offset)) return false;
  return a.total() == b.total();
}

TEST(Spread, of_a_layout_has_all_its_bytes_and_is_exact_where_bins_are_bytes) {
  oracle::for_seeds(2000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const oracle::TwinLayout twin = oracle::random_layout(rng, 100, oracle::Kind::ordered);
    if (twin.bytes.empty() || !twin.layout.is_ordered() || twin.bytes.front() < 0) return;
    const auto size = static_cast<std::int64_t>(twin.bytes.size());
    const std::int64_t first = draw(rng, 0, size - 1);
    const std::int64_t n = draw(rng, 1, size - first);
    const Spread spread = Spread::of(twin.layout, first, n);
    ASSERT_EQ(spread.total(), n);
    const std::int64_t begin = twin.bytes[static_cast<std::size_t>(first)];
    const std::int64_t end = twin.bytes[static_cast<std::size_t>(first + n - 1)] + 1;
    ASSERT_EQ(spread.before(begin), 0);
    ASSERT_EQ(spread.before(end), n);
    if (end - begin > 16) return;
    for (std::int64_t offset = begin; offset <= end; ++offset) {
      const auto wanted = std::count_if(twin.bytes.begin() + first, twin.bytes.begin() + first + n,
                                        [&](std::int64_t byte) { return byte < offset; });
      ASSERT_EQ(spread.before(offset), wanted);
    }
  });
}

TEST(Spread, of_ranks_is_the_same_in_whatever_order_they_are_merged) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<Spread> ranks;
    for (int rank = 0; rank < 6; ++rank) {
      const std::int64_t begin = draw(rng, 0, draw(rng, 0, 1) == 0 ? 100 : 3000);
      const std::int64_t bytes = draw(rng, 0, 400);
      ranks.push_back(Spread::of(Layout::contiguous(bytes, begin), 0, bytes));
    }
    const auto merged = [](const std::vector<Spread>& all) {
      Spread sum;
      for (const Spread& one : all) sum.merge(one);
      return sum;
    };
    const Spread one_way = merged(ranks);
    std::shuffle(ranks.begin(), ranks.end(), rng);
    Spread halves = merged({ranks.begin(), ranks.begin() + 3});
    halves.merge(merged({ranks.begin() + 3, ranks.end()}));
    ASSERT_TRUE(equal(one_way, merged(ranks), 3500));
    ASSERT_TRUE(equal(one_way, halves, 3500));
  });
}

TEST(Spread, finds_the_offset_before_which_so_much_is_wanted) {
  Spread wanted = Spread::of(Layout::contiguous(100, 1000), 0, 100);
  wanted.merge(Spread::of(Layout::contiguous(100, 5000), 0, 100));
  for (const std::int64_t bytes : {0, 1, 50, 100, 101, 150, 200}) {
    const std::int64_t offset = wanted.offset_after(bytes);
    EXPECT_NEAR(static_cast<double>(wanted.before(offset)), static_cast<double>(bytes), 1);
  }
}

TEST(Spread, tells_how_much_a_realm_has_exactly_where_bins_are_bytes) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const std::int64_t begin = draw(rng, 0, 100);
    const std::int64_t bytes = draw(rng, 1, 16);
    const Spread spread = Spread::of(Layout::contiguous(bytes, begin), 0, bytes);
    const std::int64_t block = draw(rng, 1, 20);
    const std::int64_t turn = block + draw(rng, 0, 20);
    const Layout realm{*Dataloop::resized(0, turn, Dataloop::bytes(block)), draw(rng, 0, 60),
                       draw(rng, 0, 1) == 0 ? Layout::kEndless : draw(rng, 1, 4)};
    std::int64_t expected = 0;
    for (std::int64_t byte = begin; byte < begin + bytes; ++byte)
      expected += realm.position_of(byte + 1) - realm.position_of(byte);
    ASSERT_EQ(spread.within(realm), expected);
  });
}

TEST(Spread, gives_realms_that_tile_the_file_all_its_bytes) {
  const Spread spread =
      Spread::of({*Dataloop::resized(0, 4096, Dataloop::bytes(512)), 777, 1000}, 0, 512000);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 3; ++i)
    sum += spread.within(
        {*Dataloop::resized(0, 3 << 16, Dataloop::bytes(1 << 16)), i << 16, Layout::kEndless});
  EXPECT_NEAR(static_cast<double>(sum), 512000, 3 * 32);
}

}  // namespace
}  // namespace tamis
