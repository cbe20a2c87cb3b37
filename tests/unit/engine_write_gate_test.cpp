#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "drivers/memory/memory.hpp"
#include "engine/write_gate.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kBytes = 64;

/// The words of a node's ranks, and a file every rank has a driver of its own for.
struct Node {
  explicit Node(LockWait wait = LockWait::block) : disk({.lock_wait = wait}) { fill(); }

  MemoryStorage disk;
  WriteGate::Word sievers{0};
  std::array<WriteGate::Word, 4> writing{};
  bool can_lock = true;
  bool always_lock = false;

  void fill() {
    for (WriteGate::Word& word : writing) word = 0;
    std::array<std::byte, kBytes> zeros{};
    const Transfer all{{0, kBytes}, zeros.data()};
    EXPECT_TRUE(open()->transfer(Direction::write, {&all, 1}).status.ok());
  }
  std::unique_ptr<Driver> open() {
    return std::move(*disk.open("file", {.read = true, .write = true, .create = true}));
  }
  WriteGate::Words words(std::size_t rank) {
    return {&sievers, &writing[rank], can_lock, always_lock};
  }
  std::array<WriteGate::Word*, 4> all() {
    return {&writing[0], &writing[1], &writing[2], &writing[3]};
  }
};

/// Writes 1, 2, ... to one byte and looks whether it stays; how often it did not.
int write_plainly(Node& node, std::size_t rank, std::int64_t offset, int rounds) {
  const std::unique_ptr<Driver> driver = node.open();
  int lost = 0;
  for (int round = 0; round < rounds; ++round) {
    auto value = static_cast<std::byte>(round);
    const Transfer one{{offset, 1}, &value};
    {
      WriteGate::Plain plain(node.words(rank), *driver, one.file, {});
      lost += plain.status().ok() ? 0 : 1;
      static_cast<void>(driver->transfer(Direction::write, {&one, 1}));
    }
    auto seen = std::byte{0};
    const Transfer back{{offset, 1}, &seen};
    static_cast<void>(driver->transfer(Direction::read, {&back, 1}));
    lost += seen == static_cast<std::byte>(round) ? 0 : 1;
  }
  return lost;
}

/// Reads the whole file, changes one byte, writes all of it back.
int write_sieving(Node& node, std::size_t rank, std::int64_t offset, int rounds) {
  const std::unique_ptr<Driver> driver = node.open();
  int lost = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<std::byte, kBytes> bytes{};
    const Transfer whole{{0, kBytes}, bytes.data()};
    const auto plain = node.all();
    const WriteGate::Sieving sieving(node.words(rank), plain);
    const RangeLock held(*driver, whole.file, LockKind::exclusive);
    static_cast<void>(driver->transfer(Direction::read, {&whole, 1}));
    lost +=
        round > 0 && bytes[static_cast<std::size_t>(offset)] != static_cast<std::byte>(round - 1);
    bytes[static_cast<std::size_t>(offset)] = static_cast<std::byte>(round);
    static_cast<void>(driver->transfer(Direction::write, {&whole, 1}));
  }
  return lost;
}

TEST(WriteGate, keeps_plain_writes_and_sieving_of_threads_apart) {
  Node node;
  std::atomic<int> lost = 0;
  {
    std::vector<std::jthread> ranks;
    ranks.emplace_back([&] { lost += write_plainly(node, 0, 3, 20000); });
    ranks.emplace_back([&] { lost += write_plainly(node, 1, 40, 20000); });
    ranks.emplace_back([&] { lost += write_sieving(node, 2, 8, 20000); });
    ranks.emplace_back([&] { lost += write_sieving(node, 3, 63, 20000); });
  }
  EXPECT_EQ(lost, 0);
}

TEST(WriteGate, a_plain_write_takes_no_lock_while_nobody_sieves) {
  Node node;
  const std::unique_ptr<Driver> holder = node.open();
  const RangeLock elsewhere(*holder, {0, kBytes}, LockKind::exclusive);
  const std::unique_ptr<Driver> driver = node.open();
  const WriteGate::Plain plain(node.words(0), *driver, {0, 1}, {});  // would wait for ever
  EXPECT_EQ(node.writing[0], 1U);
}

TEST(WriteGate, a_plain_write_is_over_when_it_is_released) {
  Node node;
  const std::unique_ptr<Driver> driver = node.open();
  WriteGate::Plain plain(node.words(0), *driver, {0, 1}, {});
  plain.release();
  EXPECT_EQ(node.writing[0], 0U);
  plain.release();
  EXPECT_EQ(node.writing[0], 0U);
}

TEST(WriteGate, a_plain_write_locks_its_range_while_somebody_sieves_or_always) {
  for (const bool always : {false, true}) {
    Node node(LockWait::refuse);
    node.always_lock = always;
    node.sievers = always ? 0 : 1;
    const std::unique_ptr<Driver> holder = node.open();
    const std::unique_ptr<Driver> driver = node.open();
    {
      const RangeLock elsewhere(*holder, {8, 8}, LockKind::exclusive);
      const WriteGate::Plain refused(node.words(0), *driver, {10, 1}, {});
      EXPECT_FALSE(refused.status().ok());
      const WriteGate::Plain beside(node.words(0), *driver, {16, 1}, {});
      EXPECT_TRUE(beside.status().ok());
    }
    EXPECT_EQ(node.writing[0], 0U);
  }
}

TEST(WriteGate, without_locks_a_plain_write_goes_on) {
  Node node;
  node.can_lock = false;
  node.sievers = 1;
  const std::unique_ptr<Driver> driver = node.open();
  const WriteGate::Plain plain(node.words(0), *driver, {0, 1}, {});
  EXPECT_TRUE(plain.status().ok());
}

}  // namespace
}  // namespace tamis
