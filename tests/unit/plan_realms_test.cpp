#include <gtest/gtest.h>

#include <limits>

#include "layout/cursor.hpp"
#include "plan/realms.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;

struct Cut {
  Extent region;
  int count = 1;
  std::int64_t alignment = 1;
  std::int64_t least = 0;
  std::int64_t window = 1;
};

Cut random_cut(std::mt19937_64& rng) {
  return {.region = {draw(rng, 0, 500), draw(rng, 1, 700)},
          .count = static_cast<int>(draw(rng, 1, 12)),
          .alignment = draw(rng, 1, 3) == 1 ? 1 : draw(rng, 2, 200),
          .least = draw(rng, 1, 3) == 1 ? draw(rng, 0, 400) : 0,
          .window = draw(rng, 1, 100)};
}

/// What some ranks want of a region, its ends among it.
Spread random_wishes(std::mt19937_64& rng, const Extent& region) {
  Spread wanted = Spread::of(Layout::contiguous(region.length, region.offset), 0, 1);
  wanted.merge(Spread::of(Layout::contiguous(1, region.end() - 1), 0, 1));
  for (int rank = 0; rank < 4; ++rank) {
    const std::int64_t first = draw(rng, 0, region.length - 1);
    const std::int64_t bytes = draw(rng, 1, region.length - first);
    wanted.merge(Spread::of(Layout::contiguous(region.length, region.offset), first, bytes));
  }
  return wanted;
}

FileRealms realms_of(RealmKind kind, const Cut& cut, std::mt19937_64& rng) {
  if (kind == RealmKind::even)
    return FileRealms::even(cut.region, cut.count, cut.alignment, cut.least);
  if (kind == RealmKind::balanced)
    return FileRealms::balanced(cut.region, cut.count, cut.alignment,
                                random_wishes(rng, cut.region));
  return FileRealms::cyclic(cut.region, cut.count, cut.alignment, kind);
}

/// How often windows of a realm hold each byte of the file.
void count_bytes(const FileRealms& realms, int index, std::int64_t window_bytes,
                 std::vector<int>& owners) {
  const Layout layout = realms.layout(index);
  std::int64_t next = realms.in_region(index).first;
  for (std::int64_t round = 0; round < realms.rounds(window_bytes) + 2; ++round) {
    const Window window = realms.window(index, round, window_bytes);
    ASSERT_EQ(window.empty(), round >= realms.windows(index, window_bytes));
    if (window.empty()) continue;
    ASSERT_EQ(window.first, next);
    ASSERT_LE(window.bytes, window_bytes);
    ASSERT_EQ(window.first / window_bytes, (window.end() - 1) / window_bytes);
    next = window.end();
    Blocks blocks(layout, window.first, window.bytes);
    for (Extent block; blocks.next(block);)
      for (std::int64_t byte = block.offset; byte < block.end(); ++byte)
        owners.at(static_cast<std::size_t>(byte)) += 1;
  }
  ASSERT_EQ(next, realms.in_region(index).end());
}

TEST(FileRealms, of_any_kind_give_every_byte_one_owner_and_one_window) {
  oracle::for_seeds(3000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Cut cut = random_cut(rng);
    for (const RealmKind kind : kRealmKinds) {
      const FileRealms realms = realms_of(kind, cut, rng);
      ASSERT_EQ(realms.kind(), kind);
      ASSERT_LE(realms.count(), cut.count);
      std::vector<int> owners(static_cast<std::size_t>(cut.region.end()));
      for (int index = 0; index < realms.count(); ++index)
        count_bytes(realms, index, cut.window, owners);
      for (std::int64_t byte = 0; byte < cut.region.end(); ++byte)
        ASSERT_EQ(owners[static_cast<std::size_t>(byte)], cut.region.contains(byte) ? 1 : 0)
            << name(kind) << ", byte " << byte;
    }
  });
}

TEST(FileRealms, count_the_windows_of_the_longest_realm_and_of_all) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Cut cut = random_cut(rng);
    for (const RealmKind kind : kRealmKinds) {
      const FileRealms realms = realms_of(kind, cut, rng);
      std::int64_t most = 0;
      std::int64_t sum = 0;
      for (int i = 0; i < realms.count(); ++i) {
        most = std::max(most, realms.windows(i, cut.window));
        sum += realms.windows(i, cut.window);
      }
      EXPECT_EQ(realms.rounds(cut.window), most) << name(kind);
      EXPECT_EQ(realms.total_windows(cut.window), sum) << name(kind);
    }
  });
}

TEST(FileRealms, end_at_multiples_of_the_alignment) {
  oracle::for_seeds(500, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Cut cut = random_cut(rng);
    for (const RealmKind kind : {RealmKind::even, RealmKind::balanced}) {
      const FileRealms realms = realms_of(kind, cut, rng);
      for (int index = 0; index + 1 < realms.count(); ++index) {
        const Extent span = realms.span(index);
        if (span.empty() || span.end() == cut.region.end()) continue;
        ASSERT_EQ(span.end() % cut.alignment, 0) << name(kind);
      }
    }
  });
}

TEST(FileRealms, that_are_even_are_no_smaller_than_asked_but_for_the_ends) {
  const FileRealms realms = FileRealms::even({0, 1000}, 10, 1, 300);
  EXPECT_EQ(realms.count(), 4);
  EXPECT_EQ(realms.span(0), (Extent{0, 300}));
  EXPECT_EQ(realms.span(3), (Extent{900, 100}));
}

TEST(FileRealms, that_are_balanced_share_out_what_is_wanted) {
  // Nearly all is wanted of the first hundredth.
  Spread wanted = Spread::of(Layout::contiguous(10'000), 0, 10'000);
  wanted.merge(Spread::of(Layout::contiguous(1, 999'999), 0, 1));
  const Extent region{0, 1'000'000};
  const FileRealms even = FileRealms::even(region, 4, 1, 0);
  EXPECT_EQ(wanted.before(even.span(0).end()), 10'000);
  const FileRealms realms = FileRealms::balanced(region, 4, 1, wanted);
  for (int index = 0; index < 4; ++index) {
    const Extent span = realms.span(index);
    EXPECT_NEAR(static_cast<double>(wanted.before(span.end()) - wanted.before(span.offset)), 2500,
                2);
  }
}

TEST(FileRealms, that_are_cyclic_have_every_nth_block) {
  const FileRealms realms = FileRealms::cyclic({150, 400}, 2, 100);
  EXPECT_EQ(realms.layout(1).offset_of(0), 100);
  EXPECT_EQ(realms.layout(1).offset_of(100), 300);
  EXPECT_EQ(realms.in_region(1), (Window{50, 150 + 50}));  // 150 to 199, 300 to 399, 500 to 549
  EXPECT_EQ(realms.in_region(0), (Window{100, 200}));      // 200 to 299, 400 to 499
  EXPECT_EQ(realms.window(0, 0, 80), (Window{100, 60}));   // up to the grid
}

TEST(FileRealms, stay_within_64_bits_at_the_highest_offsets) {
  constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();
  const FileRealms realms = FileRealms::even({kTop - 10000, 10000}, 3, 4096, 0);
  std::int64_t next = kTop - 10000;
  for (int index = 0; index < realms.count(); ++index) {
    const Layout layout = realms.layout(index);
    for (std::int64_t round = 0; round < realms.windows(index, 1000); ++round) {
      const Window window = realms.window(index, round, 1000);
      ASSERT_EQ(layout.offset_of(window.first), next);
      next += window.bytes;
    }
  }
  EXPECT_EQ(next, kTop);
}

}  // namespace
}  // namespace tamis
