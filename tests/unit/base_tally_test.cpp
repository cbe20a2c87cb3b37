#include <gtest/gtest.h>

#include "base/tally.hpp"

namespace tamis {
namespace {

TEST(Tally, sorts_requests_by_size) {
  Tally tally;
  for (const std::int64_t bytes : {1, 15, 16, 31, 32, 4096, 1 << 19, 1 << 20, 1 << 30})
    tally.count_request(Direction::write, bytes, bytes);
  EXPECT_EQ(tally.sizes(Direction::write)[0], 2);
  EXPECT_EQ(tally.sizes(Direction::write)[1], 2);
  EXPECT_EQ(tally.sizes(Direction::write)[2], 1);
  EXPECT_EQ(tally.sizes(Direction::write)[9], 1);   // of 4 KiB to 8 KiB
  EXPECT_EQ(tally.sizes(Direction::write)[16], 1);  // of 512 KiB to 1 MiB
  EXPECT_EQ(tally.sizes(Direction::write)[17], 2);
  tally.count_request(Direction::read, 4096, 100);  // by what was asked for
  EXPECT_EQ(tally.sizes(Direction::read)[9], 1);
  EXPECT_EQ(tally.sizes(Direction::write)[9], 1);
  EXPECT_EQ(tally.bytes_read, 100);
  EXPECT_EQ(tally.writes, 9);
  EXPECT_EQ(tally.reads, 1);
}

TEST(Tally, adds_sums_and_keeps_the_greatest_of_the_rest) {
  Tally one;
  Tally other;
  std::int64_t value = 1;
  for (const TallyField& field : tally_fields()) {
    one.*field.sum = value;
    other.*field.sum = 100 * value;
    ++value;
  }
  one.time(Phase::pack) = 3;
  other.time(Phase::pack) = 4;
  one.slowest_ns = 7;
  other.slowest_ns = 5;
  one.memory = 1;
  other.memory = 2;
  one.add(other);
  value = 1;
  for (const TallyField& field : tally_fields()) EXPECT_EQ(one.*field.sum, 101 * value++);
  EXPECT_EQ(one.time(Phase::pack), 7);
  EXPECT_EQ(one.slowest_ns, 7);
  EXPECT_EQ(one.memory, 2);
}

}  // namespace
}  // namespace tamis
