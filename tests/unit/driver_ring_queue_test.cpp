#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <random>
#include <string>
#include <vector>

#include "driver_scripted_calls.hpp"
#include "driver_support.hpp"
#include "driver_traffic.hpp"
#include "drivers/posix/posix.hpp"

namespace tamis::test {
namespace {

constexpr std::size_t kDepth = Traffic::kSlots;

/// What the system does with the ring; the calls carry no context, so it is a global.
struct RingScript {
  int setup_error = 0;
  unsigned missing_features = 0;
  int refused_submits = 0;      ///< the next so many fail with EAGAIN
  int interrupted_submits = 0;  ///< and so many before them with EINTR
};
RingScript ring_script;

int scripted_setup(unsigned entries, io_uring_params* params) {
  if (ring_script.setup_error != 0) return fail(ring_script.setup_error);
  const int ring = SystemCalls::real().ring_setup(entries, params);
  params->features &= ~ring_script.missing_features;
  return ring;
}

int scripted_enter(int ring, unsigned to_submit, unsigned to_complete, unsigned flags) {
  if (to_submit > 0 && ring_script.interrupted_submits-- > 0) return fail(EINTR);
  if (to_submit > 0 && ring_script.refused_submits-- > 0) return fail(EAGAIN);
  return SystemCalls::real().ring_enter(ring, to_submit, to_complete, flags);
}

/// A file "0123456789" and its queue, by io_uring where the machine has it.
class RingQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ring_script = {};
    script = {};
    calls_ = scripted();
    calls_.ring_setup = scripted_setup;
    calls_.ring_enter = scripted_enter;
    storage_ = std::make_unique<PosixStorage>(calls_);
    driver_ = open_or_fail(*storage_, scratch_.file("file"));
    ASSERT_TRUE(write_text(*driver_, 0, "0123456789").status.ok());
  }
  std::unique_ptr<TransferQueue> queue() {
    return std::move(*driver_->queue({.depth = kDepth, .kind = QueueKind::ring}));
  }
  static bool is_missing(const TransferQueue& queue) {
    return std::string(queue.name()) != "io_uring";
  }
  static Outcome move(TransferQueue& queue, Direction direction, std::int64_t offset,
                      std::string& text) {
    const Transfer piece{{offset, static_cast<std::int64_t>(text.size())},
                         reinterpret_cast<std::byte*>(text.data())};
    queue.start(1, direction, {&piece, 1});
    return queue.wait(1);
  }

  ScratchDirectory scratch_;
  SystemCalls calls_ = SystemCalls::real();
  std::unique_ptr<PosixStorage> storage_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(RingQueueTest, where_the_system_forbids_it_threads_do_the_same) {
  for (const int error : {EPERM, ENOSYS, ENOMEM, EMFILE}) {
    ring_script.setup_error = error;
    const auto threads = queue();
    EXPECT_STREQ(threads->name(), "threads");
    std::string text(20, '?');
    EXPECT_EQ(move(*threads, Direction::read, 4, text).bytes, 6);
    EXPECT_EQ(text, "456789??????????????");
  }
}

TEST_F(RingQueueTest, a_ring_that_lacks_what_is_needed_is_given_back) {
  if (is_missing(*queue())) GTEST_SKIP() << "no io_uring here";
  ring_script.missing_features = IORING_FEAT_NODROP;
  const int before = script.closes;
  const auto threads = queue();
  EXPECT_STREQ(threads->name(), "threads");
  EXPECT_EQ(script.closes, before + 1);
}

TEST_F(RingQueueTest, pieces_go_to_the_kernel_and_not_through_plain_calls) {
  const auto ring = queue();
  if (is_missing(*ring)) GTEST_SKIP() << "no io_uring here";
  script.moves.clear();
  std::string text = "abc";
  EXPECT_EQ(move(*ring, Direction::write, 2, text).bytes, 3);
  std::string back(10, '?');
  EXPECT_EQ(move(*ring, Direction::read, 0, back).bytes, 10);
  EXPECT_EQ(back, "01abc56789");
  EXPECT_TRUE(script.moves.empty());
}

TEST_F(RingQueueTest, what_the_kernel_leaves_over_is_moved_by_plain_calls) {
  const auto ring = queue();
  if (is_missing(*ring)) GTEST_SKIP() << "no io_uring here";
  script.moves.clear();
  std::string past_the_end(100, '?');
  const Outcome outcome = move(*ring, Direction::read, 3, past_the_end);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.bytes, 7);
  EXPECT_EQ(past_the_end, "3456789" + std::string(93, '?'));
  EXPECT_FALSE(script.moves.empty()) << "the end has to be met";
  for (const std::int64_t asked : script.moves) EXPECT_EQ(asked, 93);
}

