#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace tamis {

/// An entry of cb_config_list, "host:ranks": how many ranks of a host may aggregate.
struct HostLimit {
  static constexpr int kEveryRank = std::numeric_limits<int>::max();

  std::string_view host;  ///< "*": any
  int most = 1;
};

/// "n1:2,n2:*,*:1", as ROMIO has it: a host without a number gives one rank. Nothing where it is
/// malformed. The result points into the text.
std::optional<std::vector<HostLimit>> parse_config_list(std::string_view text);

}  // namespace tamis
