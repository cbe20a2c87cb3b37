#include <gtest/gtest.h>

#include "plan/cost.hpp"
#include "plan/strategy.hpp"

namespace tamis {
namespace {

Capabilities storage(double operation_ns, double byte_ns) {
  Capabilities made;
  made.read_ns = operation_ns;
  made.write_ns = operation_ns;
  made.lock_ns = operation_ns;
  made.byte_ns = byte_ns;
  return made;
}

TEST(OwnWindow, stays_in_cache_where_requests_are_cheap) {
  Hints hints;
  hints.ind_rd_buffer_size = 64 << 20;
  EXPECT_EQ(own_window(Direction::read, hints, storage(400, 0.1)), 256 << 10);
}

TEST(OwnWindow, grows_with_the_fixed_costs_of_a_request) {
  Hints hints;
  hints.ind_rd_buffer_size = 64 << 20;
  const std::int64_t local = own_window(Direction::read, hints, storage(400, 0.1));
  const std::int64_t remote = own_window(Direction::read, hints, storage(200e3, 1));
  EXPECT_GT(remote, local);
  EXPECT_GE(static_cast<double>(remote), 32 * 200e3);
}

TEST(OwnWindow, is_never_more_than_the_hint_says) {
  for (const std::int64_t most : {1LL, 1000LL, 4096LL, 100000LL, 1LL << 20}) {
    Hints hints;
    hints.ind_rd_buffer_size = most;
    hints.ind_wr_buffer_size = most;
    for (const Direction direction : {Direction::read, Direction::write})
      for (const double operation_ns : {0.0, 400.0, 1e9})
        EXPECT_LE(own_window(direction, hints, storage(operation_ns, 0.1)), most);
  }
}

// Storage whose bytes cost nothing asks for windows without end.
TEST(OwnWindow, is_the_hint_where_bytes_cost_nothing) {
  Hints hints;
  hints.ind_rd_buffer_size = 5000000;
  EXPECT_EQ(own_window(Direction::read, hints, storage(400, 0)), 5000000);
}

TEST(Costs, only_gathering_works_beside_other_writers) {
  const Shape shape{.bytes = 1 << 20, .span = 1 << 20, .file_blocks = 1, .memory_blocks = 8192};
  EXPECT_GT(apart_ns(Method::gather, shape), 0);
  for (const Method method : {Method::direct, Method::list, Method::sieve})
    EXPECT_EQ(apart_ns(method, shape), 0);
}

// The pieces of a vectored write are handed over 64 at a time.
TEST(Costs, of_a_list_grow_with_the_requests_that_its_entries_take) {
  const Shape shape{.bytes = 6401, .span = 6401, .file_blocks = 1, .memory_blocks = 6401};
  const auto list_ns = [&](double operation_ns) {
    return candidates(Direction::write, shape, Hints(), storage(operation_ns, 0.1))[0].cost_ns;
  };
  EXPECT_NEAR(list_ns(1000) - list_ns(0), 101 * 1000, 1e-3);
}

Survey writers(int ranks, double alone_ns, double apart_ns) {
  Survey survey;
  survey.alone_ns = ranks * alone_ns;
  survey.alone_longest_ns = alone_ns;
  survey.alone_apart_ns = ranks * apart_ns;
  survey.ranks_with_data = ranks;
  survey.file_blocks = ranks;
  survey.memory_blocks = ranks;
  survey.directions = 2;
  survey.coverage = {.bytes = ranks * 4096LL, .balance = {}, .first = 0, .last = ranks * 4096LL};
  return survey;
}

double alone_ns(const Survey& survey, int cores) {
  Circumstances c;
  c.ranks = survey.ranks_with_data;
  c.cores = cores;
  return decide(survey, c).alone_ns;
}

TEST(Strategy, writers_take_turns_at_the_file_but_not_in_their_memory) {
  EXPECT_EQ(alone_ns(writers(4, 100, 0), 4), 400);    // all of it in turn
  EXPECT_EQ(alone_ns(writers(4, 100, 60), 4), 160);   // 40 of each in turn
  EXPECT_EQ(alone_ns(writers(4, 100, 60), 2), 200);   // but there are two cores only
  EXPECT_EQ(alone_ns(writers(4, 100, 100), 8), 100);  // nobody is faster than one alone
}

}  // namespace
}  // namespace tamis