TEST_F(RingQueueTest, errors_are_those_of_the_driver) {
  const auto reader = open_or_fail(*storage_, scratch_.file("file"), {.read = true});
  const auto ring = std::move(*reader->queue({.depth = kDepth, .kind = QueueKind::ring}));
  std::string text = "lost";
  const Outcome refused = move(*ring, Direction::write, 0, text);
  EXPECT_EQ(refused.bytes, 0);
  EXPECT_EQ(refused.status.code, Errc::access);
  const Transfer nowhere{{0, 10}, nullptr};
  ring->start(0, Direction::read, {&nowhere, 1});
  const Outcome fault = ring->wait(0);
  EXPECT_EQ(fault.status.code, Errc::buffer);
  EXPECT_EQ(fault.status.os_error, EFAULT);
  const Transfer impossible{{-1, 1}, reinterpret_cast<std::byte*>(text.data())};
  ring->start(0, Direction::read, {&impossible, 1});
  EXPECT_EQ(ring->wait(0).status.code, Errc::arg);
}

TEST_F(RingQueueTest, a_refused_or_interrupted_submission_loses_nothing) {
  const auto ring = queue();
  for (int refused = 0; refused < 3; ++refused) {
    for (int round = 0; round < 20; ++round) {
      ring_script.refused_submits = refused;
      ring_script.interrupted_submits = round % 3;
      std::string text = std::to_string(1000 + round);
      EXPECT_EQ(move(*ring, Direction::write, 0, text).bytes, 4);
      EXPECT_EQ(read_text(*driver_, 0, 4).text, text);
    }
  }
}

TEST_F(RingQueueTest, its_end_waits_for_what_is_under_way) {
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(driver_->resize(0).ok());
    std::string texts[kDepth] = {std::string(5000, 'a'), std::string(5000, 'b'),
                                 std::string(5000, 'c'), std::string(5000, 'd')};
    {
      const auto ring = queue();
      Transfer pieces[kDepth];
      for (std::size_t slot = 0; slot < kDepth; ++slot) {
        pieces[slot] = {{static_cast<std::int64_t>(slot) * 5000, 5000},
                        reinterpret_cast<std::byte*>(texts[slot].data())};
        ring->start(slot, Direction::write, {&pieces[slot], 1});
      }
    }
    ASSERT_EQ(read_text(*driver_, 0, 20000).text, texts[0] + texts[1] + texts[2] + texts[3]);
  }
}

TEST_F(RingQueueTest, a_forked_child_goes_on_without_the_ring) {
  auto ring = queue();
  std::string text = "before";
  EXPECT_EQ(move(*ring, Direction::write, 0, text).bytes, 6);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string own = "child";
    const bool moved = move(*ring, Direction::write, 100, own).bytes == 5;
    ring.reset();
    _exit(moved ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::string after = "after";
  EXPECT_EQ(move(*ring, Direction::write, 0, after).bytes, 5);
  EXPECT_EQ(read_text(*driver_, 100, 5).text, "child");
}

TEST_F(RingQueueTest, who_sleeps_until_the_bell_rings_misses_nothing) {
  std::atomic<std::uint32_t> rings = 0;
  const Bell bell{[](void* count) {
                    auto& rung = *static_cast<std::atomic<std::uint32_t>*>(count);
                    ++rung;
                    rung.notify_all();
                  },
                  &rings};
  const auto ring =
      std::move(*driver_->queue({.depth = kDepth, .bell = bell, .kind = QueueKind::ring}));
  std::mt19937_64 random(1);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    std::string text(1 + random() % 3000, static_cast<char>('a' + i % 26));
    const auto half = static_cast<std::int64_t>(text.size()) / 2;
    auto* const bytes = reinterpret_cast<std::byte*>(text.data());
    const Transfer halves[] = {
        {{0, half}, bytes}, {{half, static_cast<std::int64_t>(text.size()) - half}, bytes + half}};
    const Transfer whole{{0, static_cast<std::int64_t>(text.size())}, bytes};
    const std::size_t slot = i % kDepth;
    if (i % 4 == 0)
      ring->start(slot, Direction::write, halves);
    else
      ring->start(slot, Direction::write, {&whole, 1});
    rings.wait(i);
    ASSERT_EQ(rings, i + 1);
    const std::optional<Outcome> outcome = ring->finished(slot);
    ASSERT_TRUE(outcome.has_value()) << "rung before it was finished";
    ASSERT_EQ(outcome->bytes, whole.file.length);
    ASSERT_EQ(read_text(*driver_, 0, whole.file.length).text, text);
  }
}

TEST_F(RingQueueTest, random_traffic_agrees_with_a_vector) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_TRUE(driver_->resize(0).ok());
    ASSERT_TRUE(driver_->resize(Traffic::kFileBytes).ok());
    const auto ring = queue();
    Traffic traffic(*ring, seed);
    traffic.run(40);
    ASSERT_TRUE(traffic.errors().empty());
    ASSERT_EQ(read_text(*driver_, 0, Traffic::kFileBytes).text, traffic.content());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tamis::test
