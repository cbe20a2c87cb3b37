#include <gtest/gtest.h>

#include <cerrno>

#include "driver_support.hpp"
#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/traced/traced.hpp"

namespace tamis::test {
namespace {

/// A traced driver over a faulty one over a file in memory that holds "0123456789".
class Decorated : public ::testing::Test {
 protected:
  Driver& open(FaultPlan plan) {
    injector_ = std::make_unique<FaultInjector>(std::move(plan));
    write_text(*open_or_fail(memory_, "file"), 0, "0123456789");
    faulty_ = std::make_unique<FaultyStorage>(memory_, *injector_);
    traced_ = std::make_unique<TracedStorage>(*faulty_, log_);
    driver_ = open_or_fail(*traced_, "file", {.read = true, .write = true});
    return *driver_;
  }
  std::string content() { return read_text(*open_or_fail(memory_, "file"), 0, 100).text; }

  MemoryStorage memory_;
  CallLog log_;
  std::unique_ptr<FaultInjector> injector_;
  std::unique_ptr<FaultyStorage> faulty_;
  std::unique_ptr<TracedStorage> traced_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(Decorated, the_nth_write_fails_after_the_bytes_that_were_planned) {
  Driver& driver = open({.faults = {{.direction = Direction::write,
                                     .nth = 2,
                                     .code = Errc::no_space,
                                     .os_error = ENOSPC,
                                     .after_bytes = 3}}});
  EXPECT_EQ(write_text(driver, 0, "ab").bytes, 2);
  EXPECT_EQ(read_text(driver, 0, 2).text, "ab");
  std::vector<std::byte> memory = bytes_of("ABCDEF");
  const std::vector<Transfer> batch = {{{4, 2}, memory.data()}, {{8, 4}, memory.data() + 2}};
  const Outcome outcome = driver.transfer(Direction::write, batch);
  EXPECT_EQ(outcome.bytes, 3);
  EXPECT_EQ(outcome.status.code, Errc::no_space);
  EXPECT_EQ(outcome.status.os_error, ENOSPC);
  EXPECT_EQ(outcome.status.offset, 9);
  EXPECT_EQ(content(), "ab23AB67C9");
  EXPECT_EQ(write_text(driver, 0, "01").bytes, 2);

  const std::vector<InjectedFault> injected = injector_->injected();
  ASSERT_EQ(injected.size(), 1U);
  EXPECT_EQ(injected[0].call, 2U);
  EXPECT_EQ(injected[0].moved, 3);
  EXPECT_EQ(injected[0].status.code, Errc::no_space);
}

TEST_F(Decorated, a_failing_transfer_leaves_at_least_one_byte_unmoved) {
  Driver& driver = open({.faults = {{.nth = 1, .after_bytes = 1000}}});
  const Outcome outcome = write_text(driver, 0, "abcd");
  EXPECT_EQ(outcome.bytes, 3);
  EXPECT_EQ(outcome.status.code, Errc::io);
  EXPECT_EQ(outcome.status.offset, 3);
  EXPECT_EQ(content(), "abc3456789");
}

TEST_F(Decorated, a_lasting_fault_stays) {
  Driver& driver =
      open({.faults = {
                {.direction = Direction::write, .nth = 2, .lasting = true, .code = Errc::quota}}});
  EXPECT_TRUE(write_text(driver, 0, "x").status.ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(write_text(driver, 0, "y").status.code, Errc::quota);
}

TEST_F(Decorated, a_planned_early_end_shortens_reads_and_never_writes) {
  Driver& driver =
      open({.faults = {{.nth = 1, .lasting = true, .code = Errc::ok, .after_bytes = 4}}});
  EXPECT_EQ(write_text(driver, 0, "0123456789").bytes, 10);
  const Text read = read_text(driver, 0, 10);
  EXPECT_TRUE(read.outcome.status.ok());
  EXPECT_EQ(read.text, "0123");
}

TEST_F(Decorated, every_verb_can_fail) {
  std::vector<Fault> faults;
  for (const Verb verb : {Verb::sync, Verb::size, Verb::resize, Verb::preallocate, Verb::lock,
                          Verb::unlock, Verb::close, Verb::remove}) {
    faults.push_back({.verb = verb, .nth = 1, .code = Errc::io, .os_error = EIO});
  }
  Driver& driver = open({.faults = faults});
  EXPECT_EQ(driver.sync().code, Errc::io);
  EXPECT_EQ(driver.size().status().code, Errc::io);
  EXPECT_EQ(driver.resize(0).code, Errc::io);
  EXPECT_EQ(driver.preallocate(100).code, Errc::io);
  EXPECT_EQ(driver.lock({0, 5}, LockKind::exclusive).code, Errc::io);
  EXPECT_EQ(content(), "0123456789") << "failed calls did something";
  EXPECT_TRUE(driver.lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_EQ(driver.unlock({0, 5}).code, Errc::io);
  EXPECT_TRUE(open_or_fail(memory_, "file")->lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_EQ(driver.close().code, Errc::io);
  EXPECT_EQ(traced_->remove("file").code, Errc::io);
  EXPECT_EQ(injector_->injected().size(), faults.size());
}

TEST_F(Decorated, opening_can_fail) {
  FaultInjector injector({.faults = {{.verb = Verb::open, .nth = 2, .code = Errc::access}}});
  FaultyStorage storage(memory_, injector);
  EXPECT_TRUE(storage.open("file", kReadWriteCreate).ok());
  EXPECT_EQ(storage.open("file", kReadWriteCreate).status().code, Errc::access);
}

TEST_F(Decorated, refused_locks_and_reads_show_in_the_capabilities) {
  Driver& driver = open({.refuse_locks = true, .refuse_read_back = true});
  EXPECT_FALSE(driver.capabilities().locks);
  EXPECT_FALSE(driver.capabilities().can_read_back);
  EXPECT_EQ(driver.lock({0, 5}, LockKind::shared).code, Errc::unsupported_operation);
  EXPECT_EQ(read_text(driver, 0, 5).outcome.status.code, Errc::access);
}

/// Which of 1000 syncs fail, as a text of 0 and 1.
std::string failures_of(std::uint64_t seed) {
  MemoryStorage memory;
  FaultInjector injector({.seed = seed, .faults = {{.verb = Verb::sync, .probability = 0.25}}});
  FaultyStorage storage(memory, injector);
  const auto driver = open_or_fail(storage, "file");
  std::string failures;
  for (int i = 0; i < 1000; ++i) failures += driver->sync().ok() ? '0' : '1';
  return failures;
}

TEST_F(Decorated, faults_by_probability_repeat_with_the_seed) {
  const std::string one = failures_of(1);
  EXPECT_EQ(one, failures_of(1));
  EXPECT_NE(one, failures_of(2));
  const auto count = std::count(one.begin(), one.end(), '1');
  EXPECT_GT(count, 180);
  EXPECT_LT(count, 320);
}

TEST_F(Decorated, the_trace_tells_every_call_and_its_end) {
  Driver& driver = open({.faults = {{.verb = Verb::sync, .nth = 1}}});
  std::vector<std::byte> memory = bytes_of("abcdef");
  const std::vector<Transfer> batch = {{{8, 4}, memory.data()}, {{2, 2}, memory.data() + 4}};
  EXPECT_EQ(driver.transfer(Direction::write, batch).bytes, 6);
  read_text(driver, 10, 50);
  (void)driver.sync();
  { const RangeLock held(driver, {5, 6}, LockKind::exclusive); }
  (void)driver.resize(3);

  const std::vector<DriverCall> calls = log_.calls();
  ASSERT_EQ(calls.size(), 7U);
  EXPECT_EQ(calls[0].verb, Verb::open);
  EXPECT_EQ(calls[0].path, "file");
  EXPECT_EQ(calls[1].direction, Direction::write);
  EXPECT_EQ(calls[1].extents, 2U);
  EXPECT_EQ(calls[1].range, (Extent{2, 10}));
  EXPECT_EQ(calls[1].asked, 6);
  EXPECT_EQ(calls[1].moved, 6);
  EXPECT_EQ(calls[2].direction, Direction::read);
  EXPECT_EQ(calls[2].asked, 50);
  EXPECT_EQ(calls[2].moved, 2);
  EXPECT_EQ(calls[3].status.code, Errc::io);
  EXPECT_EQ(calls[4].lock, LockKind::exclusive);
  EXPECT_EQ(calls[4].range, (Extent{5, 6}));
  EXPECT_EQ(calls[5].verb, Verb::unlock);
  EXPECT_EQ(calls[6].range, (Extent{0, 3}));
  EXPECT_EQ(log_.count(Verb::transfer), 2U);
}

}  // namespace
}  // namespace tamis::test
