#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "plan/explain.hpp"
#include "plan/strategy.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

Dataloop strided(std::int64_t block, std::int64_t stride) {
  return *Dataloop::resized(0, stride, Dataloop::bytes(block));
}

/// One access of `bytes` bytes: `block` of every `stride` bytes of the file from `begin` on.
struct Pattern {
  Direction direction = Direction::write;
  std::int64_t block = 8;
  std::int64_t stride = 8;
  std::int64_t bytes = 1 << 20;
};

Capabilities plain_disk() { return {.name = "disk", .locks = true}; }

Choice choice_of(const Pattern& pattern, const Hints& hints = {},
                 const Capabilities& storage = plain_disk()) {
  const Layout file{strided(pattern.block, pattern.stride), 0, Layout::kEndless};
  const Layout memory = Layout::contiguous(pattern.bytes);
  const Access access{.direction = pattern.direction,
                      .memory = &memory,
                      .file = &file,
                      .bytes = pattern.bytes,
                      .error = {}};
  return choose_method(pattern.direction, shape_of(access), hints, storage);
}

/// The survey of `ranks` ranks whose blocks take turns in the file; `parts` >= ranks leaves holes.
Survey survey_of(const Pattern& pattern, int ranks, int parts, const Hints& hints = {}) {
  Survey all;
  for (int rank = 0; rank < ranks; ++rank) {
    const Layout file{strided(pattern.block, parts * pattern.block), rank * pattern.block,
                      Layout::kEndless};
    const Layout memory = Layout::contiguous(pattern.bytes);
    const Access access{.direction = pattern.direction,
                        .memory = &memory,
                        .file = &file,
                        .bytes = pattern.bytes,
                        .error = {}};
    const Survey one = survey_of(access, rank, News::view, hints, plain_disk());
    if (rank == 0)
      all = one;
    else
      all.merge(one);
  }
  return all;
}

Circumstances circumstances(int ranks, const Hints& hints = {}) {
  Circumstances c{.hints = hints,
                  .storage = plain_disk(),
                  .aggregators = {},
                  .window_bytes = 1 << 20,
                  .ranks = ranks,
                  .cores = 2};
  for (int rank = 0; rank < std::min(ranks, 2); ++rank) c.aggregators.push_back(rank);
  return c;
}

TEST(Method, large_holes_are_never_sieved) {  // the BTIO case of Thakur, Gropp, Lusk 1999
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Choice choice = choice_of({direction, 4096, 4096 * 100, 1 << 20});
    EXPECT_EQ(choice.method, Method::list) << choice.reason;
  }
}

TEST(Method, small_pieces_with_small_holes_are_sieved) {
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Choice choice = choice_of({direction, 8, 16, 1 << 20});
    EXPECT_EQ(choice.method, Method::sieve) << choice.reason;
  }
}

TEST(Method, is_never_dearer_than_single_transfers) {
  oracle::for_seeds(500, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    Pattern pattern;
    pattern.direction = oracle::draw(rng, 0, 1) == 0 ? Direction::read : Direction::write;
    pattern.block = oracle::draw(rng, 1, 1) << oracle::draw(rng, 0, 14);
    pattern.stride = pattern.block + (oracle::draw(rng, 0, 1) << oracle::draw(rng, 0, 20));
    pattern.bytes = oracle::draw(rng, 1, 1 << 20);
    Hints naive;
    naive.romio_ds_read = naive.romio_ds_write = Switch::disable;
    EXPECT_LE(choice_of(pattern).cost_ns, choice_of(pattern, naive).cost_ns);
  });
}

TEST(Method, costs_grow_with_bytes_and_with_pieces) {
  Hints naive;
  naive.romio_ds_read = naive.romio_ds_write = Switch::disable;
  for (const Hints& hints : {Hints{}, naive})
    for (const Direction direction : {Direction::read, Direction::write}) {
      double before = 0;
      for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 2) {
        const double cost = choice_of({direction, 64, 256, bytes}, hints).cost_ns;
        EXPECT_GE(cost, before) << bytes << " bytes";
        before = cost;
      }
      for (std::int64_t block = 4096, cost = 0; block >= 1; block /= 2) {
        const auto now = static_cast<std::int64_t>(
            choice_of({direction, block, 2 * block, 1 << 16}, hints).cost_ns);
        EXPECT_GE(now, cost) << "blocks of " << block;
        cost = now;
      }
    }
}

