#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "layout/cursor.hpp"
#include "layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::for_seeds;
using oracle::Kind;
using oracle::Twin;
using oracle::Words;

constexpr int kSeeds = 10'000;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

Twin type_from(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const Kind kind = seed % 2 == 0 ? Kind::any : Kind::ordered;
  return oracle::random_type(rng, static_cast<int>(oracle::draw(rng, 1, 6)), 1500, kind);
}

/// All bytes of the stream, by the cursor.
Words bytes_of(const Dataloop& loop) {
  const Layout layout{loop, 0, 1};
  Words bytes;
  for (Cursor cursor(layout); !cursor.at_end();) {
    const Run run = cursor.next(kHuge);
    for (std::int64_t i = 0; i < run.bytes(); ++i)
      bytes.push_back(run.offset + i / run.block * run.stride + i % run.block);
  }
  return bytes;
}

TEST(Dataloop, has_the_bytes_and_bounds_of_its_type_map) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    const auto [loop, map] = type_from(seed);
    ASSERT_EQ(loop.size(), static_cast<std::int64_t>(map.bytes.size()));
    ASSERT_EQ(loop.lb(), map.lb());
    ASSERT_EQ(loop.ub(), map.ub());
    ASSERT_EQ(bytes_of(loop), map.bytes);
    if (map.bytes.empty()) return;
    ASSERT_EQ(loop.true_lb(), *std::min_element(map.bytes.begin(), map.bytes.end()));
    ASSERT_EQ(loop.true_ub(), *std::max_element(map.bytes.begin(), map.bytes.end()) + 1);
  });
}

TEST(Dataloop, knows_whether_it_is_ordered_and_overlaps) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    const auto [loop, map] = type_from(seed);
    const bool ordered = std::adjacent_find(map.bytes.begin(), map.bytes.end(),
                                            std::greater_equal<>()) == map.bytes.end();
    const std::set<std::int64_t> distinct(map.bytes.begin(), map.bytes.end());
    ASSERT_EQ(loop.is_ordered(), ordered);
    ASSERT_EQ(loop.overlaps_itself(), (distinct.size() != map.bytes.size()));
    const bool contiguous =
        map.bytes.empty() || (ordered && map.bytes.back() - map.bytes.front() + 1 == loop.size());
    // Blocks that touch across iterations of different loops are not joined.
    ASSERT_TRUE(!loop.is_contiguous() || contiguous);
    ASSERT_TRUE(loop.is_ordered() <= loop.is_monotonic());
  });
}

TEST(Dataloop, is_monotonic_where_its_block_starts_never_decrease) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    const auto [loop, map] = type_from(seed);
    const Layout layout{loop, 0, 1};
    Words starts;
    for (Cursor cursor(layout); !cursor.at_end();) {
      const tamis::Run run = cursor.next(kHuge);
      for (std::int64_t i = 0; i < run.count; ++i) starts.push_back(run.offset + i * run.stride);
    }
    ASSERT_EQ(loop.is_monotonic(), std::is_sorted(starts.begin(), starts.end()));
    ASSERT_EQ(loop.blocks(), static_cast<std::int64_t>(starts.size()));
  });
}

TEST(Dataloop, of_contiguous_bytes_has_no_tree) {
  const Dataloop four = Dataloop::bytes(4);
  EXPECT_EQ(Dataloop::contig(10, four)->root(), nullptr);
  EXPECT_EQ(Dataloop::vector(10, 3, 12, four)->root(), nullptr);
  const Words touching{8, 12, 16, 20};
  const Dataloop blocks = Dataloop::blockindexed(1, touching, four).value();
  EXPECT_TRUE(blocks.is_contiguous());
  EXPECT_EQ(blocks.true_lb(), 8);
  EXPECT_EQ(blocks.lb(), 8);
  EXPECT_EQ(blocks.size(), 16);
  EXPECT_EQ(blocks.memory(), 0U);
}

TEST(Dataloop, recognises_regular_lists) {
  const Dataloop four = Dataloop::bytes(4);
  const Dataloop vector = Dataloop::vector(4, 1, 16, four).value();
  const Words stride{0, 16, 32, 48};
  const Words ones{1, 1, 1, 1};
  const std::vector<Dataloop> parts(4, four);
  EXPECT_EQ(Dataloop::blockindexed(1, stride, four).value(), vector);
  EXPECT_EQ(Dataloop::indexed(ones, stride, four).value(), vector);
  EXPECT_EQ(Dataloop::structure(ones, stride, parts).value(), vector);
  const Dataloop spread = Dataloop::resized(0, 16, four).value();
  const Dataloop copies = Dataloop::resized(0, 52, Dataloop::contig(4, spread).value()).value();
  EXPECT_EQ(copies.to_string(), "vector(4, stride 16, contig(4)) resized(lb 0, extent 52)");
  const Dataloop pair = Dataloop::vector(2, 1, 16, four).value();
  EXPECT_EQ(Dataloop::vector(2, 1, 32, pair).value(), vector);
}

