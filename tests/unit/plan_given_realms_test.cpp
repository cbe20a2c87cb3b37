#include <gtest/gtest.h>

#include "layout/cursor.hpp"
#include "plan/explain.hpp"
#include "plan/given_realms.hpp"
#include "plan/strategy.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

using oracle::draw;

/// Realms and, byte by byte, who has what.
struct Twin {
  std::vector<Layout> realms;
  std::vector<std::vector<int>> owners;  ///< of every byte of the file's beginning
};

constexpr std::int64_t kFile = 400;

/// Pieces of a tile, each to one realm, to none or to two where it is to have `flaws`.
Twin random_realms(std::mt19937_64& rng, bool flaws) {
  const auto count = static_cast<std::size_t>(draw(rng, 1, 5));
  std::vector<std::vector<std::int64_t>> lengths(count), starts(count);
  std::vector<std::vector<int>> tile;
  for (std::int64_t piece = draw(rng, 1, 12); piece > 0; --piece) {
    const std::int64_t length = draw(rng, 1, 9);
    std::vector<int> who = {static_cast<int>(draw(rng, 0, static_cast<int>(count) - 1))};
    if (flaws && draw(rng, 0, 9) == 0) who.pop_back();
    const int second = static_cast<int>(draw(rng, 0, static_cast<int>(count) - 1));
    if (flaws && draw(rng, 0, 9) == 0 && who != std::vector{second}) who.push_back(second);
    for (const int owner : who) {
      starts[static_cast<std::size_t>(owner)].push_back(static_cast<std::int64_t>(tile.size()));
      lengths[static_cast<std::size_t>(owner)].push_back(length);
    }
    tile.insert(tile.end(), static_cast<std::size_t>(length), who);
  }
  Twin twin;
  const auto extent = static_cast<std::int64_t>(tile.size());
  for (std::size_t i = 0; i < count; ++i) {
    Dataloop loop = *Dataloop::indexed(lengths[i], starts[i], Dataloop::bytes(1));
    loop = *Dataloop::resized(0, extent, loop);
    // Some are told with a longer period than others.
    loop = *Dataloop::contig(draw(rng, 1, 2), loop);
    twin.realms.push_back({loop, 0, Layout::kEndless});
  }
  for (std::int64_t byte = 0; byte < kFile; ++byte)
    twin.owners.push_back(tile[static_cast<std::size_t>(byte % extent)]);
  return twin;
}

TEST(GivenRealms, are_good_where_each_byte_of_the_region_has_one_owner) {
  int flawed = 0;
  oracle::for_seeds(3000, [&](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Twin twin = random_realms(rng, draw(rng, 0, 1) == 0);
    const GivenRealms given = GivenRealms::of(twin.realms);
    const Extent region{draw(rng, 0, 200), draw(rng, 1, 200)};
    std::int64_t flaw = region.offset;
    while (flaw < region.end() && twin.owners[static_cast<std::size_t>(flaw)].size() == 1) ++flaw;
    const Status status = check_realms(given, region);
    ASSERT_EQ(status.ok(), flaw == region.end()) << status.to_string();
    if (status.ok()) return;
    ++flawed;
    ASSERT_EQ(status.code, Errc::arg);
    ASSERT_EQ(status.offset, flaw);
    const bool nobody = twin.owners[static_cast<std::size_t>(flaw)].empty();
    ASSERT_EQ(std::string(status.note).find("nobody") != std::string::npos, nobody);
  });
  EXPECT_GT(flawed, 300);
}

