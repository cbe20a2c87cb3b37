#include <gtest/gtest.h>

#include "plan/aggregators.hpp"

namespace tamis {
namespace {

using Ranks = std::vector<std::int32_t>;

/// Two ranks on n0.cluster, three on n1.cluster, one on n2.cluster.
Topology cluster() {
  const std::int64_t labels[] = {0, 0, 1, 1, 1, 2};
  Topology topology = Topology::from_labels(labels);
  for (const char* name : {"n0.cluster", "n1.cluster", "n2.cluster"})
    topology.hosts.push_back(HostMark::of(name));
  return topology;
}

Ranks chosen(const std::string& list, int cb_nodes = 0, std::size_t realms = 0) {
  Hints hints;
  hints.cb_config_list = list;
  hints.cb_nodes = cb_nodes;
  return choose_aggregators(cluster(), hints, 2, realms);
}

TEST(ConfigList, the_first_entry_that_names_a_host_is_the_one_for_it) {
  EXPECT_EQ(chosen("*:*"), (Ranks{0, 1, 2, 3, 5}));  // as many as cores
  EXPECT_EQ(chosen("*:1"), (Ranks{0, 2, 5}));
  EXPECT_EQ(chosen("*:8"), (Ranks{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(chosen("n1:3,*:1"), (Ranks{0, 2, 3, 4, 5}));
  EXPECT_EQ(chosen("n1:0,*:1"), (Ranks{0, 5}));
  EXPECT_EQ(chosen("*:1,n1:3"), (Ranks{0, 2, 5}));
}

TEST(ConfigList, a_host_without_a_number_gives_one_rank_and_one_not_named_none) {
  EXPECT_EQ(chosen("n2,n1"), (Ranks{2, 5}));
  EXPECT_EQ(chosen("n0:30,*:0"), (Ranks{0, 1}));
  EXPECT_EQ(chosen("*"), (Ranks{0, 2, 5}));
}

TEST(ConfigList, names_hosts_in_full_or_up_to_the_first_dot) {
  EXPECT_EQ(chosen("n1.cluster"), (Ranks{2}));
  EXPECT_EQ(chosen("n1.clust"), (Ranks{}));
  EXPECT_EQ(chosen("cluster"), (Ranks{}));
  EXPECT_EQ(chosen("n9:4"), (Ranks{}));
}

TEST(ConfigList, says_who_comes_first_where_fewer_are_wanted) {
  EXPECT_EQ(chosen("n2,n1:2,n0", 2), (Ranks{2, 5}));
  EXPECT_EQ(chosen("n2,n1:2,n0", 4), (Ranks{0, 2, 3, 5}));
  EXPECT_EQ(chosen("n1:*,*:1", 1), (Ranks{2}));
  EXPECT_EQ(chosen("*:*", 100), (Ranks{0, 1, 2, 3, 4, 5}));
}

TEST(Aggregators, are_as_many_for_each_server_where_there_are_enough) {
  const auto chosen_for = [](int servers, int cb_nodes) {
    Hints hints;
    hints.striping_factor = servers;
    hints.cb_nodes = cb_nodes;
    return choose_aggregators(cluster(), hints, 2).size();
  };
  EXPECT_EQ(chosen_for(0, 0), 5U);
  EXPECT_EQ(chosen_for(2, 0), 4U);
  EXPECT_EQ(chosen_for(3, 0), 3U);
  EXPECT_EQ(chosen_for(5, 0), 5U);
  EXPECT_EQ(chosen_for(7, 0), 5U);
  EXPECT_EQ(chosen_for(2, 3), 3U);  // who says how many there shall be gets them
}

TEST(ConfigList, hosts_whose_names_are_not_known_are_meant_by_the_star_alone) {
  Topology nameless = cluster();
  nameless.hosts.clear();
  Hints hints;
  hints.cb_config_list = "n1:3,*:1";
  EXPECT_EQ(choose_aggregators(nameless, hints, 2), (Ranks{0, 2, 5}));
}

TEST(ConfigList, pretended_nodes_keep_their_hosts_name) {
  Hints hints;
  hints.cb_config_list = "n1";
  EXPECT_EQ(choose_aggregators(cluster().split(2), hints, 2), (Ranks{2, 4}));
}

TEST(Aggregators, are_as_many_as_realms_that_were_given) {
  EXPECT_EQ(chosen("*:*", 0, 4), (Ranks{0, 1, 2, 5}));
  EXPECT_EQ(chosen("*:*", 1, 6), (Ranks{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(chosen("n1:2", 0, 2), (Ranks{2, 3}));
  EXPECT_EQ(chosen("n1:2", 0, 3), (Ranks{0, 2, 5}));  // the list leaves too few
}

}  // namespace
}  // namespace tamis
