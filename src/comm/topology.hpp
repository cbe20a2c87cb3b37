#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis {

/// Which ranks share memory. Nodes are numbered from 0 in the order of their lowest rank.
struct Topology {
  std::vector<std::int32_t> node_of;             ///< per rank
  std::vector<std::vector<std::int32_t>> nodes;  ///< per node its ranks, ascending; first = leader

  /// From one arbitrary label per rank (equal labels: same node).
  static Topology from_labels(std::span<const std::int64_t> labels);
  /// Splits every node into up to `parts` pretended ones (consecutive ranks stay together), so that
  /// one machine exercises the messages between nodes. parts <= 1 changes nothing.
  Topology split(int parts) const;

  int node_count() const { return static_cast<int>(nodes.size()); }
  const std::vector<std::int32_t>& ranks_beside(int rank) const {
    return nodes[static_cast<std::size_t>(node_of[static_cast<std::size_t>(rank)])];
  }
  int local_index(int rank) const;  ///< position of `rank` among the ranks of its node
};

}  // namespace tamis
