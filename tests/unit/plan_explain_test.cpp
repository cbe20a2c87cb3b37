#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "plan/explain.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

Capabilities disk() { return {.name = "disk", .locks = true}; }

/// A file that `ranks` ranks of one node have open.
Circumstances open_file(const Hints& hints, const Capabilities& storage, int ranks) {
  Circumstances plan{.hints = hints, .storage = storage, .aggregators = {}, .ranks = ranks};
  plan.storage.guarded = ranks == 1 || hints.tamis_locks != Switch::disable;
  return plan;
}

std::string alone_text(Direction direction, const Shape& shape, const Hints& hints = {},
                       const Capabilities& storage = disk(), int ranks = 4) {
  const Circumstances plan = open_file(hints, storage, ranks);
  const Choice choice = choose_method(direction, shape, plan.hints, plan.storage);
  return explain(direction, shape, choice, plan);
}

Shape holes() { return {.bytes = 6400, .span = 9600 - 32, .file_blocks = 100, .memory_blocks = 1}; }

/// `bytes` bytes for each of four ranks, which take turns: `block` of every `stride`.
std::string together_text(Direction direction, std::int64_t block, std::int64_t stride,
                          const Circumstances& plan, std::int64_t bytes = 1 << 20) {
  Survey all;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const Layout file{*Dataloop::resized(0, stride, Dataloop::bytes(block)), rank * block,
                      Layout::kEndless};
    const Layout memory = Layout::contiguous(bytes);
    const Access access{
        .direction = direction, .memory = &memory, .file = &file, .bytes = bytes, .error = {}};
    all.merge(survey_of(access, rank, News::view, plan.hints, plan.storage));
  }
  return explain(all, plan, decide(all, plan));
}

Circumstances four_ranks() {
  Circumstances plan{.hints = {},
                     .storage = disk(),
                     .aggregators = {0, 2},
                     .window_bytes = 1 << 20,
                     .ranks = 4,
                     .cores = 2};
  settle(plan, 1);
  return plan;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Explain, one_piece) {
  EXPECT_EQ(alone_text(Direction::read,
                       {.bytes = 1000, .span = 1000, .file_blocks = 1, .memory_blocks = 1}),
            "read alone: one piece of 1000 bytes\n"
            "  -> direct, about 550 ns: one piece in memory and file\n"
            "     one request, straight between the user's memory and the file\n"
            "  no hint changes this");
}

TEST(Explain, small_holes_read) {
  EXPECT_EQ(
      alone_text(Direction::read, holes()),
      "read alone: 100 pieces of 64 bytes spread over 9568 bytes of the file, 3168 bytes of "
      "it holes\n"
      "  -> sieve, about 2.46 us: many small pieces with small holes\n"
      "     1 window of at most 256 KiB, holes included: each is read whole, the pieces are "
      "picked out\n"
      "  not list, about 41 us: 100 requests, one for each piece of the file, straight "
      "between the user's memory and the file\n"
      "  not gather, about 41.6 us: all bytes pass through a packed buffer of at most 256 KiB, "
      "100 requests\n"
      "  to change it: romio_ds_read=disable or tamis_method=list (then list); "
      "tamis_method=gather (then gather)");
}

TEST(Explain, says_of_a_writer_who_locks_what) {
  const Shape shape = holes();
  EXPECT_TRUE(says(alone_text(Direction::write, shape), "each window is locked meanwhile"));
  Hints trusting;
  trusting.tamis_locks = Switch::disable;
  EXPECT_TRUE(says(alone_text(Direction::write, shape, trusting), "no lock, by the hint"));
  Capabilities lockless = disk();
  lockless.locks = false;
  EXPECT_TRUE(says(alone_text(Direction::write, shape, {}, lockless), "\n     no lock\n"));
  Capabilities shared = disk();
  shared.may_rewrite = false;
  EXPECT_TRUE(says(alone_text(Direction::write, shape, {}, shared), "a lock over it all"));
}

TEST(Explain, atomic_mode_locks_the_access_whatever_else_is_said) {
  Shape shape = holes();
  Hints trusting;
  trusting.tamis_locks = Switch::disable;
  for (const Hints& hints : {Hints{}, trusting}) {
    const auto text = [&](Direction direction) {
      Circumstances plan = open_file(hints, disk(), 1);
      plan.atomic = true;
      const Choice choice = choose_method(direction, shape, plan.hints, plan.storage);
      return explain(direction, shape, choice, plan);
    };
    EXPECT_TRUE(
        says(text(Direction::write), "a lock over it all, from its first byte to its last"));
    EXPECT_FALSE(says(text(Direction::write), "no lock"));
    EXPECT_FALSE(says(text(Direction::write), "each window is locked"));
    EXPECT_TRUE(says(text(Direction::read), "a shared lock over it all"));
    shape.ordered = false;
    EXPECT_TRUE(says(text(Direction::read), "a shared lock over all of the file"));
    shape.ordered = true;
  }
}

