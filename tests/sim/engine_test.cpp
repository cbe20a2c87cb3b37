#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/scenario.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis::sim {
namespace {

struct Totals {
  int operations = 0;
  int faults = 0;
  int rival_writes = 0;
  Tally in_windows;
};

/// Says at the end of the run how much was done.
class Random : public testing::Test {
 protected:
  static void TearDownTestSuite() {
    fmt::print("in all {} operations, {} faults injected, {} bytes written by a rival\n",
               totals_.operations, totals_.faults, totals_.rival_writes);
    fmt::print("of {} windows that were counted {} went piece by piece, {} were rewritten\n",
               totals_.in_windows.windows, totals_.in_windows.windows_listed,
               totals_.in_windows.rewrites);
  }

  /// Runs scenarios from seeds until one is wrong.
  static void run(int count, const ScenarioOptions& options) {
    oracle::for_seeds(count, [&](std::uint64_t seed) {
      Scenario scenario(seed, options);
      const std::string wrong = scenario.run();
      totals_.operations += scenario.operations_done();
      totals_.faults += scenario.faults_injected();
      totals_.rival_writes += scenario.rival_writes();
      totals_.in_windows.add(scenario.in_windows());
      ASSERT_TRUE(wrong.empty()) << wrong;
    });
  }

  static inline Totals totals_;
};

TEST_F(Random, operations_move_the_right_bytes) { run(500, {.most_ranks = 8}); }

TEST_F(Random, operations_of_many_ranks_move_the_right_bytes) {
  run(20, {.least_ranks = 50, .most_ranks = 100, .operations = 4});
}

TEST_F(Random, wrong_arguments_on_some_ranks_reach_all_and_lose_nothing) {
  run(250, {.most_ranks = 8, .bad_call_chance = 0.5});
}

TEST_F(Random, faults_are_told_to_every_rank_and_nothing_is_lost_silently) {
  run(900, {.most_ranks = 8, .fault_chance = 1});
}

TEST_F(Random, reads_that_end_early_count_what_is_there) {
  run(150, {.most_ranks = 8, .short_reads = 0.2});
}

TEST_F(Random, a_full_disk_is_told_to_every_rank_with_true_counts) {
  run(200, {.most_ranks = 8, .capacity = 2500});
}

TEST_F(Random, windows_of_clustered_accesses_go_their_ways) {
  run(200, {.most_ranks = 6, .clustered = true});
}

TEST_F(Random, faults_of_lists_and_windows_are_told_with_true_counts) {
  run(400, {.most_ranks = 6, .fault_chance = 1, .clustered = true});
  run(100, {.most_ranks = 6, .clustered = true, .short_reads = 0.2});
  run(100, {.most_ranks = 6, .clustered = true, .capacity = 1500});
}

TEST_F(Random, faults_and_wrong_arguments_come_together) {
  run(200, {.most_ranks = 8, .fault_chance = 0.7, .bad_call_chance = 0.3});
}

}  // namespace
}  // namespace tamis::sim
