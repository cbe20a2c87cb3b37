#include <gtest/gtest.h>

#include <algorithm>

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

/// Blocks at irregular places: of `block` bytes, and one or two more here and there if `uneven`.
TwinLayout listed(std::mt19937_64& rng, std::int64_t count, std::int64_t block, bool uneven) {
  Words offsets;
  Words lengths;
  TwinLayout twin;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    at += draw(rng, 1, 9);
    offsets.push_back(at);
    lengths.push_back(block + (uneven ? draw(rng, 0, 2) : 0));
    for (std::int64_t byte = 0; byte < lengths.back(); ++byte) twin.bytes.push_back(at++);
  }
  twin.layout = {Dataloop::indexed(lengths, offsets, Dataloop::bytes(1)).value(), 0, 1};
  return twin;
}

TEST(CopyStream, walks_lists_of_more_blocks_than_it_holds_at_once) {
  std::mt19937_64 rng(2);
  for (std::int64_t block = 1; block <= 140; ++block) {
    const TwinLayout equal = listed(rng, 150, block, false);
    const TwinLayout uneven = listed(rng, 150, block, true);
    const TwinLayout other = listed(rng, 90, 2 * block, true);
    const TwinLayout plain = strided(1, 160 * block, 0);
    const TwinLayout gaps = strided(150, block, block + 3);
    for (const TwinLayout* list : {&equal, &uneven}) {
      for (const TwinLayout* side : {&other, &plain, &gaps}) {
        expect_same_copy(*list, *side, rng);
        expect_same_copy(*side, *list, rng);
      }
    }
  }
}

}  // namespace
}  // namespace tamis
