#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "layout/cursor.hpp"
#include "layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;
using oracle::for_seeds;
using oracle::Kind;
using oracle::TwinLayout;
using oracle::Words;

constexpr int kSeeds = 5'000;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

void append(Words& bytes, const tamis::Run& run) {
  for (std::int64_t i = 0; i < run.bytes(); ++i)
    bytes.push_back(run.offset + i / run.block * run.stride + i % run.block);
}

Words rest_of(Cursor& cursor, std::int64_t limit) {
  Words bytes;
  while (!cursor.at_end()) {
    const tamis::Run run = cursor.next(limit);
    EXPECT_GE(run.block, 1);
    EXPECT_GE(run.count, 1);
    EXPECT_LE(run.bytes(), limit);
    append(bytes, run);
  }
  return bytes;
}

Words tail(const Words& bytes, std::int64_t from) { return {bytes.begin() + from, bytes.end()}; }

TwinLayout layout_from(std::mt19937_64& rng) {
  return oracle::random_layout(rng, 1000, draw(rng, 0, 1) == 0 ? Kind::any : Kind::ordered);
}

TEST(Cursor, starts_anywhere_and_goes_on_to_the_end) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    ASSERT_EQ(layout.size(), static_cast<std::int64_t>(bytes.size()));
    const std::int64_t start = draw(rng, 0, layout.size());
    Cursor cursor(layout, start);
    ASSERT_EQ(cursor.position(), start);
    ASSERT_EQ(rest_of(cursor, draw(rng, 1, 40)), tail(bytes, start)) << layout.loop.to_string();
    ASSERT_EQ(cursor.position(), layout.size());
  });
}

TEST(Cursor, gives_lists_block_by_block) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    const std::int64_t start = draw(rng, 0, layout.size());
    Cursor cursor(layout, start);
    Words met;
    while (!cursor.at_end()) {
      const std::int64_t limit = draw(rng, 1, 40);
      const std::int64_t before = cursor.position();
      if (cursor.in_list()) {
        std::array<Extent, 5> blocks;
        const std::size_t most = static_cast<std::size_t>(draw(rng, 1, 5));
        const std::size_t n = cursor.next_blocks(std::span(blocks).first(most), limit);
        ASSERT_GE(n, 1U);
        ASSERT_LE(n, most);
        for (const Extent& block : std::span(blocks).first(n))
          append(met, {block.offset, block.length});
      } else {
        append(met, cursor.next(limit));
      }
      ASSERT_GT(cursor.position(), before);
      ASSERT_LE(cursor.position() - before, limit);
    }
    ASSERT_EQ(met, tail(bytes, start)) << layout.loop.to_string();
  });
}

TEST(Cursor, seeks_back_and_forth) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    Cursor cursor(layout);
    for (int i = 0; i < 4; ++i) {
      const std::int64_t to = draw(rng, 0, layout.size());
      cursor.seek(to);
      ASSERT_EQ(cursor.position(), to);
      if (draw(rng, 0, 1) == 0)
        ASSERT_EQ(rest_of(cursor, kHuge), tail(bytes, to));
      else if (!cursor.at_end())
        (void)cursor.next(draw(rng, 1, 20));
    }
  });
}

TEST(Cursor, seeks_to_any_offset_of_an_ordered_layout) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = oracle::random_layout(rng, 1000, Kind::ordered);
    const bool ordered =
        std::adjacent_find(bytes.begin(), bytes.end(), std::greater_equal<>()) == bytes.end();
    ASSERT_EQ(layout.is_ordered(), ordered) << layout.loop.to_string();
    if (!ordered || bytes.empty()) return;
    const std::int64_t offset = draw(rng, bytes.front() - 5, bytes.back() + 5);
    const auto at = std::lower_bound(bytes.begin(), bytes.end(), offset) - bytes.begin();
    ASSERT_EQ(layout.position_of(offset), at) << layout.loop.to_string();
    Cursor cursor(layout);
    cursor.seek(layout.position_of(offset));
    ASSERT_EQ(cursor.position(), at);
    ASSERT_EQ(rest_of(cursor, kHuge), tail(bytes, at));
  });
}

TEST(Layout, knows_whether_it_is_ordered_and_contiguous) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    const bool ordered =
        std::adjacent_find(bytes.begin(), bytes.end(), std::greater_equal<>()) == bytes.end();
    ASSERT_EQ(layout.is_ordered(), ordered) << layout.loop.to_string();
    const bool contiguous =
        bytes.empty() || (ordered && bytes.back() - bytes.front() + 1 == layout.size());
    ASSERT_TRUE(!layout.is_contiguous() || contiguous);
  });
}

TEST(Layout, finds_offsets_and_spans) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      ASSERT_EQ(layout.offset_of(static_cast<std::int64_t>(i)), bytes[i]);
    if (bytes.empty() || !layout.is_ordered()) return;
    const std::int64_t first = draw(rng, 0, layout.size() - 1);
    const std::int64_t n = draw(rng, 1, layout.size() - first);
    const auto at = static_cast<std::size_t>(first);
    const Extent expected = between(bytes[at], bytes[at + static_cast<std::size_t>(n) - 1] + 1);
    ASSERT_EQ(layout.span_of(first, n), expected);
  });
}

