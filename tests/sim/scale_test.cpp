#include <gtest/gtest.h>

#include "engine/team.hpp"
#include "sim/fleet.hpp"
#include "sim/papers.hpp"

namespace tamis::sim {
namespace {

const std::vector<HintText> kTwoPhase = {{"romio_cb_write", "enable"},
                                         {"romio_cb_read", "enable"},
                                         {"cb_nodes", "16"},
                                         {"cb_buffer_size", "1048576"}};

const ScaledWorkload& workload(std::string_view name) {
  for (const ScaledWorkload& one : scaled_workloads())
    if (one.name == name) return one;
  throw std::logic_error("no such workload");
}

/// One collective call of a workload at some number of ranks.
Cost cost_of(std::string_view name, int ranks, Direction direction) {
  Fleet fleet(cluster(), ranks);
  const auto part = [&](int rank) { return workload(name).part(rank, ranks, 0); };
  EXPECT_TRUE(fleet.open(kTwoPhase).ok);
  EXPECT_TRUE(fleet.set_view(part).ok);
  fleet.storage().set_size(std::int64_t{1} << 40);
  const Cost cost = fleet.move(direction, part, 0, true);
  EXPECT_TRUE(fleet.close().ok);
  EXPECT_EQ(fleet.world().messages_left(), 0U);
  return cost;
}

TEST(Scale, a_thousand_ranks_move_all_bytes_of_each_workload) {
  for (const ScaledWorkload& one : scaled_workloads()) {
    SCOPED_TRACE(one.name);
    const Cost cost = cost_of(one.name, one.ranks_up_to(1024), Direction::write);
    EXPECT_TRUE(cost.ok);
    EXPECT_GT(cost.ns, 0);
  }
}

TEST(Scale, what_tiles_the_file_is_moved_to_it_once) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    const Cost cost = cost_of("hpio", 1024, direction);
    EXPECT_TRUE(cost.ok);
    EXPECT_EQ(cost.moved, 1024 * workload("hpio").part(0, 1024, 0).bytes);
  }
}

TEST(Scale, the_clock_says_the_same_again) {
  EXPECT_EQ(cost_of("dist3d", 256, Direction::write).ns,
            cost_of("dist3d", 256, Direction::write).ns);
}

TEST(Scale, four_times_the_nodes_cost_a_survey_two_messages_more) {
  const auto survey_messages = [](int ranks) {
    Fleet fleet(cluster(), ranks);
    EXPECT_TRUE(fleet.open(kTwoPhase).ok);
    const auto nothing = [](int) { return Part{Layout::contiguous(Layout::kEndless), 0}; };
    const Cost cost = fleet.move(Direction::write, nothing, 0, true);
    EXPECT_TRUE(cost.ok && fleet.close().ok);
    return cost.most.sent[kTagAgree].messages;
  };
  EXPECT_EQ(survey_messages(256), 2);
  EXPECT_EQ(survey_messages(1024), 4);
  EXPECT_EQ(survey_messages(4096), 6);
}

TEST(Scale, the_same_access_again_ships_no_description) {
  constexpr int kRanks = 256;
  Fleet fleet(cluster(), kRanks);
  const auto part = [](int rank) { return workload("dist3d").part(rank, kRanks, 0); };
  EXPECT_TRUE(fleet.open(kTwoPhase).ok && fleet.set_view(part).ok);
  EXPECT_GT(fleet.move(Direction::write, part, 0, true).most.sent[kTagLoop].messages, 0);
  EXPECT_EQ(fleet.move(Direction::write, part, 0, true).most.sent[kTagLoop].messages, 0);
  EXPECT_TRUE(fleet.close().ok);
}

Task<bool> wait_in_vain(Comm& comm, int from) {
  std::byte byte{};
  Ticket ticket = comm.receive(from, 0, {&byte, 1});
  co_await until([&] { return comm.done(ticket); });
  co_return true;
}

TEST(Scale, ranks_that_wait_for_each_other_are_found_out) {
  ClockedWorld world(2, cluster());
  const auto first = world.comm(0);
  const auto second = world.comm(1);
  std::vector<Task<bool>> tasks;
  tasks.push_back(wait_in_vain(*first, 1));
  tasks.push_back(wait_in_vain(*second, 0));
  std::vector<bool> results;
  EXPECT_FALSE(world.run(std::move(tasks), results));
}

TEST(Scale, who_books_late_but_for_earlier_gets_what_is_free) {
  Calendar calendar(10);
  EXPECT_EQ(calendar.book(100, 25), 125);
  EXPECT_EQ(calendar.book(0, 5), 5);
  EXPECT_EQ(calendar.book(100, 5), 130);
  EXPECT_EQ(calendar.book(50, 60), 140);  // 50 before the others, 10 behind them
}

TEST(Scale, counts_for_all_ranks_cost_the_original_method_more_with_every_rank) {
  const auto description = [](int ranks) {
    const Job job{
        .ranks = ranks, .aggregators = 16, .pieces = 1, .bytes = 1024, .region = 1024LL * ranks};
    return original_two_phase(job, cluster()).description_bytes;
  };
  EXPECT_GT(description(4096) - description(2048), 2048 * 4);
}

}  // namespace
}  // namespace tamis::sim
