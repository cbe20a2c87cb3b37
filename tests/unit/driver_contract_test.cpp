#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "driver_passing.hpp"
#include "driver_support.hpp"
#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/posix/posix.hpp"
#include "drivers/traced/traced.hpp"

// What driver.hpp promises, asked of every driver, plain and decorated, and of their queues.

namespace tamis::test {
namespace {

/// A storage under test, with whatever it stands on.
class Bench {
 public:
  explicit Bench(const std::string& kind) : injector_(plan_of(kind)) {
    if (kind.find("posix") != std::string::npos) {
      base_ = std::make_unique<PosixStorage>();
      path_ = scratch_.file("file");
    } else {
      base_ = std::make_unique<MemoryStorage>();
      path_ = "file";
    }
    storage_ = base_.get();
    if (kind.starts_with("traced")) top_ = std::make_unique<TracedStorage>(*base_, log_);
    if (kind.find("faulty") != std::string::npos)
      top_ = std::make_unique<FaultyStorage>(*base_, injector_);
    if (top_) storage_ = top_.get();
    if (kind.starts_with("queued")) {
      queued_ = std::make_unique<QueuedStorage>(
          *storage_, kind.starts_with("queued_ring") ? QueueKind::ring : QueueKind::threads);
      storage_ = queued_.get();
    }
  }

  Storage& storage() { return *storage_; }
  const std::string& path() const { return path_; }

 private:
  static FaultPlan plan_of(const std::string& kind) {
    FaultPlan plan{.seed = 1};
    if (kind.find("late") != std::string::npos) plan.late = Lateness{};
    return plan;
  }

  ScratchDirectory scratch_;
  CallLog log_;
  FaultInjector injector_;
  std::unique_ptr<Storage> base_;
  std::unique_ptr<Storage> top_;
  std::unique_ptr<Storage> queued_;
  Storage* storage_ = nullptr;
  std::string path_;
};

class DriverContract : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Driver> open(const OpenMode& mode = kReadWriteCreate) {
    return open_or_fail(bench_.storage(), bench_.path(), mode);
  }
  Errc open_error(const OpenMode& mode) {
    return bench_.storage().open(bench_.path(), mode).status().code;
  }

  Bench bench_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Drivers, DriverContract,
                         ::testing::Values("posix", "memory", "traced_posix", "traced_memory",
                                           "faulty_posix", "faulty_memory", "queued_posix",
                                           "queued_ring_posix", "queued_memory",
                                           "queued_faulty_memory", "queued_late_faulty_memory"),
                         [](const auto& kind) { return kind.param; });

constexpr std::int64_t kSpace = 300'000;  // a few pages of the memory driver

/// Extents of a batch: some anywhere, some touching the one before, some empty.
std::vector<Extent> random_extents() {
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < count; ++i) {
    const bool touches = i > 0 && *rc::gen::inRange(0, 3) != 0;
    const auto offset = touches ? extents.back().end() : *rc::gen::inRange<std::int64_t>(0, kSpace);
    const auto length = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 40),
                                        rc::gen::inRange<std::int64_t>(0, 80'000));
    extents.push_back({offset, length});
  }
  return extents;
}

std::vector<Transfer> transfers_into(const std::vector<Extent>& extents,
                                     std::vector<std::byte>& memory) {
  std::int64_t total = 0;
  for (const Extent& extent : extents) total += extent.length;
  memory.assign(static_cast<std::size_t>(total), std::byte{0xEE});
  std::vector<Transfer> batch;
  std::byte* at = memory.data();
  for (const Extent& extent : extents) {
    batch.push_back({extent, at});
    at += extent.length;
  }
  return batch;
}

void write_randomly(Driver& driver, std::vector<std::byte>& oracle) {
  std::vector<std::byte> memory;
  const std::vector<Transfer> batch = transfers_into(random_extents(), memory);
  auto next = *rc::gen::arbitrary<std::uint32_t>();
  for (std::byte& byte : memory)
    byte = static_cast<std::byte>((next = next * 1664525 + 1013904223) >> 24);
  const Outcome outcome = driver.transfer(Direction::write, batch);
  RC_ASSERT(outcome.status.ok());
  RC_ASSERT(outcome.bytes == static_cast<std::int64_t>(memory.size()));
  for (const Transfer& transfer : batch) {
    if (transfer.file.length == 0) continue;
    const auto end = static_cast<std::size_t>(transfer.file.end());
    if (oracle.size() < end) oracle.resize(end);
    std::copy_n(transfer.memory, transfer.file.length, oracle.begin() + transfer.file.offset);
  }
}