TEST(Explain, atomic_mode_keeps_ranks_from_moving_windows) {
  Circumstances plan = four_ranks();
  plan.atomic = true;
  const std::string text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(says(text, "-> every rank alone")) << text;
  EXPECT_TRUE(says(text, "atomic mode: every rank's access must appear whole")) << text;
  EXPECT_TRUE(says(text, "atomic mode off, by MPI_File_set_atomicity (then two-phase)")) << text;
  plan.hints.romio_cb_write = Switch::disable;
  EXPECT_TRUE(says(together_text(Direction::write, 64, 320, plan),
                   "none of the hints romio_cb_write, romio_ds_write, tamis_locks changes this"));
}

TEST(Explain, together_without_holes) {
  EXPECT_EQ(
      together_text(Direction::write, 64, 256, four_ranks()),
      "write together: 4 of 4 ranks have 65536 pieces of 64 bytes in 4 MiB of the file from "
      "byte 0 on, without holes\n"
      "  -> two-phase, about 899 us: small pieces of many ranks make large windows\n"
      "     some ranks, the aggregators, move large windows of the file for all ranks;\n"
      "     all ranks' pieces get into these windows through shared memory\n"
      "     2 aggregators, this part of the file cut evenly among them (\"even\" realms):\n"
      "       rank 0: 2 MiB from byte 0 on\n"
      "       rank 2: 2 MiB from byte 2097152 on\n"
      "     borders at multiples of 4 KiB: blocks of the storage\n"
      "     2 windows of at most 1 MiB for each aggregator, two of them in flight at a time\n"
      "     no holes, so no window is read first and nothing is locked\n"
      "  not every rank alone, about 5.52 ms: each would move its own pieces\n"
      "  to change it: romio_cb_write=disable (then every rank alone)\n"
      "  to tune it: cb_nodes (how many aggregators), tamis_realms (who has which part of the "
      "file), cb_buffer_size (memory of each for its windows)");
}

TEST(Explain, together_with_the_reason_against_windows) {
  Circumstances plan = four_ranks();
  plan.hints.romio_ds_write = Switch::disable;
  const std::string text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(says(text, "1023.9 KiB of it holes")) << text;
  EXPECT_TRUE(says(text, "-> every rank alone")) << text;
  EXPECT_TRUE(says(text, "sieving is disabled by hint")) << text;
  EXPECT_TRUE(says(text, "romio_ds_write=automatic (then two-phase)")) << text;
}

TEST(Explain, how_windows_with_holes_are_moved) {
  Circumstances plan = four_ranks();
  plan.hints.romio_cb_write = Switch::enable;
  std::string text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(
      says(text, "read first, so that the holes keep their bytes, or written piece by piece"))
      << text;
  EXPECT_TRUE(says(text, "whichever costs less: an average one with 10923 pieces takes about"))
      << text;
  plan.hints.romio_ds_write = Switch::enable;
  text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(says(text, "windows with holes are read first, so that the holes keep their bytes;"))
      << text;
  EXPECT_FALSE(says(text, "piece by piece")) << text;
  plan.hints.romio_ds_write = Switch::disable;
  text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(says(text,
                   "ranks write their own pieces of windows with holes, one by one: "
                   "there are holes, and sieving is disabled by hint"))
      << text;
}

TEST(Explain, nodes_and_messages) {
  Circumstances plan = four_ranks();
  settle(plan, 2);
  const std::string text = together_text(Direction::read, 64, 256, plan);
  EXPECT_TRUE(says(text, "4 of 4 ranks on 2 nodes")) << text;
  EXPECT_TRUE(says(text, "by messages between nodes")) << text;
}

struct Named {
  HintText hint;
  std::string outcome;
};

/// "to change it: a=1 or b=2 (then list); ...", taken apart.
std::vector<Named> named_changes(const std::string& text) {
  std::vector<Named> all;
  const std::string head = "to change it: ";
  const std::size_t begin = text.find(head);
  if (begin == std::string::npos) return all;
  std::string line = text.substr(begin + head.size());
  line.resize(std::min(line.find('\n'), line.size()));
  const std::regex group("([^;]+) \\(then ([^)]+)\\)");
  const std::regex hint("(\\w+)=(\\w+)");
  for (std::sregex_iterator one(line.begin(), line.end(), group), end; one != end; ++one) {
    const std::string hints = (*one)[1];
    for (std::sregex_iterator pair(hints.begin(), hints.end(), hint); pair != end; ++pair)
      all.push_back({{(*pair)[1], (*pair)[2]}, (*one)[2]});
  }
  return all;
}