TEST(GivenRealms, that_hold_the_whole_file_are_known_to) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Twin twin = random_realms(rng, true);
    const bool known = GivenRealms::of(twin.realms).whole_file;
    for (const std::vector<int>& owners : twin.owners) {
      if (known) {
        ASSERT_EQ(owners.size(), 1U);
      }
    }
  });
  // A first block for one, then two that take turns.
  const Dataloop every_other = *Dataloop::resized(0, 200, Dataloop::bytes(100));
  const Layout first{*Dataloop::resized(0, 200, Dataloop::bytes(0)), 0, Layout::kEndless};
  const Layout even{every_other, 0, Layout::kEndless};
  const Layout odd{every_other, 100, Layout::kEndless};
  EXPECT_TRUE(GivenRealms::of({first, even, odd}).whole_file);
  EXPECT_FALSE(GivenRealms::of({first, even}).whole_file);
  EXPECT_FALSE(GivenRealms::of({odd, even, even}).whole_file);
  EXPECT_FALSE(GivenRealms::of({first}).whole_file);
}

TEST(GivenRealms, have_windows_that_hold_the_region_once) {
  oracle::for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Twin twin = random_realms(rng, false);
    const Extent region{draw(rng, 0, 200), draw(rng, 1, 200)};
    const std::int64_t window_bytes = draw(rng, 1, 50);
    const FileRealms realms = FileRealms::given(region, twin.realms);
    ASSERT_EQ(realms.kind(), RealmKind::given);
    std::vector<int> seen(kFile);
    for (int i = 0; i < realms.count(); ++i)
      for (std::int64_t round = 0; round < realms.rounds(window_bytes); ++round) {
        const Window window = realms.window(i, round, window_bytes);
        if (window.empty()) continue;
        ASSERT_EQ(window.first / window_bytes, (window.end() - 1) / window_bytes);
        const Layout layout = realms.layout(i);
        Blocks blocks(layout, window.first, window.bytes);
        for (Extent block; blocks.next(block);)
          for (std::int64_t byte = block.offset; byte < block.end(); ++byte) {
            ASSERT_EQ(twin.owners[static_cast<std::size_t>(byte)], std::vector{i});
            ++seen[static_cast<std::size_t>(byte)];
          }
      }
    for (std::int64_t byte = 0; byte < kFile; ++byte)
      ASSERT_EQ(seen[static_cast<std::size_t>(byte)], region.contains(byte) ? 1 : 0);
  });
}

TEST(GivenRealms, one_by_itself_lies_in_the_file_and_goes_forward) {
  const auto checked = [](const Dataloop& loop, std::int64_t displacement) {
    return check_realm({loop, displacement, Layout::kEndless}).code;
  };
  const std::int64_t back[] = {50, 0};
  const Dataloop backwards = *Dataloop::blockindexed(10, back, Dataloop::bytes(1));
  EXPECT_EQ(checked(Dataloop::bytes(10), 0), Errc::ok);
  EXPECT_EQ(checked(Dataloop(), 0), Errc::ok);
  EXPECT_EQ(checked(Dataloop::bytes(10), -1), Errc::arg);
  EXPECT_EQ(checked(backwards, 0), Errc::arg);
  EXPECT_EQ(checked(*Dataloop::resized(0, 9, Dataloop::bytes(10)), 0), Errc::arg);
  EXPECT_EQ(checked(*Dataloop::resized(0, -20, Dataloop::bytes(10)), 0), Errc::arg);
  const std::int64_t before[] = {-8};
  const Dataloop reaches_back = *Dataloop::blockindexed(10, before, Dataloop::bytes(1));
  EXPECT_EQ(checked(reaches_back, 7), Errc::arg);
  EXPECT_EQ(checked(reaches_back, 8), Errc::ok);
  EXPECT_EQ(checked(Dataloop::bytes(10), std::numeric_limits<std::int64_t>::max() - 5), Errc::arg);
}

