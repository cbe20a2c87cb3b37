#include <gtest/gtest.h>

#include "comm/comm.hpp"

namespace tamis {
namespace {

using Ranks = std::vector<std::int32_t>;

Topology nodes_of(std::initializer_list<std::int64_t> labels) {
  return Topology::from_labels(std::span(labels.begin(), labels.size()));
}

TEST(Topology, numbers_nodes_by_their_lowest_rank) {
  const Topology topology = nodes_of({70, 30, 70, 10, 30});
  EXPECT_EQ(topology.node_of, (Ranks{0, 1, 0, 2, 1}));
  EXPECT_EQ(topology.nodes, (std::vector<Ranks>{{0, 2}, {1, 4}, {3}}));
  EXPECT_EQ(topology.local_index(4), 1);
  EXPECT_EQ(topology.local_index(3), 0);
}

TEST(Topology, splits_every_node_and_keeps_neighbours_together) {
  const Topology topology = nodes_of({0, 0, 0, 0, 1, 1}).split(2);
  EXPECT_EQ(topology.nodes, (std::vector<Ranks>{{0, 1}, {2, 3}, {4}, {5}}));
}

TEST(Topology, splits_no_finer_than_ranks) {
  EXPECT_EQ(nodes_of({0, 0, 1}).split(100).node_count(), 3);
  EXPECT_EQ(nodes_of({0, 0, 1}).split(1).node_count(), 2);
  EXPECT_EQ(nodes_of({0, 0, 1}).split(0).node_count(), 2);
}

TEST(Topology, parts_of_a_node_differ_by_one_rank_at_most) {
  for (int ranks = 1; ranks <= 20; ++ranks)
    for (int parts = 2; parts <= 8; ++parts) {
      const std::vector<std::int64_t> labels(static_cast<std::size_t>(ranks), 7);
      const Topology topology = Topology::from_labels(labels).split(parts);
      ASSERT_EQ(topology.node_count(), std::min(ranks, parts));
      std::size_t fewest = labels.size();
      std::size_t most = 0;
      for (const Ranks& node : topology.nodes) {
        fewest = std::min(fewest, node.size());
        most = std::max(most, node.size());
      }
      EXPECT_LE(most - fewest, 1U) << ranks << " ranks in " << parts << " parts";
    }
}

}  // namespace
}  // namespace tamis