TEST(Dataloop, explicit_bounds_prevail_over_those_of_other_parts) {
  const Dataloop marked = Dataloop::resized(-4, 12, Dataloop::bytes(4)).value();
  const std::vector<Dataloop> parts{marked, Dataloop::bytes(100)};
  const Words lengths{1, 1};
  const Words displacements{10, 50};
  const Dataloop both = Dataloop::structure(lengths, displacements, parts).value();
  EXPECT_EQ(both.lb(), 6);
  EXPECT_EQ(both.ub(), 18);
  EXPECT_EQ(both.true_ub(), 150);
}

TEST(Dataloop, of_a_billion_blocks_takes_a_few_dozen_bytes) {
  const Dataloop blocks = Dataloop::vector(1'000'000'000, 1, 16, Dataloop::bytes(8)).value();
  EXPECT_LE(blocks.memory(), 256U);
  EXPECT_EQ(blocks.blocks(), 1'000'000'000);
  EXPECT_FALSE(blocks.overlaps_itself());
  EXPECT_TRUE(blocks.is_ordered());
  const Dataloop planes = Dataloop::vector(1'000'000, 1, 1 << 30, blocks).value();
  EXPECT_LE(planes.memory(), 512U);
}

TEST(Dataloop, index_lists_take_eight_bytes_per_offset) {
  Words offsets;
  for (std::int64_t i = 0; i < 100'000; ++i) offsets.push_back(i * 16 + i % 7);
  const Dataloop loop = Dataloop::blockindexed(1, offsets, Dataloop::bytes(8)).value();
  EXPECT_LE(loop.memory(), 8 * offsets.size() + 256);
}

TEST(Dataloop, a_transposed_array_is_found_free_of_overlap_without_a_walk) {
  const Dataloop column = Dataloop::vector(1'000'000, 1, 8'000'000, Dataloop::bytes(8)).value();
  const Dataloop transposed = Dataloop::vector(1'000'000, 1, 8, column).value();
  EXPECT_FALSE(transposed.is_ordered());
  EXPECT_FALSE(transposed.overlaps_itself());
}

TEST(Dataloop, refuses_negative_counts) {
  const Dataloop one = Dataloop::bytes(1);
  const Words minus{-1};
  const Words zero{0};
  EXPECT_EQ(Dataloop::contig(-1, one).status().code, Errc::count);
  EXPECT_EQ(Dataloop::vector(-1, 1, 1, one).status().code, Errc::count);
  EXPECT_EQ(Dataloop::vector(1, -1, 1, one).status().code, Errc::count);
  EXPECT_EQ(Dataloop::blockindexed(-1, zero, one).status().code, Errc::count);
  EXPECT_EQ(Dataloop::indexed(minus, zero, one).status().code, Errc::count);
  const std::vector<Dataloop> parts{one};
  EXPECT_EQ(Dataloop::structure(minus, zero, parts).status().code, Errc::count);
}

TEST(Dataloop, refuses_what_leaves_64_bits) {
  const Dataloop eight = Dataloop::bytes(8);
  const Dataloop wide = Dataloop::resized(0, kHuge, eight).value();
  const Words far{kHuge - 4};
  const Words apart{-kHuge, 0, kHuge - 8};
  const Words lengths{1, 2, 1};
  EXPECT_EQ(Dataloop::contig(kHuge / 4, eight).status().code, Errc::arg);
  EXPECT_EQ(Dataloop::contig(3, wide).status().code, Errc::arg);
  EXPECT_EQ(Dataloop::vector(3, 1, kHuge / 2 + 1, eight).status().code, Errc::arg);
  EXPECT_EQ(Dataloop::blockindexed(1, far, eight).status().code, Errc::arg);
  EXPECT_EQ(Dataloop::indexed(lengths, apart, eight).status().code, Errc::arg);
  EXPECT_EQ(Dataloop::resized(kHuge, 1, eight).status().code, Errc::arg);
}

TEST(Dataloop, refuses_nests_that_are_too_deep) {
  Dataloop loop = Dataloop::bytes(1);
  int depth = 0;
  for (; depth < 200; ++depth) {
    const std::vector<Dataloop> parts{loop, Dataloop::bytes(1)};
    const Words lengths{1, 1};
    const Words displacements{0, loop.true_ub() + 1 + depth % 2};
    Result<Dataloop> next = Dataloop::structure(lengths, displacements, parts);
    if (!next.ok()) break;
    loop = next.value();
  }
  EXPECT_LT(depth, 200);
  EXPECT_EQ(bytes_of(loop).size(), static_cast<std::size_t>(loop.size()));
  std::vector<std::byte> wire;
  loop.encode(wire);
  EXPECT_EQ(Dataloop::decode(wire).value(), loop);
}

TEST(Dataloop, text_shortens_long_lists) {
  Words offsets;
  for (std::int64_t i = 0; i < 50; ++i) offsets.push_back(i * i * 10);
  const Dataloop loop = Dataloop::blockindexed(1, offsets, Dataloop::bytes(4)).value();
  EXPECT_EQ(loop.to_string(), "blockindexed(50, at [0, 10, 40, ...], contig(4))");
  EXPECT_EQ(Dataloop::bytes(8).to_string(), "contig(8)");
}

TEST(DataloopWire, decodes_what_it_encoded) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    const auto [loop, map] = type_from(seed);
    std::vector<std::byte> wire;
    loop.encode(wire);
    const Result<Dataloop> again = Dataloop::decode(wire);
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(*again, loop);
    ASSERT_EQ(bytes_of(*again), map.bytes);
  });
}

