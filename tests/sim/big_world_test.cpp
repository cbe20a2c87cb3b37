#include <gtest/gtest.h>

#include <algorithm>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

/// Where nodes begin anew every `per_node` ranks.
std::vector<std::int64_t> nodes_of(int ranks, int per_node) {
  std::vector<std::int64_t> labels;
  for (int rank = 0; rank < ranks; ++rank) labels.push_back(rank / per_node);
  return labels;
}

/// All ranks write interleaved blocks, read the blocks of their neighbours, and find them right.
void write_and_read_shifted(Crew& crew, std::int64_t parts, const std::vector<HintText>& hints) {
  for (const Status& status : crew.open(kReadWrite | kCreate, hints)) ASSERT_TRUE(status.ok());
  const int ranks = crew.size();
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < ranks; ++rank) bytes.push_back(filled(32, rank % 251));
  const auto move = [&](Direction direction) {
    return crew.all<Outcome>([&](File& file, int rank) {
      return file.access_all(request_at(direction, 0, bytes[static_cast<std::size_t>(rank)]));
    });
  };
  crew.each([&](File& f, int rank) { return f.set_view(strided_view(rank, parts, 8), {}, {}); });
  for (const Outcome& outcome : move(Direction::write)) ASSERT_EQ(outcome.bytes, 32);
  crew.each([&](File& f, int rank) {
    return f.set_view(strided_view((rank + 1) % ranks, parts, 8), {}, {});
  });
  for (const Outcome& outcome : move(Direction::read)) ASSERT_EQ(outcome.bytes, 32);
  for (int rank = 0; rank < ranks; ++rank)
    ASSERT_EQ(bytes[static_cast<std::size_t>(rank)], filled(32, (rank + 1) % ranks % 251));
  for (const Status& status : crew.close()) ASSERT_TRUE(status.ok());
}

const std::vector<HintText> kTwoPhase = {{"romio_cb_write", "enable"},
                                         {"romio_cb_read", "enable"},
                                         {"cb_config_list", "*:1"},
                                         {"cb_buffer_size", "65536"}};

TEST(BigWorld, two_thousand_ranks_on_32_nodes_exchange) {
  Crew crew(nodes_of(2000, 63));
  write_and_read_shifted(crew, 2000, kTwoPhase);
}

TEST(BigWorld, a_thousand_ranks_on_one_node_exchange_around_holes) {
  Crew crew(nodes_of(1000, 1000));
  write_and_read_shifted(crew, 1003, kTwoPhase);
}

TEST(BigWorld, a_failing_disk_is_told_to_every_one_of_a_thousand_ranks) {
  Crew::Plans plans(1);
  plans[0].faults.push_back(
      {.direction = Direction::write, .nth = 1, .code = Errc::no_space, .after_bytes = 100});
  Crew crew(nodes_of(1000, 40), plans);
  for (const Status& status : crew.open(kReadWrite | kCreate, kTwoPhase)) ASSERT_TRUE(status.ok());
  crew.each([&](File& f, int rank) { return f.set_view(strided_view(rank, 1000, 8), {}, {}); });
  auto bytes = filled(32, 5);
  std::int64_t counted = 0;
  for (const Outcome& outcome : crew.all<Outcome>([&](File&file, int) {
         return file.access_all(request_at(Direction::write, 0, bytes));
       })) {
    ASSERT_EQ(outcome.status.code, Errc::no_space);
    counted += outcome.bytes;
  }
  const std::vector<std::byte> stored = crew.stored();
  EXPECT_LE(counted, std::count(stored.begin(), stored.end(), std::byte{5}));
  crew.close();
}

}  // namespace
}  // namespace tamis::sim
