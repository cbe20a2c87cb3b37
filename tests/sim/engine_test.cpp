#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/scenario.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis::sim {
namespace {

/// Runs scenarios from seeds until one is wrong; says how much was done.
void run_scenarios(int count, const ScenarioOptions& options) {
  int operations = 0;
  int faults = 0;
  oracle::for_seeds(count, [&](std::uint64_t seed) {
    Scenario scenario(seed, options);
    const std::string wrong = scenario.run();
    operations += scenario.operations_done();
    faults += scenario.faults_injected();
    ASSERT_TRUE(wrong.empty()) << wrong;
  });
  fmt::print("{} operations, {} faults injected\n", operations, faults);
}

TEST(Engine, random_operations_move_the_right_bytes) {
  run_scenarios(400, {.most_ranks = 8, .operations = 8});
}

TEST(Engine, random_operations_with_many_ranks_move_the_right_bytes) {
  run_scenarios(20, {.most_ranks = 100, .operations = 4});
}

TEST(Engine, a_wrong_argument_on_one_rank_reaches_all_and_loses_nothing) {
  run_scenarios(150, {.most_ranks = 8, .operations = 8, .bad_call_chance = 0.5});
}

TEST(Engine, faults_are_told_to_every_rank_and_nothing_is_lost_silently) {
  run_scenarios(900, {.most_ranks = 8, .operations = 8, .fault_chance = 1});
}

}  // namespace
}  // namespace tamis::sim
