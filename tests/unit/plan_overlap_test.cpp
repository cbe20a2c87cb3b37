#include <gtest/gtest.h>

#include <string>

#include "drivers/posix/built_in_costs.hpp"
#include "plan/overlap.hpp"

namespace tamis::test {
namespace {

Capabilities storage_called(std::string_view name) {
  const FileSystemCosts& costs = *built_in_costs(name);
  Capabilities storage;
  storage.read_ns = costs.read_ns;
  storage.write_ns = costs.write_ns;
  storage.byte_ns = costs.byte_ns;
  return storage;
}

TEST(Overlap, a_hint_is_stronger_than_anything_else) {
  const Capabilities fast = storage_called("tmpfs");
  const Capabilities slow = storage_called("nfs");
  EXPECT_TRUE(choose_overlap(AsyncKind::enable, fast).beside);
  EXPECT_FALSE(choose_overlap(AsyncKind::disable, slow).beside);
  EXPECT_STREQ(choose_overlap(AsyncKind::disable, slow).reason, "tamis_async=disable");
  const Overlap ring = choose_overlap(AsyncKind::io_uring, fast);
  EXPECT_TRUE(ring.beside);
  EXPECT_EQ(ring.queue, QueueKind::ring);
}

TEST(Overlap, the_kernels_queue_is_taken_only_where_it_is_asked_for) {
  for (const char* name : {"nfs", "ext4"})
    EXPECT_EQ(choose_overlap(std::nullopt, storage_called(name)).queue, QueueKind::threads);
  EXPECT_EQ(choose_overlap(AsyncKind::enable, storage_called("nfs")).queue, QueueKind::threads);
}

TEST(Overlap, ranks_do_not_wait_for_network_storage) {
  for (const char* name : {"nfs", "lustre", "gpfs"})
    EXPECT_TRUE(choose_overlap(std::nullopt, storage_called(name)).beside) << name;
}

TEST(Overlap, storage_as_fast_as_memory_is_not_worth_a_thread) {
  for (const char* name : {"tmpfs", "ext4", "xfs", "other"})
    EXPECT_FALSE(choose_overlap(std::nullopt, storage_called(name)).beside) << name;
}

TEST(Overlap, a_measured_slow_disk_counts_as_slow) {
  Capabilities disk = storage_called("ext4");
  disk.byte_ns = 5;
  EXPECT_TRUE(choose_overlap(std::nullopt, disk).beside);
  disk = storage_called("ext4");
  disk.read_ns = 100e3;
  EXPECT_TRUE(choose_overlap(std::nullopt, disk).beside);
}

}  // namespace
}  // namespace tamis::test