TEST(DataloopWire, refuses_contradictions) {
  const Dataloop loop = Dataloop::vector(10, 1, 16, Dataloop::bytes(8)).value();
  std::vector<std::byte> wire;
  loop.encode(wire);
  ASSERT_TRUE(Dataloop::decode(wire).ok());
  const auto changed = [&wire](std::size_t at) {
    std::vector<std::byte> other = wire;
    other[at] ^= std::byte{64};
    return Dataloop::decode(other).ok();
  };
  EXPECT_FALSE(changed(0)) << "version";
  EXPECT_FALSE(changed(1)) << "flags";
  EXPECT_FALSE(changed(2)) << "size";
  EXPECT_FALSE(changed(10)) << "lower bound, not set explicitly";
  EXPECT_FALSE(changed(18)) << "upper bound, not set explicitly";
  EXPECT_FALSE(changed(34)) << "number of loops";
  wire.push_back(std::byte{0});
  EXPECT_FALSE(Dataloop::decode(wire).ok()) << "trailing bytes";
  EXPECT_FALSE(Dataloop::decode({}).ok());
}

/// Whatever was decoded must be safe to use.
void exercise(const Dataloop& loop) {
  const Layout layout{loop, 0, 1};
  EXPECT_EQ(layout.size(), loop.size());
  (void)loop.to_string();
  if (loop.size() == 0) return;
  (void)layout.offset_of(loop.size() - 1);
  Cursor cursor(layout, loop.size() / 2);
  for (int i = 0; i < 100 && !cursor.at_end(); ++i) (void)cursor.next(kHuge);
  if (loop.is_ordered())
    cursor.seek(layout.position_of(loop.true_lb() + (loop.true_ub() - loop.true_lb()) / 2));
}

TEST(DataloopWire, survives_mutated_and_truncated_bytes) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<std::byte> wire;
    type_from(seed).loop.encode(wire);
    const std::int64_t changes = oracle::draw(rng, 0, 4);
    for (std::int64_t i = 0; i < changes; ++i) {
      const auto at = static_cast<std::size_t>(
          oracle::draw(rng, 0, static_cast<std::int64_t>(wire.size()) - 1));
      wire[at] = static_cast<std::byte>(oracle::draw(rng, 0, 255));
    }
    if (changes == 0 || seed % 5 == 0)
      wire.resize(static_cast<std::size_t>(
          oracle::draw(rng, 0, static_cast<std::int64_t>(wire.size()) - 1)));
    const Result<Dataloop> loop = Dataloop::decode(wire);
    ASSERT_TRUE(changes > 0 || !loop.ok());
    if (loop.ok()) exercise(*loop);
  });
}

TEST(DataloopWire, survives_random_words) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<std::byte> wire{std::byte{1}, static_cast<std::byte>(seed % 2)};
    const std::int64_t words = oracle::draw(rng, 5, 40);
    for (std::int64_t i = 0; i < words; ++i) {
      const std::int64_t word = oracle::draw(rng, 0, 9) == 0 ? static_cast<std::int64_t>(rng())
                                                             : oracle::draw(rng, -3, 5);
      for (int shift = 0; shift < 64; shift += 8)
        wire.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(word) >> shift));
    }
    const Result<Dataloop> loop = Dataloop::decode(wire);
    if (loop.ok()) exercise(*loop);
  });
}

}  // namespace
}  // namespace tamis
