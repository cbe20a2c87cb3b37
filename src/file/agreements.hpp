#pragma once

#include <algorithm>

#include "engine/team.hpp"

namespace tamis {

/// What ranks compare before and after a collective call: errors, and two values that must be the
/// same everywhere.
struct Agreement {
  Status worst;
  std::int64_t least[2] = {0, 0};
  std::int64_t greatest[2] = {0, 0};

  void merge(const Agreement& other) {
    worst.merge(other.worst);
    for (int i = 0; i < 2; ++i) {
      least[i] = std::min(least[i], other.least[i]);
      greatest[i] = std::max(greatest[i], other.greatest[i]);
    }
  }
};

/// Collective: this rank's own error if it has one (it tells more), else the worst of all ranks;
/// Errc::not_same where there is no error but a value differs between ranks.
inline Task<Status> agree_status(Team& team, Status own, std::int64_t first = 0,
                                 std::int64_t second = 0) {
  own.keep_first(team.comm().health());
  Agreement all{own.travelling(team.rank()), {first, second}, {first, second}};
  all = co_await team.agree(all);
  if (!own.ok()) co_return own;
  if (!all.worst.ok()) co_return all.worst;
  const bool same = all.least[0] == all.greatest[0] && all.least[1] == all.greatest[1];
  co_return same ? Status{} : failure(Errc::not_same, "an argument differs between ranks");
}

}  // namespace tamis
