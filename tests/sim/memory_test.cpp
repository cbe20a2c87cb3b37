#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/frames.hpp"
#include "sim/crew.hpp"
#include "sim/memory_failure.hpp"

namespace tamis::sim {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kRanks = 4;
constexpr std::size_t kBlocks = 40;
constexpr std::size_t kBlock = 8;

/// The collective calls in which memory runs out, in the order they are made.
enum class Step { open, view, hints, write, read, end };

/// Where memory runs out.
struct Shortage {
  std::vector<std::int64_t> nodes;
  std::string two_phase;  // the hint: enable or disable
  int victim;
  bool for_good;  // or once
  Step step;
  int nth;
};

/// Every (ranks + 1)-th block is a rank's; one of each group is nobody's. Where there is `detail`
/// the description of the view is as long as the list of its blocks.
View view_of(int rank, bool detail) {
  const std::int64_t group = (kRanks + 1) * kBlock;
  if (!detail) return strided_view(rank, kRanks + 1, kBlock);
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < 600; ++i) {  // blocks in two parts, of changing lengths
    const std::int64_t cut = 1 + i % 7;
    lengths.insert(lengths.end(), {cut, static_cast<std::int64_t>(kBlock) - cut});
    starts.insert(starts.end(), {i * group, i * group + cut});
  }
  starts.back() += 1;  // and a last one that is apart, so that it is no vector of blocks
  return {{*Dataloop::indexed(lengths, starts, Dataloop::bytes(1)),
           rank * static_cast<std::int64_t>(kBlock), Layout::kEndless}};
}

/// One run: a file is opened, written and read by all ranks, while one of them meets the shortage.
class Run {
 public:
  Run(Shortage shortage, bool detail)
      : at_(std::move(shortage)), detail_(detail), crew_(at_.nodes) {
    crew_.store(before_);
  }

  /// False once the shortage was not met any more.
  bool carry_out() {
    for (int step = 0; step < static_cast<int>(Step::end) && !testing::Test::HasFailure(); ++step)
      take(static_cast<Step>(step));
    for (const Status& status : crew_.close()) EXPECT_TRUE(status.ok());
    EXPECT_EQ(crew_.open_drivers(), 0);
    EXPECT_EQ(crew_.world().messages_left(), 0U);
    return met_;
  }

 private:
  /// Takes a step, with the shortage where it is due. If that makes it fail it is taken again.
  void take(Step step) {
    if (step == at_.step) {
      const MemoryFailure failure(at_.victim, at_.nth, at_.for_good);
      const std::vector<Status> told = attempt_step(step);
      met_ = failure.refused() > 0;
      if (expect_all_or_none(told)) return;
    }
    for (const Status& status : attempt_step(step)) EXPECT_TRUE(status.ok()) << status.to_string();
  }

  bool expect_all_or_none(const std::vector<Status>& told) {
    for (const Status& status : told) {
      EXPECT_EQ(status.ok(), told.front().ok());
      EXPECT_TRUE(status.ok() || (met_ && status.code == Errc::no_memory)) << status.to_string();
    }
    return told.front().ok();
  }

  std::vector<Status> attempt_step(Step step) {
    switch (step) {
      case Step::open:
        return open();
      case Step::view:
        return crew_.each(
            [&](File& file, int rank) { return file.set_view(view_of(rank, detail_), {}, {}); });
      case Step::hints:
        return crew_.each([&](File& file, int) {
          return file.set_info({{"cb_buffer_size", "2048"}, {"cb_config_list", "*:8"}}, {});
        });
      case Step::write:
        return write();
      case Step::read:
      case Step::end:
        return read();
    }
    return {};
  }

  std::vector<Status> open() {
    std::string hosts = "*:*";  // more than one piece of a broadcast
    for (int i = 0; i < 150; ++i) hosts += fmt::format(",host{}:*", i);
    const std::vector<Status> told =
        crew_.open(kReadWrite | kCreate, {{"romio_cb_write", at_.two_phase},
                                          {"romio_cb_read", at_.two_phase},
                                          {"cb_config_list", hosts}});
    if (!told.front().ok()) {
      EXPECT_EQ(crew_.open_drivers(), 0);
      EXPECT_EQ(crew_.world().segments_alive(), 0);
    }
    return told;
  }

