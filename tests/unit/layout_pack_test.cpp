#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "layout/coverage.hpp"
#include "layout/pack.hpp"
#include "layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;
using oracle::for_seeds;
using oracle::Kind;
using oracle::TwinLayout;
using oracle::Words;

constexpr int kSeeds = 5'000;

/// Memory in which a layout's bytes lie, whatever their offsets.
class Memory {
 public:
  explicit Memory(const Words& offsets) {
    if (offsets.empty()) return;
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    low_ = *low;
    bytes_.assign(static_cast<std::size_t>(*high - *low + 1), std::byte{0});
  }
  std::byte* base() { return bytes_.data() - low_; }
  std::byte& at(std::int64_t offset) { return bytes_[static_cast<std::size_t>(offset - low_)]; }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::int64_t low_ = 0;
  std::vector<std::byte> bytes_;
};

void expect_same_copy(const TwinLayout& to, const TwinLayout& from, std::mt19937_64& rng) {
  Memory target(to.bytes);
  Memory expected(to.bytes);
  Memory source(from.bytes);
  for (std::byte& byte : source.bytes()) byte = static_cast<std::byte>(rng());
  const std::int64_t n = draw(rng, 0, std::min(to.layout.size(), from.layout.size()));
  const std::int64_t to_start = draw(rng, 0, to.layout.size() - n);
  const std::int64_t from_start = draw(rng, 0, from.layout.size() - n);
  for (std::int64_t i = 0; i < n; ++i)
    expected.at(to.bytes[static_cast<std::size_t>(to_start + i)]) =
        source.at(from.bytes[static_cast<std::size_t>(from_start + i)]);
  Cursor target_cursor(to.layout, to_start);
  Cursor source_cursor(from.layout, from_start);
  copy_stream(target_cursor, target.base(), source_cursor, source.base(), n);
  ASSERT_EQ(target.bytes(), expected.bytes())
      << to.layout.loop.to_string() << " <- " << from.layout.loop.to_string();
  ASSERT_EQ(target_cursor.position(), to_start + n);
  ASSERT_EQ(source_cursor.position(), from_start + n);
}

TEST(CopyStream, moves_the_bytes_of_any_layout_to_those_of_any_other) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const TwinLayout from = oracle::random_layout(rng, 1000, Kind::any);
    const TwinLayout to = oracle::random_layout(rng, 1000, Kind::ordered);
    if (to.layout.is_ordered()) expect_same_copy(to, from, rng);
  });
}

TwinLayout strided(std::int64_t count, std::int64_t block, std::int64_t stride) {
  const Dataloop loop = Dataloop::vector(count, 1, stride, Dataloop::bytes(block)).value();
  TwinLayout twin{{loop, 0, 1}, {}};
  for (std::int64_t i = 0; i < count * block; ++i)
    twin.bytes.push_back(i / block * stride + i % block);
  return twin;
}

TEST(CopyStream, serves_every_small_block_size_on_either_side) {
  std::mt19937_64 rng(1);
  for (std::int64_t block = 1; block <= 140; ++block) {
    const TwinLayout gaps = strided(20, block, block + 3);
    const TwinLayout wide = strided(20, block, 2 * block + 1);
    const TwinLayout plain = strided(1, 20 * block, 0);
    const TwinLayout pairs = strided(10, 2 * block, 5 * block);
    for (int i = 0; i < 3; ++i) {
      expect_same_copy(gaps, plain, rng);
      expect_same_copy(plain, gaps, rng);
      expect_same_copy(wide, gaps, rng);
      expect_same_copy(pairs, gaps, rng);
      expect_same_copy(gaps, pairs, rng);
    }
  }
}

/// Does the multiset of offsets hold every byte of the extent once, and no other?
bool tiles(const Words& bytes, const Extent& extent) {
  std::map<std::int64_t, int> seen;
  for (const std::int64_t byte : bytes)
    if (++seen[byte] > 1 || !extent.contains(byte)) return false;
  return static_cast<std::int64_t>(seen.size()) == extent.length;
}

TEST(Coverage, tells_tilings_from_holes_and_overlaps) {
  int tiled = 0;
  for_seeds(kSeeds, [&tiled](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    // Every byte gets an owner; then some change hands or get lost, so that most cases are close.
    const std::int64_t length = draw(rng, 1, 60);
    const std::int64_t start = draw(rng, -30, 30);
    std::vector<Words> owned(4);
    for (std::int64_t i = 0; i < length; ++i) owned[rng() % 4].push_back(start + i);
    const std::int64_t mistake = draw(rng, 0, 3);
    Words& victim = owned[rng() % 4];
    if (mistake == 1 && !victim.empty()) victim.pop_back();
    if (mistake == 2) victim.push_back(start + draw(rng, 0, length - 1));
    if (mistake == 3 && !victim.empty()) victim.back() = start + draw(rng, -1, length);
    Coverage total;
    Words all;
    for (const Words& offsets : owned) {
      const Dataloop loop = Dataloop::blockindexed(1, offsets, Dataloop::bytes(1)).value();
      const Layout layout{loop, 0, 1};
      Cursor cursor(layout);
      total.add(cover(cursor, layout.size()));
      ASSERT_TRUE(cursor.at_end());
      all.insert(all.end(), offsets.begin(), offsets.end());
    }
    const Extent extent{start, length};
    ASSERT_EQ(total.tiles(extent), tiles(all, extent));
    ASSERT_EQ(total.bytes, static_cast<std::int64_t>(all.size()));
    if (!all.empty()) {
      ASSERT_EQ(total.first, *std::min_element(all.begin(), all.end()));
      ASSERT_EQ(total.last, *std::max_element(all.begin(), all.end()) + 1);
    }
    if (total.tiles(extent)) ++tiled;
  });
  EXPECT_GT(tiled, kSeeds / 10);
}

TEST(Coverage, of_interleaved_vectors_tiles_exactly_their_span) {
  Coverage total;
  for (std::int64_t rank = 0; rank < 5; ++rank) {
    const Layout view{Dataloop::resized(0, 40, Dataloop::bytes(8)).value(), rank * 8,
                      Layout::kEndless};
    Cursor cursor(view, 80);
    EXPECT_FALSE(total.tiles({400, 4000}));
    total.add(cover(cursor, 800));
  }
  EXPECT_TRUE(total.tiles({400, 4000}));
  EXPECT_FALSE(total.tiles({400, 4008}));
  EXPECT_FALSE(total.tiles({401, 4000}));
}

TEST(Coverage, of_nothing_tiles_nothing) {
  EXPECT_TRUE(Coverage{}.tiles({10, 0}));
  EXPECT_FALSE(Coverage{}.tiles({10, 1}));
}

}  // namespace
}  // namespace tamis
