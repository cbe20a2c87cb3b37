#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "layout/coverage.hpp"
#include "layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;
using oracle::for_seeds;
using oracle::Kind;
using oracle::Words;

constexpr int kSeeds = 5'000;

Residue power_by_steps(Residue base, std::uint64_t exponent) {
  Residue power(1);
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) power *= base;
  return power;
}

TEST(Residue, sums_and_products_are_those_of_wide_numbers) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t a = i < 3 ? Residue::kPrime - 1 : rng() % Residue::kPrime;
    const std::uint64_t b = i < 2 ? Residue::kPrime - 1 : rng() % Residue::kPrime;
    const auto wide = static_cast<unsigned __int128>(a) * b % Residue::kPrime;
    ASSERT_EQ((Residue(a) * Residue(b)).value(), static_cast<std::uint64_t>(wide));
    ASSERT_EQ((Residue(a) + Residue(b)).value(), (a + b) % Residue::kPrime);
    ASSERT_EQ((Residue(a) - Residue(b) + Residue(b)).value(), a);
  }
}

TEST(Residue, powers_of_the_base_run_through_all_residues) {
  // The prime less one is 2 * 3^2 * 5^2 * 7 * 11 * 13 * 31 * 41 * 61 * 151 * 331 * 1321.
  constexpr std::uint64_t order = Residue::kPrime - 1;
  for (const std::uint64_t factor : {2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321}) {
    ASSERT_EQ(order % factor, 0U);
    EXPECT_NE(power_by_steps(kFingerprintBase, order / factor), Residue(1)) << factor;
  }
  EXPECT_EQ(power_by_steps(kFingerprintBase, order), Residue(1));
}

TEST(Residue, power_of_an_offset_is_that_by_steps) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto offset = static_cast<std::int64_t>(rng() >> (1 + rng() % 62));
    ASSERT_EQ(power_of(offset),
              power_by_steps(kFingerprintBase, static_cast<std::uint64_t>(offset)));
    ASSERT_EQ(power_of(-offset) * power_of(offset), Residue(1)) << offset;
  }
  EXPECT_EQ(power_of(std::numeric_limits<std::int64_t>::min()) *
                power_of(std::numeric_limits<std::int64_t>::max()) * power_of(1),
            Residue(1));
}

TEST(Residue, geometric_sums_are_those_term_by_term) {
  const Residue ratio = power_of(24);
  Residue sum;
  Residue term(1);
  for (std::int64_t count = 0; count < 300; ++count, term *= ratio) {
    ASSERT_EQ(geometric_sum(ratio, count), sum) << count;
    sum += term;
  }
  EXPECT_EQ(geometric_sum(Residue(1), 1'000'000'007), Residue(1'000'000'007));
}

/// The same sum, byte by byte.
Coverage cover_bytewise(const Words& bytes) {
  Coverage coverage;
  for (const std::int64_t byte : bytes) {
    coverage.add({.bytes = 1,
                  .balance = power_of(byte) - power_of(byte + 1),
                  .first = byte,
                  .last = byte + 1});
  }
  return coverage;
}

TEST(Coverage, of_any_part_of_a_layout_is_that_of_its_bytes) {
  for_seeds(kSeeds, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const oracle::TwinLayout twin = oracle::random_layout(rng, 200, Kind::ordered);
    if (!twin.layout.is_ordered()) return;
    const auto size = static_cast<std::int64_t>(twin.bytes.size());
    const std::int64_t first = draw(rng, 0, size);
    const std::int64_t n = draw(rng, 0, size - first);
    const Coverage expected =
        cover_bytewise(Words(twin.bytes.begin() + first, twin.bytes.begin() + first + n));
    const Coverage found = cover(twin.layout, first, n);
    ASSERT_EQ(found.bytes, expected.bytes);
    ASSERT_EQ(found.balance, expected.balance);
    ASSERT_EQ(found.first, expected.first);
    ASSERT_EQ(found.last, expected.last);
  });
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
    for (Words& offsets : owned) {
      std::sort(offsets.begin(), offsets.end());
      offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
      const Dataloop loop = Dataloop::blockindexed(1, offsets, Dataloop::bytes(1)).value();
      const Layout layout{loop, 0, 1};
      total.add(cover(layout, 0, layout.size()));
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
    EXPECT_FALSE(total.tiles({400, 4000}));
    total.add(cover(view, 80, 800));
  }
  EXPECT_TRUE(total.tiles({400, 4000}));
  EXPECT_FALSE(total.tiles({400, 4008}));
  EXPECT_FALSE(total.tiles({401, 4000}));
}

TEST(Coverage, of_a_thousand_million_pieces_is_not_walked) {
  constexpr std::int64_t pieces = 1'000'000'000;
  Coverage total;
  for (std::int64_t rank = 0; rank < 2; ++rank)
    total.add(
        cover({*Dataloop::vector(pieces, 1, 16, Dataloop::bytes(8)), 8 * rank, 1}, 0, 8 * pieces));
  EXPECT_TRUE(total.tiles({0, 16 * pieces}));
  total.add(cover(Layout::contiguous(8, 8), 0, 8));
  EXPECT_FALSE(total.tiles({0, 16 * pieces}));
}

TEST(Coverage, sees_a_hole_that_an_overlap_makes_up_for) {
  Coverage total = cover(Layout::contiguous(100), 0, 100);
  total.add(cover(Layout::contiguous(50, 90), 0, 50));
  total.add(cover(Layout::contiguous(50, 150), 0, 50));
  EXPECT_EQ(total.bytes, 200);
  EXPECT_FALSE(total.tiles({0, 200}));
}

TEST(Coverage, of_nothing_tiles_nothing) {
  EXPECT_TRUE(Coverage{}.tiles({10, 0}));
  EXPECT_FALSE(Coverage{}.tiles({10, 1}));
}

}  // namespace
}  // namespace tamis
