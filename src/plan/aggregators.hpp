#pragma once

#include <cstdint>
#include <vector>

#include "comm/topology.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// Which ranks may aggregate, ascending: at most `cb_nodes` in all and per node what
/// `cb_config_list` allows its host; by default as many per node as it has cores, since more would
/// only take turns. Where a user gave `realms`, one for each of them: those whom the hints allow,
/// and others where these are too few. REQUIRES: realms is at most the number of ranks.
std::vector<std::int32_t> choose_aggregators(const Topology& topology, const Hints& hints,
                                             int cores, std::size_t realms = 0);

}  // namespace tamis
