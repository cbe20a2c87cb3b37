#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <new>
#include <system_error>
#include <thread>

#include "driver_passing.hpp"
#include "driver_support.hpp"
#include "driver_traffic.hpp"
#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/queue/thread_queue.hpp"
#include "drivers/traced/traced.hpp"

namespace tamis::test {
namespace {

constexpr std::size_t kDepth = Traffic::kSlots;

/// Counts the rings, and lets a thread sleep until there were some.
struct Rings {
  std::atomic<std::uint32_t> count = 0;

  Bell bell() {
    return {[](void* rings) {
              ++static_cast<Rings*>(rings)->count;
              static_cast<Rings*>(rings)->count.notify_all();
            },
            this};
  }
  void await(std::uint32_t wanted) {
    for (std::uint32_t seen = count; seen < wanted; seen = count) count.wait(seen);
  }
};

std::unique_ptr<Driver> hooked(Storage& storage, std::function<void()> hook) {
  return std::make_unique<HookedDriver>(open_or_fail(storage, "file"), std::move(hook));
}

std::thread no_thread(void (*)(void*), void*) {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

/// One piece of a file, its bytes and its entry of a batch.
struct Piece {
  std::string text;
  Transfer transfer;

  Piece(std::int64_t offset, std::string bytes) : text(std::move(bytes)) {
    transfer = {{offset, static_cast<std::int64_t>(text.size())},
                reinterpret_cast<std::byte*>(text.data())};
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  std::span<const Transfer> batch() const { return {&transfer, 1}; }
};

TEST(ThreadQueue, starts_no_thread_before_it_has_something_to_do) {
  MemoryStorage storage;
  const auto driver = open_or_fail(storage, "file");
  ThreadQueue queue(*driver, kDepth, {});
  EXPECT_EQ(queue.threads(), 0U);
  Piece piece(0, "abc");
  for (int i = 0; i < 20; ++i) {
    queue.start(2, Direction::write, piece.batch());
    EXPECT_EQ(queue.wait(2).bytes, 3);
  }
  EXPECT_EQ(queue.threads(), 1U) << "one after the other needs one";
}

TEST(ThreadQueue, as_many_transfers_go_on_at_once_as_it_has_slots) {
  MemoryStorage storage;
  std::barrier<> all_inside(kDepth);
  const auto driver = hooked(storage, [&] { all_inside.arrive_and_wait(); });
  ThreadQueue queue(*driver, kDepth, {});
  Piece piece(0, "abc");
  for (std::size_t slot = 0; slot < kDepth; ++slot)
    queue.start(slot, Direction::write, piece.batch());
  for (std::size_t slot = 0; slot < kDepth; ++slot) EXPECT_EQ(queue.wait(slot).bytes, 3);
  EXPECT_EQ(queue.threads(), kDepth);
}

TEST(ThreadQueue, who_sleeps_until_the_bell_rings_misses_nothing) {
  MemoryStorage storage;
  const auto driver = open_or_fail(storage, "file");
  Rings rings;
  ThreadQueue queue(*driver, kDepth, rings.bell());
  Piece piece(0, "abcdef");
  for (std::uint32_t i = 1; i <= 3000; ++i) {
    const std::size_t slot = i % kDepth;
    queue.start(slot, Direction::write, piece.batch());
    rings.await(i);
    const std::optional<Outcome> outcome = queue.finished(slot);
    ASSERT_TRUE(outcome.has_value()) << "rung before it was finished";
    EXPECT_EQ(outcome->bytes, 6);
  }
  EXPECT_EQ(rings.count, 3000U);
}

TEST(ThreadQueue, a_transfer_under_way_has_no_outcome) {
  MemoryStorage storage;
  std::atomic<bool> may_go_on = false;
  const auto driver = hooked(storage, [&] { may_go_on.wait(false); });
  ThreadQueue queue(*driver, 1, {});
  Piece piece(0, "abc");
  queue.start(0, Direction::write, piece.batch());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(queue.finished(0).has_value());
  may_go_on = true;
  may_go_on.notify_all();
  EXPECT_EQ(queue.wait(0).bytes, 3);
}

TEST(ThreadQueue, its_end_waits_for_what_is_under_way) {
  MemoryStorage storage;
  Piece pieces[] = {{0, "ab"}, {2, "cd"}, {4, "ef"}, {6, "gh"}};
  for (int i = 0; i < 300; ++i) {
    const auto driver = open_or_fail(storage, "file" + std::to_string(i));
    {
      ThreadQueue queue(*driver, 4, {});
      for (std::size_t slot = 0; slot < 4; ++slot)
        queue.start(slot, Direction::write, pieces[slot].batch());
    }
    ASSERT_EQ(read_text(*driver, 0, 100).text, "abcdefgh");
  }
}

TEST(ThreadQueue, without_threads_transfers_are_carried_out_as_they_start) {
  MemoryStorage storage;
  const auto caller = std::this_thread::get_id();
  const auto driver = hooked(storage, [&] { EXPECT_EQ(std::this_thread::get_id(), caller); });
  Rings rings;
  ThreadQueue queue(*driver, kDepth, rings.bell(), no_thread);
  Piece piece(5, "abc");
  queue.start(3, Direction::write, piece.batch());
  EXPECT_EQ(rings.count, 1U);
  const std::optional<Outcome> written = queue.finished(3);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->bytes, 3);
  Piece whole(0, std::string(20, '?'));
  queue.start(0, Direction::read, whole.batch());
  const Outcome read = queue.wait(0);
  EXPECT_TRUE(read.status.ok());
  EXPECT_EQ(read.bytes, 8);
  EXPECT_EQ(whole.text, std::string("\0\0\0\0\0abc????????????", 20));
  EXPECT_EQ(queue.threads(), 0U);
}

TEST(ThreadQueue, the_threads_it_got_carry_out_what_more_would_have) {
  static std::atomic<int> wanted = 0;
  wanted = 0;
  const ThreadStarter only_one = [](void (*body)(void*), void* context) {
    return wanted++ == 0 ? start_quiet_thread(body, context) : no_thread(body, context);
  };
  MemoryStorage storage;
  std::atomic<bool> may_go_on = false;
  const auto driver = hooked(storage, [&] { may_go_on.wait(false); });
  ThreadQueue queue(*driver, kDepth, {}, only_one);
  Piece pieces[] = {{0, "ab"}, {2, "cd"}, {4, "ef"}, {6, "gh"}};
  for (std::size_t slot = 0; slot < kDepth; ++slot)
    queue.start(slot, Direction::write, pieces[slot].batch());
  may_go_on = true;
  may_go_on.notify_all();
  for (std::size_t slot = 0; slot < kDepth; ++slot) EXPECT_EQ(queue.wait(slot).bytes, 2);
  EXPECT_EQ(queue.threads(), 1U);
  EXPECT_EQ(read_text(*driver, 0, 100).text, "abcdefgh");
}

TEST(ThreadQueue, memory_that_runs_out_in_a_thread_is_an_error_of_the_transfer) {
  MemoryStorage storage;
  const auto driver = hooked(storage, [] { throw std::bad_alloc(); });
  ThreadQueue queue(*driver, 1, {});
  Piece piece(0, "abc");
  queue.start(0, Direction::write, piece.batch());
  const Outcome outcome = queue.wait(0);
  EXPECT_EQ(outcome.bytes, 0);
  EXPECT_EQ(outcome.status.code, Errc::no_memory);
}

TEST(ThreadQueue, its_threads_handle_no_signals_and_the_callers_keep_theirs) {
  MemoryStorage storage;
  std::atomic<bool> blocked = false;
  const auto driver = hooked(storage, [&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGALRM) == 1;
  });
  ThreadQueue queue(*driver, 1, {});
  Piece piece(0, "abc");
  queue.start(0, Direction::write, piece.batch());
  EXPECT_EQ(queue.wait(0).bytes, 3);
  EXPECT_TRUE(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

/// What a forked child finds; 0: all as promised.
int child_without_threads(TransferQueue& queue) {
  const std::optional<Outcome> parents = queue.finished(0);
  if (!parents || parents->status.code != Errc::internal) return 1;
  Piece piece(10, "child");
  queue.start(1, Direction::write, piece.batch());
  const std::optional<Outcome> own = queue.finished(1);
  return own && own->status.ok() && own->bytes == 5 ? 0 : 2;
}

TEST(ThreadQueue, a_forked_child_goes_on_without_the_threads) {
  MemoryStorage storage;
  std::atomic<int> entered = 0;
  std::atomic<bool> may_go_on = false;
  const pid_t parent = ::getpid();
  const auto driver = hooked(storage, [&] {
    if (::getpid() != parent) return;
    entered = 1;
    entered.notify_all();
    may_go_on.wait(false);
  });
  auto queue = std::make_unique<ThreadQueue>(*driver, 2, Bell{});
  Piece piece(0, "parent");
  queue->start(0, Direction::write, piece.batch());
  entered.wait(0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int verdict = child_without_threads(*queue);
    queue.reset();  // would wait for ever if it waited for threads
    _exit(verdict);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  may_go_on = true;
  may_go_on.notify_all();
  EXPECT_EQ(queue->wait(0).bytes, 6);
}

/// How queues are made that random tests compare with a vector of bytes.
struct Making {
  const char* name;
  bool late;
  ThreadStarter start_thread;
};
constexpr Making kMakings[] = {{"threads", false, start_quiet_thread},
                               {"refused_threads", false, no_thread},
                               {"late", true, start_quiet_thread}};

class AnyQueue : public ::testing::TestWithParam<Making> {
 protected:
  /// REQUIRES: `driver` and `injector` outlive it.
  static std::unique_ptr<TransferQueue> make(Driver& driver, const Bell& bell) {
    if (GetParam().late) return std::move(*driver.queue({.depth = kDepth, .bell = bell}));
    return std::make_unique<ThreadQueue>(driver, kDepth, bell, GetParam().start_thread);
  }
  static FaultPlan plan(std::uint64_t seed) {
    FaultPlan plan{.seed = seed};
    if (GetParam().late) plan.late = Lateness{.seed = seed};
    return plan;
  }
};

INSTANTIATE_TEST_SUITE_P(Queues, AnyQueue, ::testing::ValuesIn(kMakings),
                         [](const auto& making) { return std::string(making.param.name); });

TEST_P(AnyQueue, random_traffic_with_faults_agrees_with_a_vector_and_loses_no_error) {
  std::size_t faults = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    FaultPlan planned = plan(seed);
    if (seed % 2 == 0)
      planned.faults = {{.probability = 0.2,
                         .code = Errc::no_space,
                         .after_bytes = static_cast<std::int64_t>(seed % 50)}};
    FaultInjector injector(planned);
    MemoryStorage memory;
    CallLog log;
    TracedStorage traced(memory, log);
    FaultyStorage storage(traced, injector);
    const auto driver = open_or_fail(storage, "file");
    ASSERT_TRUE(open_or_fail(memory, "file")->resize(Traffic::kFileBytes).ok());
    Rings rings;
    {
      const auto queue = make(*driver, rings.bell());
      Traffic traffic(*queue, seed);
      traffic.run(30);
      ASSERT_EQ(traffic.errors().size(), injector.injected().size());
      for (const Status& error : traffic.errors()) ASSERT_EQ(error.code, Errc::no_space);
      ASSERT_EQ(log.count(Verb::transfer), 30U);
      ASSERT_EQ(read_text(*open_or_fail(memory, "file"), 0, Traffic::kFileBytes).text,
                traffic.content());
      faults += traffic.errors().size();
    }
    ASSERT_EQ(rings.count, 30U);
    if (HasFailure()) return;
  }
  EXPECT_GT(faults, 4000U);
}

TEST_P(AnyQueue, an_early_end_of_the_file_shortens_reads) {
  FaultInjector injector(plan(7));
  MemoryStorage memory;
  FaultyStorage storage(memory, injector);
  const auto driver = open_or_fail(storage, "file");
  ASSERT_EQ(write_text(*driver, 0, "0123456789").bytes, 10);
  const auto queue = make(*driver, {});
  Piece first(4, "????");
  Piece second(8, "????");
  Piece third(12, "????");
  const Transfer batch[] = {first.transfer, second.transfer, third.transfer};
  queue->start(1, Direction::read, batch);
  const Outcome outcome = queue->wait(1);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.bytes, 6);
  EXPECT_EQ(first.text + second.text + third.text, "456789??????");
}

/// The order in which a late queue finishes four writes, as slots.
std::string order_of(std::uint64_t seed) {
  MemoryStorage memory;
  FaultInjector injector({.late = Lateness{.seed = seed}});
  FaultyStorage storage(memory, injector);
  const auto driver = open_or_fail(storage, "file");
  const auto queue = std::move(*driver->queue({.depth = kDepth}));
  Piece pieces[] = {{0, "a"}, {1, "b"}, {2, "c"}, {3, "d"}};
  for (std::size_t slot = 0; slot < kDepth; ++slot)
    queue->start(slot, Direction::write, pieces[slot].batch());
  std::string order;
  while (order.size() < kDepth) {
    for (std::size_t slot = 0; slot < kDepth; ++slot) {
      const char letter = pieces[slot].text[0];
      if (order.find(letter) == std::string::npos && queue->finished(slot)) order += letter;
    }
  }
  return order;
}

TEST(LateQueue, the_order_of_the_ends_is_the_seeds) {
  std::vector<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    orders.push_back(order_of(seed));
    ASSERT_EQ(orders.back(), order_of(seed)) << seed;
  }
  std::ranges::sort(orders);
  const auto rest = std::ranges::unique(orders);
  EXPECT_GT(std::distance(orders.begin(), rest.begin()), 20) << "of 24 there are";
}

TEST(LateQueue, bytes_move_at_the_start_or_only_at_the_end) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    MemoryStorage memory;
    FaultInjector injector({.late = Lateness{.seed = seed}});
    FaultyStorage storage(memory, injector);
    const auto driver = open_or_fail(storage, "file");
    const auto queue = std::move(*driver->queue({.depth = 1}));
    Piece piece(0, "abc");
    queue->start(0, Direction::write, piece.batch());
    early += *driver->size() == 3 ? 1 : 0;
    EXPECT_EQ(queue->wait(0).bytes, 3);
    EXPECT_EQ(read_text(*driver, 0, 10).text, "abc");
  }
  EXPECT_GT(early, 20);
  EXPECT_LT(early, 180);
}

}  // namespace
}  // namespace tamis::test