TEST(Method, sieving_hints_are_obeyed_where_it_is_possible) {
  Hints hints;
  hints.romio_ds_write = Switch::disable;
  EXPECT_NE(choice_of({Direction::write, 8, 16, 4096}, hints).method, Method::sieve);
  EXPECT_EQ(choice_of({Direction::read, 8, 16, 4096}, hints).method, Method::sieve);
  hints.romio_ds_write = Switch::enable;
  EXPECT_EQ(choice_of({Direction::write, 4096, 4096 * 100, 1 << 20}, hints).method, Method::sieve);
  Capabilities no_locks = plain_disk();
  no_locks.locks = false;
  EXPECT_NE(choice_of({Direction::write, 8, 16, 4096}, hints, no_locks).method, Method::sieve);
  Capabilities blind = plain_disk();
  blind.can_read_back = false;
  EXPECT_NE(choice_of({Direction::write, 8, 16, 4096}, hints, blind).method, Method::sieve);
}

TEST(Method, a_write_that_others_do_not_notice_is_sieved_only_on_demand) {
  Capabilities storage = plain_disk();
  storage.guarded = false;
  EXPECT_NE(choice_of({Direction::write, 8, 16, 4096}, {}, storage).method, Method::sieve);
  Hints hints;
  hints.romio_ds_write = Switch::enable;
  EXPECT_EQ(choice_of({Direction::write, 8, 16, 4096}, hints, storage).method, Method::sieve);
  hints.tamis_locks = Switch::disable;
  EXPECT_NE(choice_of({Direction::write, 8, 16, 4096}, hints, storage).method, Method::sieve);
}

Shape pieces(std::int64_t count) {
  return {.bytes = count * 64, .span = count * 96, .file_blocks = count, .memory_blocks = 1};
}

TEST(Method, is_the_one_that_a_hint_asks_for) {
  for (const Direction direction : {Direction::read, Direction::write})
    for (const Method asked : {Method::list, Method::gather, Method::sieve}) {
      Hints hints;
      hints.tamis_method = asked;
      const Choice choice = choose_method(direction, pieces(100), hints, plain_disk());
      EXPECT_EQ(choice.method, asked);
      EXPECT_EQ(choice.hint_refused, nullptr);
    }
}

TEST(Method, asked_for_by_name_is_stronger_than_the_hints_for_sieving) {
  for (const Switch wish : {Switch::enable, Switch::disable})
    for (const Method asked : {Method::list, Method::sieve}) {
      Hints hints;
      hints.romio_ds_read = hints.romio_ds_write = wish;
      hints.tamis_method = asked;
      for (const Direction direction : {Direction::read, Direction::write})
        EXPECT_EQ(choose_method(direction, pieces(100), hints, plain_disk()).method, asked);
    }
}

TEST(Method, that_is_impossible_is_refused_with_a_reason_and_the_cheapest_taken) {
  Capabilities no_locks = plain_disk();
  no_locks.locks = false;
  struct Case {
    Method asked;
    std::int64_t pieces;
    Method taken;
    const char* refused;
  };
  for (const Case& one :
       {Case{Method::direct, 100, Method::list, "there is more than one piece"},
        Case{Method::sieve, 100, Method::list, "the storage refuses byte-range locks"},
        Case{Method::gather, 1, Method::direct, "there is nothing to gather"},
        Case{Method::list, 1, Method::direct, "there is one piece only"},
        Case{Method::sieve, 1, Method::direct, "the access is contiguous in the file"}}) {
    Hints hints;
    hints.tamis_method = one.asked;
    const Choice choice = choose_method(Direction::write, pieces(one.pieces), hints, no_locks);
    EXPECT_EQ(choice.method, one.taken) << one.refused;
    EXPECT_STREQ(choice.hint_refused, one.refused);
  }
}

TEST(Method, sieving_that_other_nodes_must_notice_makes_plain_writes_lock) {
  Capabilities storage = plain_disk();
  storage.guarded = false;
  Hints hints;
  EXPECT_FALSE(locks_plain_writes(hints, storage));
  hints.tamis_method = Method::sieve;
  EXPECT_EQ(choose_method(Direction::write, pieces(100), hints, storage).method, Method::sieve);
  EXPECT_TRUE(locks_plain_writes(hints, storage));
}

TEST(Strategy, tiny_interleaved_pieces_go_in_two_phases) {
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Survey survey = survey_of({direction, 8, 0, 1 << 20}, 4, 4);
    const Strategy strategy = decide(survey, circumstances(4));
    EXPECT_EQ(strategy.route, Route::two_phase) << explain(survey, circumstances(4), strategy);
    EXPECT_EQ(strategy.tiled, direction == Direction::write);
  }
}