void read_randomly(Driver& driver, const std::vector<std::byte>& oracle) {
  std::vector<std::byte> memory;
  const std::vector<Transfer> batch = transfers_into(random_extents(), memory);
  std::vector<std::byte> expected(memory.size(), std::byte{0xEE});
  std::int64_t moved = 0;
  for (const Transfer& transfer : batch) {
    const Extent there = intersect(transfer.file, {0, static_cast<std::int64_t>(oracle.size())});
    std::copy_n(oracle.begin() + (there.empty() ? 0 : there.offset), there.length,
                expected.begin() + moved);
    moved += there.length;
    if (there.length < transfer.file.length) break;
  }
  const Outcome outcome = driver.transfer(Direction::read, batch);
  RC_ASSERT(outcome.status.ok());
  RC_ASSERT(outcome.bytes == moved);
  RC_ASSERT(memory == expected);
}

void resize_randomly(Driver& driver, std::vector<std::byte>& oracle) {
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, kSpace);
  if (*rc::gen::arbitrary<bool>()) {
    RC_ASSERT(driver.resize(bytes).ok());
    oracle.resize(static_cast<std::size_t>(bytes));
  } else {
    RC_ASSERT(driver.preallocate(bytes).ok());
    oracle.resize(std::max(oracle.size(), static_cast<std::size_t>(bytes)));
  }
}

TEST_P(DriverContract, random_batches_agree_with_a_vector_of_bytes) {
  const bool held = rc::check("batches agree with a vector", [&] {
    const auto writer = open();
    const auto reader = open({.read = true});
    RC_ASSERT(writer->resize(0).ok());
    std::vector<std::byte> oracle;
    const int steps = *rc::gen::inRange(1, 25);
    for (int i = 0; i < steps; ++i) {
      const int kind = *rc::gen::inRange(0, 8);
      if (kind < 4) write_randomly(*writer, oracle);
      if (kind >= 4 && kind < 7) read_randomly(*reader, oracle);
      if (kind == 7) resize_randomly(*writer, oracle);
      RC_ASSERT(*reader->size() == static_cast<std::int64_t>(oracle.size()));
    }
    read_randomly(*writer, oracle);
  });
  EXPECT_TRUE(held);
}

TEST_P(DriverContract, many_touching_extents_exceed_one_system_call) {
  const auto driver = open();
  constexpr std::int64_t kCount = 5000;
  std::vector<std::byte> memory(3 * kCount);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  std::vector<Transfer> batch;
  for (std::int64_t i = 0; i < kCount; ++i) batch.push_back({{3 * i, 3}, memory.data() + 3 * i});
  EXPECT_EQ(driver->transfer(Direction::write, batch).bytes, 3 * kCount);
  std::vector<std::byte> back(memory.size());
  const Transfer whole{{0, 3 * kCount}, back.data()};
  EXPECT_EQ(driver->transfer(Direction::read, {&whole, 1}).bytes, 3 * kCount);
  EXPECT_EQ(back, memory);
}

TEST_P(DriverContract, a_read_past_the_end_is_short_and_ok) {
  const auto driver = open();
  ASSERT_TRUE(write_text(*driver, 0, "0123456789").status.ok());
  const Text tail = read_text(*driver, 7, 100);
  EXPECT_TRUE(tail.outcome.status.ok());
  EXPECT_EQ(tail.text, "789");
  const Text beyond = read_text(*driver, 1000, 5);
  EXPECT_TRUE(beyond.outcome.status.ok());
  EXPECT_EQ(beyond.outcome.bytes, 0);
}

