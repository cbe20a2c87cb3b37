#pragma once

#include <optional>

#include "plan/strategy.hpp"

namespace tamis {

/// Borders of realms that are parts of the access, and blocks of those dealt out in turn, are
/// multiples of it.
struct Alignment {
  std::int64_t bytes = 1;
  const char* source = "";  ///< who wants it, in words
};
Alignment alignment_of(const Circumstances& circumstances);

/// The kind that hints ask for; none: the plan decides. Write-behind asks for persistent realms:
/// what an aggregator keeps must stay its own.
std::optional<RealmKind> wished_realms(const Hints& hints);

/// How the wanted bytes are shared out, as far as ranks told where theirs are.
struct Balance {
  std::int64_t least = 0;  ///< of a realm
  std::int64_t most = 0;
  std::int64_t total = 0;

  /// Times an equal share that the fullest realm has. REQUIRES: total > 0.
  double most_by_share(int realms) const {
    return static_cast<double>(most) * realms / static_cast<double>(total);
  }
};
Balance balance_of(const FileRealms& realms, const Spread& wanted);

/// The realms of an access for `count` aggregators; may be fewer. Those that a user gave are as
/// many as they are, and must hold the access's region (check_realms). REQUIRES: there is data,
/// count >= 1. HOT PATH of collective accesses: allocates nothing.
FileRealms realms_of(const Survey& survey, const Circumstances& circumstances, int count);

}  // namespace tamis