  std::vector<Status> move(Direction direction, std::vector<Bytes>& bytes) {
    std::vector<Status> told;
    for (const Outcome& outcome : crew_.all<Outcome>([&](File&file, int rank) {
           return file.access_all(request_at(direction, 0, bytes[static_cast<std::size_t>(rank)]));
         })) {
      told.push_back(outcome.status);
      EXPECT_LE(outcome.bytes, static_cast<std::int64_t>(kBlocks * kBlock));
      if (outcome.status.ok()) {
        EXPECT_EQ(outcome.bytes, static_cast<std::int64_t>(kBlocks * kBlock));
      }
    }
    return told;
  }

  std::vector<Status> write() {
    std::vector<Bytes> bytes;
    for (int rank = 0; rank < kRanks; ++rank) bytes.push_back(filled(kBlocks * kBlock, rank));
    std::vector<Status> told = move(Direction::write, bytes);
    const Bytes stored = crew_.stored();
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const std::size_t part = i / kBlock % (kRanks + 1);
      const bool theirs = part < kRanks && i / kBlock / (kRanks + 1) < kBlocks;
      const bool is_new = theirs && stored[i] == static_cast<std::byte>(part);
      const bool may_be_old = !theirs || !told.front().ok();
      EXPECT_TRUE(is_new || (may_be_old && stored[i] == before_[i])) << "byte " << i;
    }
    return told;
  }

  std::vector<Status> read() {
    std::vector<Bytes> bytes(kRanks, filled(kBlocks * kBlock, 77));
    std::vector<Status> told = move(Direction::read, bytes);
    for (int rank = 0; rank < kRanks && told.front().ok(); ++rank)
      EXPECT_EQ(bytes[static_cast<std::size_t>(rank)], filled(kBlocks * kBlock, rank));
    return told;
  }

  Shortage at_;
  bool detail_;
  Bytes before_ = filled(kBlocks * kBlock * (kRanks + 1), 99);
  Crew crew_;
  bool met_ = false;
};

/// Memory runs out at the first request of a step, at the second, and so on, until none is left.
void run_out_of_memory(const std::vector<std::int64_t>& nodes, bool detail,
                       const char* two_phase = "enable") {
  int shortages = 0;
  for (int step = 0; step < static_cast<int>(Step::end); ++step)
    for (const int victim : {0, 1, 2})
      for (const bool for_good : {false, true})
        for (int nth = 0;; ++nth) {
          SCOPED_TRACE(fmt::format("step {}, rank {}, request {}{}", step, victim, nth,
                                   for_good ? " and all later ones" : ""));
          Run run({nodes, two_phase, victim, for_good, static_cast<Step>(step), nth}, detail);
          const bool met = run.carry_out();
          ASSERT_FALSE(testing::Test::HasFailure());
          if (!met) break;
          ++shortages;
        }
  EXPECT_GT(shortages, 100);
}

TEST(Memory, that_runs_out_on_one_of_the_ranks_of_a_node_is_told_to_all_or_does_no_harm) {
  run_out_of_memory({0, 0, 0, 0}, false);
}

TEST(Memory, that_runs_out_on_one_of_several_nodes_is_told_to_all_or_does_no_harm) {
  run_out_of_memory({0, 1, 1, 0}, false);
}

TEST(Memory, that_runs_out_while_long_views_are_announced_is_told_to_all_or_does_no_harm) {
  run_out_of_memory({0, 1, 2, 2}, true);
}

TEST(Memory, that_runs_out_while_ranks_move_their_own_bytes_is_told_to_all_or_does_no_harm) {
  run_out_of_memory({0, 1, 1, 0}, false, "disable");
}

// Frames of tasks come from the reserve then, and go back to it.
TEST(Memory, reserve_for_frames_is_limited_and_used_again) {
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> frames(kReservedFrames + 1);
    const Acting rank(0);
    {
      const MemoryFailure failure(0, 0, true);
      for (int i = 0; i < kReservedFrames; ++i)
        frames[static_cast<std::size_t>(i)] = take_frame(kReservedFrameBytes);
      EXPECT_THROW(take_frame(1), std::bad_alloc);
      give_frame_back(frames[7]);
      EXPECT_THROW(take_frame(kReservedFrameBytes + 1), std::bad_alloc);
      EXPECT_EQ(take_frame(100), frames[7]);
    }
    frames.back() = take_frame(100);
    for (void* frame : frames) give_frame_back(frame);
  }
}

}  // namespace
}  // namespace tamis::sim