TEST(Strategy, large_holes_leave_every_rank_alone) {
  const Survey survey = survey_of({Direction::write, 4096, 0, 1 << 20}, 2, 1000);
  const Strategy strategy = decide(survey, circumstances(2));
  EXPECT_EQ(strategy.route, Route::alone) << explain(survey, circumstances(2), strategy);
}

TEST(Strategy, hints_decide_where_both_ways_are_possible) {
  for (const Switch wish : {Switch::enable, Switch::disable})
    for (const std::int64_t parts : {2, 1000})
      for (const Direction direction : {Direction::read, Direction::write}) {
        Hints hints;
        hints.romio_cb_read = hints.romio_cb_write = wish;
        const Survey survey = survey_of({direction, 64, 0, 1 << 16}, 2, static_cast<int>(parts));
        const Strategy strategy = decide(survey, circumstances(2, hints));
        EXPECT_EQ(strategy.route, wish == Switch::enable ? Route::two_phase : Route::alone);
      }
}

TEST(Strategy, windows_of_a_nearly_empty_region_are_refused_even_to_a_hint) {
  Hints hints;
  hints.romio_cb_read = hints.romio_cb_write = Switch::enable;
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Survey survey = survey_of({direction, 64, 0, 1 << 16}, 2, 100000);
    EXPECT_EQ(decide(survey, circumstances(2, hints)).route, Route::alone);
  }
}

TEST(Strategy, reads_of_little_of_a_region_ask_what_is_wanted) {
  const Circumstances c = circumstances(4);
  EXPECT_TRUE(decide(survey_of({Direction::read, 8, 0, 4096}, 4, 10), c).sparse);
  EXPECT_FALSE(decide(survey_of({Direction::read, 8, 0, 4096}, 4, 5), c).sparse);
  EXPECT_FALSE(decide(survey_of({Direction::write, 8, 0, 4096}, 4, 10), c).sparse);
}

TEST(Strategy, two_phase_is_refused_with_a_reason) {
  Hints hints;
  hints.romio_cb_write = Switch::enable;
  const Survey tiled = survey_of({Direction::write, 8, 0, 4096}, 4, 4, hints);
  const Survey holes = survey_of({Direction::write, 8, 0, 4096}, 4, 5, hints);

  Circumstances c = circumstances(4, hints);
  EXPECT_EQ(decide(tiled, c).route, Route::two_phase);
  EXPECT_EQ(decide(holes, c).route, Route::two_phase);

  Circumstances alone = circumstances(1, hints);
  EXPECT_STREQ(decide(tiled, alone).reason, "there is one rank");
  Circumstances atomic = c;
  atomic.atomic = true;
  EXPECT_EQ(decide(tiled, atomic).route, Route::alone);
  Survey unordered = tiled;
  unordered.ranks_unordered = 1;
  EXPECT_EQ(decide(unordered, c).route, Route::alone);
  Survey mixed = tiled;
  mixed.directions = 3;
  EXPECT_EQ(decide(mixed, c).route, Route::alone);
}

TEST(Strategy, windows_with_holes_go_piece_by_piece_where_they_may_not_be_sieved) {
  Hints hints;
  hints.romio_cb_write = Switch::enable;
  hints.romio_ds_write = Switch::disable;
  const Survey tiled = survey_of({Direction::write, 8, 0, 4096}, 4, 4, hints);
  const Survey holes = survey_of({Direction::write, 8, 0, 4096}, 4, 5, hints);
  const Circumstances c = circumstances(4, hints);
  EXPECT_EQ(decide(holes, c).route, Route::two_phase);
  EXPECT_NE(decide(holes, c).piecewise, nullptr);
  EXPECT_EQ(decide(tiled, c).route, Route::two_phase);
  EXPECT_EQ(decide(tiled, c).piecewise, nullptr);
  // No worse than alone, but no better where all windows have holes.
  hints.romio_cb_write = Switch::automatic;
  EXPECT_EQ(decide(holes, circumstances(4, hints)).route, Route::alone);
}

TEST(Strategy, each_obstacle_to_filling_holes_has_a_reason_of_its_own) {
  Hints hints;
  hints.romio_cb_write = Switch::enable;
  Survey holes = survey_of({Direction::write, 8, 0, 4096}, 4, 5, hints);
  struct Case {
    std::int32_t obstacles;
    const char* words;
  };
  for (const Case& one : {Case{kNotReadable | kNoLocks, "cannot be read back"},
                          Case{kNoLocks | kOthersRewrite, "gives no locks"},
                          Case{kOthersRewrite, "another open of the file"}}) {
    holes.rewrite_obstacles = one.obstacles;
    for (const Switch wish : {Switch::enable, Switch::automatic}) {
      hints.romio_cb_write = wish;
      const Strategy strategy = decide(holes, circumstances(4, hints));
      ASSERT_NE(strategy.piecewise, nullptr);
      EXPECT_NE(std::strstr(strategy.piecewise, one.words), nullptr) << strategy.piecewise;
      if (strategy.route == Route::alone) {
        EXPECT_STREQ(strategy.reason, strategy.piecewise);
      }
    }
  }
}

