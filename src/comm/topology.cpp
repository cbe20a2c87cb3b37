#include "comm/topology.hpp"

#include <algorithm>
#include <map>

#include "base/fingerprint.hpp"

namespace tamis {

HostMark HostMark::of(std::string_view name) {
  return {fingerprint(name), fingerprint(name.substr(0, name.find('.')))};
}

bool HostMark::is_called(std::string_view text) const {
  return name != 0 && (fingerprint(text) == name || fingerprint(text) == brief);
}

Topology Topology::from_labels(std::span<const std::int64_t> labels) {
  Topology result;
  std::map<std::int64_t, std::int32_t> node_of_label;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    const auto next = static_cast<std::int32_t>(result.nodes.size());
    const auto [entry, is_new] = node_of_label.try_emplace(labels[rank], next);
    if (is_new) result.nodes.emplace_back();
    result.node_of.push_back(entry->second);
    result.nodes[static_cast<std::size_t>(entry->second)].push_back(
        static_cast<std::int32_t>(rank));
  }
  return result;
}

Topology Topology::split(int parts) const {
  if (parts <= 1) return *this;
  std::vector<std::int64_t> labels(node_of.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const auto& ranks = nodes[node];
    const std::size_t pieces = std::min(ranks.size(), static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const std::size_t part = i * pieces / ranks.size();
      labels[static_cast<std::size_t>(ranks[i])] =
          static_cast<std::int64_t>(node * static_cast<std::size_t>(parts) + part);
    }
  }
  Topology result = from_labels(labels);
  for (const auto& ranks : result.nodes) {
    const auto node = static_cast<std::size_t>(node_of[static_cast<std::size_t>(ranks.front())]);
    if (!hosts.empty()) result.hosts.push_back(hosts[node]);
  }
  return result;
}

int Topology::local_index(int rank) const {
  const auto& ranks = ranks_beside(rank);
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace tamis
