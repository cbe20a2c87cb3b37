#include "plan/config_list.hpp"

#include <charconv>

namespace tamis {
namespace {

std::optional<HostLimit> parse_entry(std::string_view entry) {
  const std::size_t colon = entry.find(':');
  HostLimit limit{entry.substr(0, colon), 1};
  if (limit.host.empty() || limit.host.find_first_of(" \t") != std::string_view::npos)
    return std::nullopt;
  if (limit.host.size() > 1 && limit.host.find('*') != std::string_view::npos) return std::nullopt;
  if (colon == std::string_view::npos) return limit;
  const std::string_view ranks = entry.substr(colon + 1);
  if (ranks == "*") return HostLimit{limit.host, HostLimit::kEveryRank};
  const char* const end = ranks.data() + ranks.size();
  const auto [rest, error] = std::from_chars(ranks.data(), end, limit.most);
  if (error != std::errc{} || rest != end || limit.most < 0) return std::nullopt;
  return limit;
}

}  // namespace

std::optional<std::vector<HostLimit>> parse_config_list(std::string_view text) {
  std::vector<HostLimit> limits;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::optional<HostLimit> limit = parse_entry(text.substr(0, comma));
    if (!limit) return std::nullopt;
    limits.push_back(*limit);
    if (comma == std::string_view::npos) return limits;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace tamis