TEST(GivenRealms, of_the_hint_have_the_sizes_in_turn_and_yield_to_those_by_call) {
  Hints hints;
  hints.tamis_realm_sizes = {100, 50, 10};
  const GivenRealmsPtr realms = realms_in_force(nullptr, hints, 3);
  ASSERT_NE(realms, nullptr);
  EXPECT_TRUE(realms->whole_file);
  const FileRealms cut = FileRealms::given({0, 320}, realms->layouts);
  EXPECT_EQ(cut.layout(1).offset_of(0), 100);
  EXPECT_EQ(cut.layout(1).offset_of(50), 260);
  EXPECT_EQ(cut.in_region(0), (Window{0, 200}));
  EXPECT_EQ(cut.in_region(2), (Window{0, 20}));
  EXPECT_TRUE(check_realms(GivenRealms::of(realms->layouts), {0, 1000}).ok());
  EXPECT_EQ(realms_in_force(nullptr, hints, 2), nullptr);  // too few ranks
  EXPECT_EQ(realms_in_force(nullptr, {}, 3), nullptr);
  const auto by_call = std::make_shared<const GivenRealms>(GivenRealms::of({}));
  EXPECT_EQ(realms_in_force(by_call, hints, 3), by_call);
}

/// Two ranks that write 1000 bytes each, one after the other.
Survey two_ranks() {
  Survey all;
  const Layout memory = Layout::contiguous(1000);
  for (int rank = 0; rank < 2; ++rank) {
    const Layout file = Layout::contiguous(1000, 500 + rank * 1000);
    const Access access{.direction = Direction::write,
                        .memory = &memory,
                        .file = &file,
                        .bytes = 1000,
                        .error = {}};
    all.merge(survey_of(access, rank, News::view, {}, {.name = "disk", .locks = true}));
  }
  return all;
}

Circumstances under(std::vector<Layout> realms, Switch buffering) {
  Circumstances c{.storage = {.name = "disk", .locks = true},
                  .aggregators = {0, 1},
                  .window_bytes = 100,
                  .ranks = 2};
  c.hints.romio_cb_write = buffering;
  c.given = std::make_shared<const GivenRealms>(GivenRealms::of(std::move(realms)));
  return c;
}

TEST(GivenRealms, are_followed_or_refused_whatever_the_route) {
  const Dataloop every_other = *Dataloop::resized(0, 200, Dataloop::bytes(100));
  const Layout even{every_other, 0, Layout::kEndless};
  const Layout odd{every_other, 100, Layout::kEndless};
  const Layout behind{every_other, 700, Layout::kEndless};
  const Circumstances followed = under({odd, even}, Switch::enable);
  const Strategy good = decide(two_ranks(), followed);
  EXPECT_TRUE(good.error.ok());
  EXPECT_EQ(good.route, Route::two_phase);
  EXPECT_EQ(good.realms.kind(), RealmKind::given);
  EXPECT_EQ(good.realms.layout(0).offset_of(0), 100);
  for (const Switch buffering : {Switch::enable, Switch::automatic, Switch::disable}) {
    const Circumstances holes = under({behind, even}, buffering);
    const Strategy refused = decide(two_ranks(), holes);
    EXPECT_EQ(refused.route, Route::nothing);
    EXPECT_EQ(refused.error.code, Errc::arg);
    EXPECT_EQ(refused.error.offset, 500);
    const std::string told = explain(two_ranks(), holes, refused);
    EXPECT_NE(told.find("byte 500 is held by none of them"), std::string::npos) << told;
    const Circumstances twice = under({even, even}, buffering);
    const Strategy also = decide(two_ranks(), twice);
    EXPECT_EQ(also.error.offset, 500);  // a hole comes first
  }
  const Layout all{Dataloop::bytes(10), 0, Layout::kEndless};
  const Circumstances both = under({all, behind}, Switch::automatic);
  const Strategy twice = decide(two_ranks(), both);
  EXPECT_EQ(twice.error.offset, 700);
  EXPECT_NE(explain(two_ranks(), both, twice)
                .find("byte 700 is held by realm 0 (rank 0) and realm 1 (rank 1)"),
            std::string::npos);
}

TEST(GivenRealms, do_not_keep_ranks_without_data_from_doing_nothing) {
  Survey survey;
  survey.directions = 2;
  const Strategy strategy = decide(survey, under({}, Switch::enable));
  EXPECT_EQ(strategy.route, Route::nothing);
  EXPECT_TRUE(strategy.error.ok());
}

}  // namespace
}  // namespace tamis