TEST(Survey, tells_every_obstacle_of_any_rank) {
  const Layout file{strided(8, 16), 0, Layout::kEndless};
  const Layout memory = Layout::contiguous(4096);
  const Access access{
      .direction = Direction::write, .memory = &memory, .file = &file, .bytes = 4096, .error = {}};
  const auto obstacles = [&](Capabilities storage, const Hints& hints) {
    return survey_of(access, 0, News::view, hints, storage).rewrite_obstacles;
  };
  Capabilities lockless = plain_disk();
  lockless.locks = false;
  Capabilities shared = plain_disk();
  shared.may_rewrite = false;
  Hints trusting;
  trusting.tamis_locks = Switch::disable;
  EXPECT_EQ(obstacles(plain_disk(), {}), 0);
  EXPECT_EQ(obstacles(lockless, {}), kNoLocks);
  EXPECT_EQ(obstacles(lockless, trusting), 0);
  EXPECT_EQ(obstacles(shared, {}), kOthersRewrite);
  Survey all = survey_of(access, 0, News::view, {}, shared);
  all.merge(survey_of(access, 1, News::view, {}, lockless));
  EXPECT_EQ(all.rewrite_obstacles, kNoLocks | kOthersRewrite);
}

/// Four ranks with one piece each, side by side.
Survey side_by_side(Direction direction, std::int64_t bytes) {
  return survey_of({direction, bytes, 0, bytes}, 4, 4);
}

Circumstances four_aggregators(const Hints& hints = {}) {
  Circumstances c = circumstances(4, hints);
  c.aggregators = {0, 1, 2, 3};
  c.cores = 4;
  return c;
}

TEST(Strategy, a_small_part_of_the_file_has_one_aggregator) {
  Hints hints;
  hints.romio_cb_read = hints.romio_cb_write = Switch::enable;
  for (const Direction direction : {Direction::read, Direction::write}) {
    const Survey survey = side_by_side(direction, 4096);
    EXPECT_EQ(decide(survey, four_aggregators(hints)).realms.count(), 1);
    EXPECT_EQ(decide(side_by_side(direction, 16 << 20), four_aggregators(hints)).realms.count(), 4);
  }
}

TEST(Strategy, as_many_aggregators_as_are_asked_for_serve_a_small_part_too) {
  const Survey survey = side_by_side(Direction::write, 4096);
  Hints by_number;
  by_number.romio_cb_write = Switch::enable;
  by_number.cb_nodes = 4;
  EXPECT_EQ(decide(survey, four_aggregators(by_number)).realms.count(), 4);
  Hints by_size;
  by_size.romio_cb_write = Switch::enable;
  by_size.romio_min_fdomain_size = 8192;
  EXPECT_EQ(decide(survey, four_aggregators(by_size)).realms.count(), 2);
  Hints between_nodes;
  between_nodes.romio_cb_write = Switch::enable;
  Circumstances nodes = four_aggregators(between_nodes);
  settle(nodes, 2);
  EXPECT_EQ(decide(survey, nodes).realms.count(), 4);
}

TEST(Strategy, every_window_of_every_realm_costs_a_request) {
  Hints hints;
  hints.cb_nodes = 4;
  const Strategy strategy = decide(side_by_side(Direction::write, 4096), four_aggregators(hints));
  EXPECT_GT(strategy.two_phase_ns, 4 * plain_disk().write_ns);
  EXPECT_EQ(strategy.route, Route::alone);
}

TEST(Strategy, fewer_aggregators_are_never_dearer_than_all) {
  oracle::for_seeds(300, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Pattern pattern{oracle::draw(rng, 0, 1) == 0 ? Direction::read : Direction::write,
                          oracle::draw(rng, 1, 9000), 0, oracle::draw(rng, 1, 1 << 20)};
    const Survey survey = survey_of(pattern, 4, 4 + static_cast<int>(oracle::draw(rng, 0, 1)));
    Hints all;
    all.cb_nodes = 4;
    const double cheapest = decide(survey, four_aggregators()).two_phase_ns;
    EXPECT_LE(cheapest, decide(survey, four_aggregators(all)).two_phase_ns);
  });
}