TEST_P(DriverContract, holes_read_as_zeros) {
  const auto driver = open();
  ASSERT_TRUE(write_text(*driver, 200'000, "x").status.ok());
  const Text hole = read_text(*driver, 100'000, 100'001);
  EXPECT_EQ(hole.text, std::string(100'000, '\0') + "x");
}

TEST_P(DriverContract, offsets_of_a_tebibyte_cost_nothing) {
  const auto driver = open();
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  ASSERT_TRUE(write_text(*driver, kFar, "far").status.ok());
  EXPECT_EQ(*driver->size(), kFar + 3);
  EXPECT_EQ(read_text(*driver, kFar - 1, 10).text, std::string(1, '\0') + "far");
}

TEST_P(DriverContract, shrinking_forgets_what_lay_beyond) {
  const auto driver = open();
  ASSERT_TRUE(write_text(*driver, 0, "0123456789").status.ok());
  ASSERT_TRUE(driver->resize(4).ok());
  EXPECT_EQ(*driver->size(), 4);
  ASSERT_TRUE(driver->resize(8).ok());
  EXPECT_EQ(read_text(*driver, 0, 100).text, std::string("0123\0\0\0\0", 8));
}

TEST_P(DriverContract, preallocation_grows_but_neither_shrinks_nor_changes_bytes) {
  const auto driver = open();
  ASSERT_TRUE(write_text(*driver, 0, "0123456789").status.ok());
  ASSERT_TRUE(driver->preallocate(4).ok());
  EXPECT_EQ(*driver->size(), 10);
  ASSERT_TRUE(driver->preallocate(12).ok());
  EXPECT_EQ(read_text(*driver, 0, 100).text, std::string("0123456789\0\0", 12));
  EXPECT_TRUE(driver->preallocate(0).ok());
}

TEST_P(DriverContract, impossible_extents_and_sizes_are_refused) {
  const auto driver = open();
  std::byte byte{};
  for (const Extent& extent : {Extent{-1, 1}, Extent{0, -1}, Extent{INT64_MAX, 1}}) {
    const Transfer transfer{extent, &byte};
    for (const Direction direction : {Direction::read, Direction::write}) {
      EXPECT_EQ(driver->transfer(direction, {&transfer, 1}).status.code, Errc::arg);
    }
    EXPECT_EQ(driver->lock(extent, LockKind::exclusive).code, Errc::arg);
  }
  EXPECT_EQ(driver->resize(-1).code, Errc::arg);
  EXPECT_EQ(driver->preallocate(-1).code, Errc::arg);
}

TEST_P(DriverContract, open_modes_create_exclude_and_miss) {
  EXPECT_EQ(open_error({.read = true}), Errc::no_such_file);
  EXPECT_EQ(open_error({.read = true, .write = true}), Errc::no_such_file);
  OpenMode exclusive = kReadWriteCreate;
  exclusive.exclusive = true;
  EXPECT_EQ(open_error(exclusive), Errc::ok);
  EXPECT_EQ(open_error(exclusive), Errc::file_exists);
  EXPECT_EQ(open_error(kReadWriteCreate), Errc::ok);
  EXPECT_EQ(bench_.storage().open("", kReadWriteCreate).status().code, Errc::bad_file);
}

TEST_P(DriverContract, a_file_opened_for_reading_is_not_changed) {
  ASSERT_TRUE(write_text(*open(), 0, "keep").status.ok());
  const auto driver = open({.read = true});
  const Outcome outcome = write_text(*driver, 0, "lost");
  EXPECT_EQ(outcome.bytes, 0);
  EXPECT_EQ(outcome.status.code, Errc::access);
  EXPECT_EQ(driver->resize(0).code, Errc::access);
  EXPECT_EQ(driver->preallocate(100).code, Errc::access);
  EXPECT_EQ(read_text(*driver, 0, 100).text, "keep");
  EXPECT_TRUE(driver->sync().ok());
}

TEST_P(DriverContract, a_file_opened_for_writing_can_be_read_back) {
  const auto driver = open({.read = false, .write = true, .create = true});
  ASSERT_TRUE(write_text(*driver, 0, "back").status.ok());
  EXPECT_TRUE(driver->capabilities().can_read_back);
  EXPECT_EQ(read_text(*driver, 0, 4).text, "back");
}

TEST_P(DriverContract, bytes_outlive_close_and_go_with_remove) {
  {
    const auto driver = open();
    ASSERT_TRUE(write_text(*driver, 0, "stay").status.ok());
    EXPECT_TRUE(driver->sync().ok());
    EXPECT_TRUE(driver->close().ok());
  }
  EXPECT_EQ(read_text(*open(), 0, 4).text, "stay");
  EXPECT_TRUE(bench_.storage().remove(bench_.path()).ok());
  EXPECT_EQ(bench_.storage().remove(bench_.path()).code, Errc::no_such_file);
  EXPECT_EQ(open_error({.read = true}), Errc::no_such_file);
}

TEST_P(DriverContract, a_removed_file_serves_those_who_have_it_open) {
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(bench_.storage().remove(bench_.path()).ok());
  ASSERT_TRUE(write_text(*one, 0, "ghost").status.ok());
  EXPECT_EQ(read_text(*other, 0, 5).text, "ghost");
}

TEST_P(DriverContract, compatible_locks_do_not_wait) {
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(one->capabilities().locks);
  const RangeLock low(*one, {0, 10}, LockKind::exclusive);
  const RangeLock high(*other, {10, 10}, LockKind::exclusive);
  const RangeLock shared_one(*one, {100, 10}, LockKind::shared);
  const RangeLock shared_other(*other, {105, 10}, LockKind::shared);
  for (const RangeLock* lock : {&low, &high, &shared_one, &shared_other}) {
    EXPECT_TRUE(lock->status().ok()) << lock->status().to_string();
  }
}

TEST_P(DriverContract, empty_locks_hold_nothing_and_unheld_ranges_cannot_be_unlocked) {
  const auto driver = open();
  EXPECT_TRUE(driver->lock({5, 0}, LockKind::exclusive).ok());
  EXPECT_TRUE(driver->unlock({5, 0}).ok());
  EXPECT_TRUE(driver->lock({5, 5}, LockKind::none).ok());
  EXPECT_EQ(driver->unlock({5, 5}).code, Errc::internal);
}

TEST_P(DriverContract, closing_gives_locks_back) {
  const auto one = open();
  ASSERT_TRUE(one->lock({0, 100}, LockKind::exclusive).ok());
  ASSERT_TRUE(one->close().ok());
  const auto other = open();
  EXPECT_TRUE(other->lock({0, 100}, LockKind::exclusive).ok());
}

/// Adds 1 to a number in the file, under the lock.
void increment(Driver& driver, std::atomic<int>& failures) {
  std::uint64_t number = 0;
  const Transfer transfer{{64, sizeof number}, reinterpret_cast<std::byte*>(&number)};
  const RangeLock held(driver, {60, 20}, LockKind::exclusive);
  if (!held.status().ok()) ++failures;
  if (!driver.transfer(Direction::read, {&transfer, 1}).status.ok()) ++failures;
  ++number;
  if (!driver.transfer(Direction::write, {&transfer, 1}).status.ok()) ++failures;
}

TEST_P(DriverContract, exclusive_locks_lose_no_update_between_drivers_and_threads) {
  constexpr int kThreads = 4;  // two on each driver
  constexpr int kRounds = 300;
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(one->resize(128).ok());
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) increment(i % 2 ? *one : *other, failures);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t number = 0;
  const Transfer transfer{{64, sizeof number}, reinterpret_cast<std::byte*>(&number)};
  ASSERT_TRUE(one->transfer(Direction::read, {&transfer, 1}).status.ok());
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(number, std::uint64_t{kThreads * kRounds});
}

TEST_P(DriverContract, a_shared_lock_waits_for_the_exclusive_one) {
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(write_text(*one, 0, "old").status.ok());
  ASSERT_TRUE(one->lock({0, 3}, LockKind::exclusive).ok());
  std::string seen;
  std::atomic<bool> started = false;
  std::thread reader([&] {
    started = true;
    started.notify_one();
    const RangeLock held(*other, {2, 10}, LockKind::shared);
    seen = held.status().ok() ? read_text(*other, 0, 3).text : "refused";
  });
  started.wait(false);
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_TRUE(write_text(*one, 0, "new").status.ok());
  EXPECT_TRUE(one->unlock({0, 3}).ok());
  reader.join();
  EXPECT_EQ(seen, "new");
}

}  // namespace
}  // namespace tamis::test
