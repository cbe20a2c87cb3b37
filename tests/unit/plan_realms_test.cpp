#include <gtest/gtest.h>

#include <limits>

#include "plan/realms.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

struct Cut {
  Extent region;
  int count = 1;
  std::int64_t alignment = 1;
  std::int64_t least = 0;
  std::int64_t window = 1;
};

Cut random_cut(std::mt19937_64& rng) {
  return {.region = {oracle::draw(rng, 0, 500), oracle::draw(rng, 1, 700)},
          .count = static_cast<int>(oracle::draw(rng, 1, 12)),
          .alignment = oracle::draw(rng, 1, 3) == 1 ? 1 : oracle::draw(rng, 2, 200),
          .least = oracle::draw(rng, 1, 3) == 1 ? oracle::draw(rng, 0, 400) : 0,
          .window = oracle::draw(rng, 1, 100)};
}

/// How often each byte of the region is met, and where windows end.
void expect_a_partition(const Cut& cut) {
  const FileRealms realms = FileRealms::even(cut.region, cut.count, cut.alignment, cut.least);
  ASSERT_LE(realms.count(), cut.count);
  std::int64_t next = cut.region.offset;  // realms and their windows follow each other
  for (int index = 0; index < realms.count(); ++index) {
    const Extent realm = realms.realm(index);
    ASSERT_EQ(realm.offset, next);
    ASSERT_LE(realms.windows(index, cut.window), realms.rounds(cut.window));
    for (std::int64_t round = 0; round < realms.rounds(cut.window); ++round) {
      const Extent window = realms.window(index, round, cut.window);
      ASSERT_EQ(window.empty(), round >= realms.windows(index, cut.window));
      if (window.empty()) continue;
      ASSERT_EQ(window.offset, next);
      ASSERT_LE(window.length, cut.window);
      next = window.end();
    }
    ASSERT_EQ(realm.end(), next);
    if (index + 1 < realms.count()) {
      ASSERT_EQ(realm.end() % cut.alignment, 0);
    }
  }
  ASSERT_EQ(next, cut.region.end());
}

TEST(FileRealms, give_every_byte_one_owner_and_one_window) {
  oracle::for_seeds(3000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    expect_a_partition(random_cut(rng));
  });
}

TEST(FileRealms, count_the_windows_of_the_longest_realm_and_of_all) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Cut cut = random_cut(rng);
    const FileRealms realms = FileRealms::even(cut.region, cut.count, cut.alignment, cut.least);
    std::int64_t most = 0;
    std::int64_t sum = 0;
    for (int i = 0; i < realms.count(); ++i) {
      most = std::max(most, realms.windows(i, cut.window));
      sum += realms.windows(i, cut.window);
    }
    EXPECT_EQ(realms.rounds(cut.window), most);
    EXPECT_EQ(realms.total_windows(cut.window), sum);
  });
}

TEST(FileRealms, are_no_smaller_than_asked_but_for_the_ends) {
  const FileRealms realms = FileRealms::even({0, 1000}, 10, 1, 300);
  EXPECT_EQ(realms.count(), 4);
  EXPECT_EQ(realms.realm(0), (Extent{0, 300}));
  EXPECT_EQ(realms.realm(3), (Extent{900, 100}));
}

TEST(FileRealms, stay_within_64_bits_at_the_highest_offsets) {
  constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();
  const FileRealms realms = FileRealms::even({kTop - 10000, 10000}, 3, 4096, 0);
  std::int64_t next = kTop - 10000;
  for (int index = 0; index < realms.count(); ++index) {
    for (std::int64_t round = 0; round < realms.windows(index, 1000); ++round) {
      const Extent window = realms.window(index, round, 1000);
      ASSERT_EQ(window.offset, next);
      next += window.length;
    }
  }
  EXPECT_EQ(next, kTop);
}

}  // namespace
}  // namespace tamis