TEST(Strategy, pieces_are_called_small_where_there_are_more_than_ranks) {
  Circumstances dear = four_aggregators();
  dear.storage.write_ns = 1e6;
  const auto reason = [&](const Survey& survey) {
    const Strategy strategy = decide(survey, dear);
    EXPECT_EQ(strategy.route, Route::two_phase);
    return std::string(strategy.reason);
  };
  Survey few = side_by_side(Direction::write, 4096);
  few.alone_ns = 4e6;
  EXPECT_EQ(reason(few), "one window takes the place of several ranks' requests");
  Survey many = survey_of({Direction::write, 8, 0, 4096}, 4, 4);
  many.alone_ns = 4e9;
  EXPECT_EQ(reason(many), "small pieces of many ranks make large windows");
}

// Deciding is part of every collective access.
static_assert(std::is_trivially_copyable_v<Strategy>);

TEST(Strategy, always_has_a_reason) {
  oracle::for_seeds(300, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const int ranks = static_cast<int>(oracle::draw(rng, 1, 5));
    const Pattern pattern{oracle::draw(rng, 0, 1) == 0 ? Direction::read : Direction::write,
                          oracle::draw(rng, 1, 9000), 0, oracle::draw(rng, 0, 3) * 10000};
    const Survey survey =
        survey_of(pattern, ranks, ranks + static_cast<int>(oracle::draw(rng, 0, 3)));
    const Strategy strategy = decide(survey, circumstances(ranks));
    ASSERT_NE(strategy.reason, nullptr);
    EXPECT_GT(std::strlen(strategy.reason), 0U);
    EXPECT_NE(explain(survey, circumstances(ranks), strategy).find(strategy.reason),
              std::string::npos);
  });
}

TEST(Survey, does_not_depend_on_the_order_of_merging) {
  std::vector<Survey> parts;
  for (int rank = 0; rank < 4; ++rank)
    parts.push_back(survey_of({Direction::write, 8 + rank, 0, 1000 * rank}, rank + 1, 6));
  Survey forwards = parts[0];
  Survey backwards = parts[3];
  for (std::size_t i = 1; i < 4; ++i) {
    forwards.merge(parts[i]);
    backwards.merge(parts[3 - i]);
  }
  EXPECT_EQ(forwards.coverage.balance, backwards.coverage.balance);
  EXPECT_EQ(forwards.coverage.bytes, backwards.coverage.bytes);
  EXPECT_EQ(forwards.alone_ns, backwards.alone_ns);
  EXPECT_EQ(forwards.alone_longest_ns, backwards.alone_longest_ns);
  EXPECT_EQ(forwards.region(), backwards.region());
}

Topology nodes_of(std::initializer_list<std::int64_t> labels) {
  return Topology::from_labels(std::span(labels.begin(), labels.size()));
}
using Ranks = std::vector<std::int32_t>;

TEST(Aggregators, are_as_many_per_node_as_it_has_cores) {
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 0, 0}), {}, 2), (Ranks{0, 1}));
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 0, 1, 1, 2}), {}, 2), (Ranks{0, 1, 3, 4, 5}));
  EXPECT_EQ(choose_aggregators(nodes_of({0}), {}, 64), (Ranks{0}));
}

TEST(Aggregators, are_shared_out_over_nodes_first) {
  Hints hints;
  hints.cb_nodes = 3;
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 0, 1, 1, 1}), hints, 2), (Ranks{0, 1, 3}));
  hints.cb_nodes = 100;
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 1}), hints, 1), (Ranks{0, 1, 2}));
}

TEST(Aggregators, respect_the_limit_per_node) {
  Hints hints;
  hints.cb_config_list = "*:1";
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 1, 1}), hints, 8), (Ranks{0, 2}));
  hints.cb_nodes = 4;
  EXPECT_EQ(choose_aggregators(nodes_of({0, 0, 1, 1}), hints, 8), (Ranks{0, 2}));
}

TEST(Window, all_buffers_together_respect_the_hint) {
  for (const std::int64_t bytes : {6LL, 100LL, 65536LL, 16LL << 20, 1LL << 40}) {
    Hints hints;
    hints.cb_buffer_size = bytes;
    for (const int nodes : {1, 5}) {
      const std::int64_t window = choose_window(hints, nodes);
      ASSERT_GE(window, 1);
      EXPECT_LE(window * (nodes > 1 ? 6 : 2), bytes);
    }
  }
}

}  // namespace
}  // namespace tamis
