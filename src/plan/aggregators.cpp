#include "plan/aggregators.hpp"

#include <algorithm>

#include "plan/config_list.hpp"

namespace tamis {
namespace {

/// A node and how many of its ranks may aggregate.
struct Seats {
  const std::vector<std::int32_t>* ranks = nullptr;
  std::size_t entry = 0;  ///< of the list, that named its host
  int most = 0;
};

/// The first entry that names the node's host is the one for it, as in ROMIO. A host whose name is
/// not known is named by * alone.
Seats seats_of(const Topology& topology, std::size_t node, const std::vector<HostLimit>& limits) {
  const auto names_it = [&](const HostLimit& limit) {
    if (limit.host == "*") return true;
    return node < topology.hosts.size() && topology.hosts[node].is_called(limit.host);
  };
  const auto found = std::ranges::find_if(limits, names_it);
  return {&topology.nodes[node], static_cast<std::size_t>(found - limits.begin()),
          found == limits.end() ? 0 : found->most};
}

/// Shared out so that no node gets a second one before every node has one; where they are fewer,
/// nodes come in the order of the entries.
std::vector<std::int32_t> share_out(std::vector<Seats> nodes, std::size_t wanted) {
  std::ranges::stable_sort(nodes, {}, &Seats::entry);
  std::vector<std::int32_t> chosen;
  bool any = true;
  for (std::size_t seat = 0; any && chosen.size() < wanted; ++seat) {
    any = false;
    for (const Seats& node : nodes) {
      const bool has_one = seat < node.ranks->size() && static_cast<int>(seat) < node.most;
      if (!has_one || chosen.size() == wanted) continue;
      chosen.push_back((*node.ranks)[seat]);
      any = true;
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

std::vector<std::int32_t> choose_aggregators(const Topology& topology, const Hints& hints,
                                             int cores, std::size_t realms) {
  // A list was checked when the hint was taken over.
  const std::vector<HostLimit> limits =
      parse_config_list(hints.cb_config_list).value_or(std::vector{HostLimit{"*"}});
  std::size_t wanted = topology.node_of.size();
  if (hints.cb_nodes > 0) wanted = std::min(wanted, static_cast<std::size_t>(hints.cb_nodes));
  if (realms > 0) wanted = realms;
  const bool counted = hints.cb_nodes > 0 || realms > 0;
  std::vector<Seats> nodes;
  for (std::size_t node = 0; node < topology.nodes.size(); ++node) {
    Seats seats = seats_of(topology, node, limits);
    if (seats.most == HostLimit::kEveryRank && !counted) seats.most = std::max(1, cores);
    nodes.push_back(seats);
  }
  std::vector<std::int32_t> chosen = share_out(nodes, wanted);
  // As many for each server: none is asked by more of them than another.
  const auto servers = static_cast<std::size_t>(hints.striping_factor);
  if (!counted && servers > 0 && chosen.size() % servers != 0 && chosen.size() > servers)
    return share_out(std::move(nodes), chosen.size() / servers * servers);
  if (chosen.size() >= realms) return chosen;
  for (Seats& seats : nodes) seats.most = HostLimit::kEveryRank;
  return share_out(std::move(nodes), wanted);
}

}  // namespace tamis
