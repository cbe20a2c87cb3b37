#include <gtest/gtest.h>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

// Two nodes of two ranks; the first rank of each aggregates.
class Announcements : public ::testing::Test {
 protected:
  Announcements() : crew_({0, 0, 1, 1}) {
    for (const Status& status : crew_.open(kReadWrite | kCreate, {{"romio_cb_write", "enable"},
                                                                  {"cb_config_list", "*:1"},
                                                                  {"cb_nodes", "2"},
                                                                  {"tamis_counters", "enable"}}))
      EXPECT_TRUE(status.ok()) << status.to_string();
  }

  void set_views() {
    for (const Status& status : crew_.each(
             [](File&file, int rank) { return file.set_view(strided_view(rank, 4, 16), {}, {}); }))
      EXPECT_TRUE(status.ok());
  }

  /// Writes 64 bytes of each rank at `etype` of its view; what all ranks announced for it.
  std::int64_t announced_by_write(std::int64_t etype) {
    std::vector<std::vector<std::byte>> bytes;
    for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(64, rank + 1));
    const std::int64_t before = announced();
    for (const Outcome& outcome : crew_.all<Outcome>([&](File&file, int rank) {
           return file.access_all(
               request_at(Direction::write, etype, bytes[static_cast<std::size_t>(rank)]));
         }))
      EXPECT_EQ(outcome.bytes, 64);
    return announced() - before;
  }

  Crew crew_;

 private:
  std::int64_t announced() {
    std::int64_t sum = 0;
    for (int rank = 0; rank < 4; ++rank)
      for (const auto& [way, tally] : crew_.file(rank).recorder()->ways())
        sum += tally.bytes_announced;
    return sum;
  }
};

std::int64_t description_bytes() {
  std::vector<std::byte> text;
  strided_view(0, 4, 16).layout.loop.encode(text);
  return std::ssize(text);
}

TEST_F(Announcements, of_a_repeated_access_are_none) {
  set_views();
  EXPECT_GT(announced_by_write(0), 0);
  EXPECT_EQ(announced_by_write(0), 0);
  EXPECT_EQ(announced_by_write(0), 0);
}

TEST_F(Announcements, of_a_view_that_ranks_of_a_node_share_are_shipped_once_for_the_node) {
  set_views();
  const std::int64_t first = announced_by_write(0);
  const std::int64_t ranges = announced_by_write(64);
  EXPECT_GT(ranges, 0);
  // Each node tells the other node's aggregator.
  EXPECT_EQ(first, ranges + 2 * description_bytes());
}

TEST_F(Announcements, of_a_new_view_are_shipped_again) {
  set_views();
  const std::int64_t first = announced_by_write(0);
  set_views();
  EXPECT_EQ(announced_by_write(0), first);
}

TEST_F(Announcements, follow_where_only_one_rank_has_something_new) {
  set_views();
  static_cast<void>(announced_by_write(0));
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(64, 9));
  for (const Outcome& outcome : crew_.all<Outcome>([&](File&file, int rank) {
         return file.access_all(request_at(Direction::write, rank == 3 ? 64 : 0,
                                           bytes[static_cast<std::size_t>(rank)]));
       }))
    EXPECT_EQ(outcome.bytes, 64);
  const std::vector<std::byte> stored = crew_.stored();
  // Rank 3 wrote its second 64 bytes, not its first ones.
  EXPECT_EQ(stored[48], std::byte{4});
  EXPECT_EQ(stored[256 + 48], std::byte{9});
  EXPECT_EQ(stored[0], std::byte{9});
}

}  // namespace
}  // namespace tamis::sim
