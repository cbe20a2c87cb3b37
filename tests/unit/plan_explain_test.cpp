#include <gtest/gtest.h>

#include "plan/explain.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

Capabilities disk() { return {.name = "disk", .locks = true}; }

std::string alone_text(Direction direction, const Shape& shape, const Hints& hints = {},
                       const Capabilities& storage = disk()) {
  return explain(direction, shape, choose_method(direction, shape, hints, storage), hints, storage);
}

Shape holes() { return {.bytes = 6400, .span = 9600 - 32, .file_blocks = 100, .memory_blocks = 1}; }

/// `block` of every `stride` bytes for each of four ranks, which take turns.
std::string together_text(Direction direction, std::int64_t block, std::int64_t stride,
                          Circumstances plan) {
  constexpr std::int64_t bytes = 1 << 20;
  Survey all;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const Layout file{*Dataloop::resized(0, stride, Dataloop::bytes(block)), rank * block,
                      Layout::kEndless};
    const Layout memory = Layout::contiguous(bytes);
    const Access access{
        .direction = direction, .memory = &memory, .file = &file, .bytes = bytes, .error = {}};
    all.merge(survey_of(access, rank, true, plan.hints, plan.storage));
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
  EXPECT_EQ(alone_text(Direction::read, holes()),
            "read alone: 100 pieces of 64 bytes spread over 9568 bytes of the file, 3168 bytes of "
            "it holes\n"
            "  -> sieve, about 3.37 us: many small pieces with small holes\n"
            "     1 window of at most 4 MiB, holes included: each is read whole, the pieces are "
            "picked out\n"
            "  not list, about 41 us: 100 requests, one for each piece of the file, straight "
            "between the user's memory and the file\n"
            "  not gather, about 42.5 us: all bytes pass through a packed buffer of at most 4 MiB, "
            "100 requests\n"
            "  to change it: romio_ds_read=disable (then list)");
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
      const Choice choice = choose_method(direction, shape, hints, disk());
      return explain(direction, shape, choice, hints, disk(), true);
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
  EXPECT_TRUE(says(together_text(Direction::write, 64, 320, plan), "no hint changes this"));
}

TEST(Explain, together_without_holes) {
  EXPECT_EQ(together_text(Direction::write, 64, 256, four_ranks()),
            "write together: 4 of 4 ranks have 65536 pieces of 64 bytes in 4 MiB of the file from "
            "byte 0 on, without holes\n"
            "  -> two-phase, about 1.21 ms: small pieces of many ranks make large windows\n"
            "     some ranks, the aggregators, move large windows of the file for all ranks;\n"
            "     all ranks' pieces get into these windows through shared memory\n"
            "     2 aggregators, this part of the file cut evenly among them (\"even\" realms):\n"
            "       rank 0: 2 MiB from byte 0 on\n"
            "       rank 2: 2 MiB from byte 2097152 on\n"
            "     2 windows of at most 1 MiB for each aggregator, two of them in flight at a time\n"
            "     no holes, so no window is read first and nothing is locked\n"
            "  not every rank alone, about 6.12 ms: each would move its own pieces\n"
            "  to change it: romio_cb_write=disable (then every rank alone)\n"
            "  to tune it: cb_nodes (how many aggregators), cb_buffer_size (memory of each for its "
            "windows)");
}

TEST(Explain, together_with_the_reason_against_windows) {
  Circumstances plan = four_ranks();
  plan.hints.romio_ds_write = Switch::disable;
  const std::string text = together_text(Direction::write, 64, 320, plan);
  EXPECT_TRUE(says(text, "1023.9 KiB of it holes")) << text;
  EXPECT_TRUE(says(text, "-> every rank alone")) << text;
  EXPECT_TRUE(says(text, "sieving is disabled by hint")) << text;
  EXPECT_TRUE(says(text, "to change it: romio_ds_write=automatic (then two-phase)")) << text;
}

TEST(Explain, nodes_and_messages) {
  Circumstances plan = four_ranks();
  settle(plan, 2);
  const std::string text = together_text(Direction::read, 64, 256, plan);
  EXPECT_TRUE(says(text, "4 of 4 ranks on 2 nodes")) << text;
  EXPECT_TRUE(says(text, "by messages between nodes")) << text;
}

// A hint that is named does what is said of it.
TEST(Explain, hints_it_names_change_the_method) {
  oracle::for_seeds(500, [](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const std::int64_t pieces = oracle::draw(rng, 1, 2000);
    Shape shape{.bytes = pieces * oracle::draw(rng, 1, 5000), .file_blocks = pieces};
    shape.span = shape.bytes + (pieces - 1) * oracle::draw(rng, 0, 5000);
    shape.memory_blocks = oracle::draw(rng, 1, 2000);
    const auto direction = seed % 2 == 0 ? Direction::read : Direction::write;
    Hints hints;
    const Method method = choose_method(direction, shape, hints, disk()).method;
    const std::string text = alone_text(direction, shape);
    for (const char* value : {"enable", "disable"}) {
      const std::string key = direction == Direction::write ? "romio_ds_write" : "romio_ds_read";
      Hints other;
      const HintText hint{key, value};
      ASSERT_TRUE(apply_hints({&hint, 1}, other).empty());
      const bool changes = choose_method(direction, shape, other, disk()).method != method;
      EXPECT_EQ(says(text, key + "=" + value), changes) << text;
    }
  });
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