Shape random_shape(std::mt19937_64& rng) {
  const std::int64_t pieces = oracle::draw(rng, 1, 2000);
  Shape shape{.bytes = pieces * oracle::draw(rng, 1, 5000), .file_blocks = pieces};
  shape.span = shape.bytes + (pieces - 1) * oracle::draw(rng, 0, 5000);
  shape.memory_blocks = oracle::draw(rng, 1, 2000);
  return shape;
}

// A hint that is named does what is said of it, and one that is not changes nothing.
TEST(Explain, hints_it_names_change_the_method) {
  oracle::for_seeds(500, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const Shape shape = random_shape(rng);
    const auto direction = seed % 2 == 0 ? Direction::read : Direction::write;
    const std::string text = alone_text(direction, shape);
    const auto outcome = [&](const HintText& hint) {
      Hints hints;
      EXPECT_TRUE(apply_hints({&hint, 1}, hints).empty()) << hint.key << '=' << hint.value;
      const Circumstances plan = open_file(hints, disk(), 4);
      return std::string(name(choose_method(direction, shape, plan.hints, plan.storage).method));
    };
    const std::string taken = outcome({"cb_nodes", "1"});
    const std::vector<Named> changes = named_changes(text);
    for (const Named& one : changes) {
      EXPECT_EQ(outcome(one.hint), one.outcome) << one.hint.key << '=' << one.hint.value << text;
      EXPECT_NE(one.outcome, taken) << text;
    }
    const std::string sieving = direction == Direction::write ? "romio_ds_write" : "romio_ds_read";
    for (const HintText& hint : std::vector<HintText>{{sieving, "enable"},
                                                      {sieving, "disable"},
                                                      {"tamis_method", "list"},
                                                      {"tamis_method", "gather"},
                                                      {"tamis_method", "sieve"}}) {
      const bool named = std::ranges::any_of(changes, [&](const Named& one) {
        return one.hint.key == hint.key && one.hint.value == hint.value;
      });
      EXPECT_EQ(named, outcome(hint) != taken) << hint.key << '=' << hint.value << '\n' << text;
    }
  });
}

TEST(Explain, names_the_promise_that_lets_a_single_rank_sieve_without_locks) {
  Capabilities lockless = disk();
  lockless.locks = lockless.may_rewrite = false;
  const std::string promise = "tamis_locks=disable, your word that nobody else writes the file";
  EXPECT_TRUE(says(alone_text(Direction::write, holes(), {}, lockless, 1), promise));
  EXPECT_FALSE(says(alone_text(Direction::write, holes(), {}, lockless, 4), promise));
}

TEST(Explain, names_the_size_of_a_buffer_that_makes_the_difference) {
  Capabilities slow = disk();
  slow.read_ns = 1e6;
  Hints narrow;
  narrow.ind_rd_buffer_size = 64;
  const std::string text = alone_text(Direction::read, holes(), narrow, slow);
  EXPECT_TRUE(says(text, "-> list")) << text;
  EXPECT_TRUE(says(text, "ind_rd_buffer_size=4k")) << text;
}

TEST(Explain, says_why_the_method_that_a_hint_asks_for_is_not_taken) {
  Hints hints;
  hints.tamis_method = Method::direct;
  const std::string text = alone_text(Direction::read, holes(), hints);
  EXPECT_TRUE(says(text, "-> sieve")) << text;
  EXPECT_TRUE(says(text, "tamis_method=direct cannot be followed: there is more than one piece"))
      << text;
  hints.tamis_method = Method::list;
  EXPECT_TRUE(says(alone_text(Direction::read, holes(), hints),
                   "-> list, about 41 us: asked for by the hint tamis_method"));
}

TEST(Explain, says_what_each_way_would_take_where_costs_decide) {
  const std::string text = together_text(Direction::write, 1 << 20, 4 << 20, four_ranks());
  EXPECT_TRUE(says(text, "-> every rank alone")) << text;
  EXPECT_TRUE(says(text, "windows would be no fewer than the pieces (")) << text;
  EXPECT_TRUE(says(text, " alone against ")) << text;
}

TEST(Explain, says_why_not_all_who_may_aggregate_do) {
  Circumstances plan = four_ranks();
  plan.hints.romio_cb_write = Switch::enable;
  const auto says_so = [&](std::int64_t bytes) {
    return says(together_text(Direction::write, 1024, 4096, plan, bytes),
                "2 ranks may aggregate, but more of them");
  };
  EXPECT_TRUE(says_so(4096));
  EXPECT_FALSE(says_so(1 << 20));
  plan.hints.cb_nodes = 2;
  EXPECT_FALSE(says_so(4096));
}

TEST(Explain, sizes_are_exact_where_they_are_small_and_odd) {
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(1200), "1200 bytes");
  EXPECT_EQ(bytes_text(4096), "4 KiB");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{1} << 62), "4 EiB");
}

}  // namespace
}  // namespace tamis