TEST(Layout, counts_the_blocks_of_regular_ranges) {
  const Dataloop row = Dataloop::vector(10, 1, 16, Dataloop::bytes(8)).value();
  const Layout rows{Dataloop::resized(0, 1000, row).value(), 0, Layout::kEndless};
  EXPECT_EQ(rows.blocks_in(0, 80), 10);
  EXPECT_EQ(rows.blocks_in(0, 800'000), 100'000);
  EXPECT_EQ(rows.blocks_in(4, 8), 2);
  EXPECT_EQ(rows.blocks_in(8, 8), 1);
  EXPECT_EQ(Layout::contiguous(Layout::kEndless).blocks_in(5, 1 << 30), 1);
}

TEST(Layout, estimates_at_least_one_block_and_at_most_one_per_byte) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto [layout, bytes] = layout_from(rng);
    if (bytes.empty()) return;
    const std::int64_t first = draw(rng, 0, layout.size() - 1);
    const std::int64_t n = draw(rng, 1, layout.size() - first);
    ASSERT_GE(layout.blocks_in(first, n), 1);
    ASSERT_LE(layout.blocks_in(0, layout.size()), layout.loop.blocks() * layout.repeat);
  });
}

TEST(Cursor, gives_copies_of_a_block_as_one_strided_run) {
  const Layout view{Dataloop::resized(0, 100, Dataloop::bytes(10)).value(), 7, Layout::kEndless};
  Cursor cursor(view, 10);
  EXPECT_EQ(cursor.next(1000), (tamis::Run{107, 10, 100, 100}));
  EXPECT_EQ(cursor.next(15), (tamis::Run{10107, 10, 0, 1}));
  EXPECT_EQ(cursor.next(4), (tamis::Run{10207, 4, 0, 1}));
  EXPECT_EQ(cursor.next(1000), (tamis::Run{10211, 6, 0, 1}));
}

TEST(Cursor, goes_through_copies_of_a_vector_in_one_run) {
  const Dataloop row = Dataloop::vector(10, 1, 16, Dataloop::bytes(8)).value();
  const Layout rows{Dataloop::resized(0, 160, row).value(), 0, Layout::kEndless};
  Cursor cursor(rows, 16);
  EXPECT_EQ(cursor.next(8000), (tamis::Run{32, 8, 16, 1000}));
}

TEST(Cursor, finds_regular_stretches_in_index_lists) {
  const Words offsets{0, 10, 20, 30, 100, 103, 106, 200};
  const Layout layout{Dataloop::blockindexed(1, offsets, Dataloop::bytes(2)).value(), 0, 1};
  Cursor cursor(layout);
  EXPECT_EQ(cursor.next(kHuge), (tamis::Run{0, 2, 10, 4}));
  EXPECT_EQ(cursor.next(kHuge), (tamis::Run{100, 2, 3, 3}));
  EXPECT_EQ(cursor.next(kHuge), (tamis::Run{200, 2, 0, 1}));
  EXPECT_TRUE(cursor.at_end());
}

TEST(Cursor, seeks_in_a_vector_of_a_billion_blocks) {
  const Dataloop loop = Dataloop::vector(1'000'000'000, 1, 16, Dataloop::bytes(8)).value();
  const Layout layout{loop, 0, Layout::kEndless};
  const std::int64_t middle = 4'000'000'004;
  Cursor cursor(layout, middle);
  EXPECT_EQ(cursor.next(8), (tamis::Run{8'000'000'004, 4, 0, 1}));
  cursor.seek(layout.position_of(8'000'000'009));
  EXPECT_EQ(cursor.position(), 4'000'000'008);
  EXPECT_EQ(layout.offset_of(80'000'000'000), 10 * loop.extent());
}

TEST(Layout, without_data_is_empty_whatever_its_copies) {
  for (const Layout& layout : {Layout{}, Layout{Dataloop::bytes(0), 5, Layout::kEndless},
                               Layout{Dataloop::bytes(9), 5, 0}, Layout::contiguous(0)}) {
    EXPECT_EQ(layout.size(), 0);
    EXPECT_TRUE(layout.is_ordered());
    EXPECT_EQ(layout.position_of(100), 0);
    EXPECT_EQ(layout.blocks_in(0, 0), 0);
    EXPECT_TRUE(Cursor(layout).at_end());
  }
}

TEST(Layout, endless_reaches_the_limits_of_64_bits) {
  const Layout all = Layout::contiguous(Layout::kEndless);
  EXPECT_EQ(all.size(), Layout::kEndless);
  EXPECT_EQ(all.offset_of(kHuge - 1), kHuge - 1);
  EXPECT_EQ(all.position_of(kHuge), kHuge);
  Cursor cursor(all, kHuge - 10);
  EXPECT_EQ(cursor.next(kHuge), (tamis::Run{kHuge - 10, 10, 0, 1}));
  EXPECT_TRUE(cursor.at_end());
  const Layout sparse{Dataloop::resized(0, 1 << 20, Dataloop::bytes(1)).value(), 0,
                      Layout::kEndless};
  EXPECT_EQ(sparse.size(), Layout::kEndless);
  EXPECT_EQ(sparse.offset_of(kHuge - 1), kHuge) << "saturates";
  EXPECT_EQ(sparse.position_of(kHuge), std::int64_t{1} << 43);
  const Layout dense{Dataloop::bytes(3), 0, Layout::kEndless};
  EXPECT_TRUE(dense.is_contiguous());
  EXPECT_EQ(Cursor(dense, 1000).next(500), (tamis::Run{1000, 500, 0, 1}));
}

}  // namespace
}  // namespace tamis
