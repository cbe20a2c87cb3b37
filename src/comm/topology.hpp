#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tamis {

/// A host's name as far as names are compared: a few words, so that every rank may have them all.
struct HostMark {
  std::int64_t name = 0;   ///< fingerprint of the name; 0: not known
  std::int64_t brief = 0;  ///< and of its part up to the first dot

  static HostMark of(std::string_view name);
  /// It is the host's name, or the part of it up to the first dot.
  bool is_called(std::string_view text) const;
  bool operator==(const HostMark&) const = default;
};

/// Which ranks share memory. Nodes are numbered from 0 in the order of their lowest rank.
struct Topology {
  std::vector<std::int32_t> node_of;             ///< per rank
  std::vector<std::vector<std::int32_t>> nodes;  ///< per node its ranks, ascending; first = leader
  std::vector<HostMark> hosts;                   ///< per node its host; empty: not known

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
