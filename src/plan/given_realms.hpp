#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "layout/layout.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// Realms that a user gave: the i-th aggregator serves the i-th of them.
struct GivenRealms {
  std::vector<Layout> layouts;  ///< ordered, endless; some may hold nothing
  bool by_call = false;         ///< else by the hint tamis_realm_sizes
  bool whole_file = false;      ///< known to hold every byte of any file exactly once

  /// Finds out whether they hold the whole file. REQUIRES: each passed check_realm.
  static GivenRealms of(std::vector<Layout> layouts);
};
/// Shared, so that plans are copied without taking memory.
using GivenRealmsPtr = std::shared_ptr<const GivenRealms>;

/// A realm by itself: in the file, in order, and no byte of it twice.
Status check_realm(const Layout& realm);

/// Whether together they hold every byte of the region exactly once, by fingerprints, without
/// walking. The error says the first byte that none holds, or several.
/// HOT PATH of collective accesses under given realms: allocates nothing.
Status check_realms(const GivenRealms& realms, const Extent& region);

/// What is in force: those given by call, else those of the hint; null: none, or the hint names
/// more than there are ranks.
GivenRealmsPtr realms_in_force(const GivenRealmsPtr& by_call, const Hints& hints, int ranks);

}  // namespace tamis
