#include <gtest/gtest.h>

#include "driver_support.hpp"
#include "drivers/memory/memory.hpp"

namespace tamis::test {
namespace {

TEST(MemoryDriver, capacity_ends_at_exactly_the_byte) {
  MemoryStorage storage({.capacity = 100'000});
  const auto driver = open_or_fail(storage, "file");
  const Outcome outcome = write_text(*driver, 99'990, "0123456789abcdef");
  EXPECT_EQ(outcome.bytes, 10);
  EXPECT_EQ(outcome.status.code, Errc::no_space);
  EXPECT_EQ(outcome.status.offset, 100'000);
  EXPECT_EQ(*driver->size(), 100'000);
  EXPECT_EQ(read_text(*driver, 99'990, 100).text, "0123456789");
}

TEST(MemoryDriver, a_write_beyond_the_capacity_fails_at_its_first_byte) {
  MemoryStorage storage({.capacity = 100});
  const auto driver = open_or_fail(storage, "file");
  const Outcome outcome = write_text(*driver, 500, "x");
  EXPECT_EQ(outcome.bytes, 0);
  EXPECT_EQ(outcome.status.code, Errc::no_space);
  EXPECT_EQ(outcome.status.offset, 500);
  EXPECT_EQ(*driver->size(), 0);
}

TEST(MemoryDriver, capacity_bounds_preallocation_but_not_a_sparse_size) {
  MemoryStorage storage({.capacity = 100});
  const auto driver = open_or_fail(storage, "file");
  EXPECT_EQ(driver->preallocate(101).code, Errc::no_space);
  EXPECT_TRUE(driver->preallocate(100).ok());
  EXPECT_TRUE(driver->resize(1000).ok());
}

TEST(MemoryDriver, a_wait_on_the_only_thread_is_reported_and_not_begun) {
  MemoryStorage storage({.lock_wait = LockWait::refuse});
  const auto one = open_or_fail(storage, "file");
  const auto other = open_or_fail(storage, "file");
  ASSERT_TRUE(one->lock({0, 10}, LockKind::exclusive).ok());
  const Status status = other->lock({9, 1}, LockKind::shared);
  EXPECT_EQ(status.code, Errc::internal);
  EXPECT_NE(status.note, nullptr);
  ASSERT_TRUE(one->unlock({0, 10}).ok());
  EXPECT_TRUE(other->lock({9, 1}, LockKind::shared).ok());
}

TEST(MemoryDriver, files_of_two_storages_are_different_files) {
  MemoryStorage one;
  MemoryStorage other;
  ASSERT_EQ(write_text(*open_or_fail(one, "file"), 0, "x").bytes, 1);
  EXPECT_EQ(other.open("file", {}).status().code, Errc::no_such_file);
}

}  // namespace
}  // namespace tamis::test
