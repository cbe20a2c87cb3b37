#pragma once

#include <memory>

#include "drivers/driver.hpp"
#include "engine/flight.hpp"
#include "engine/staging.hpp"
#include "engine/views.hpp"
#include "engine/write_behind.hpp"
#include "plan/strategy.hpp"

namespace tamis {

/// Two-phase access: moves bytes between ranks and the aggregators' windows, and windows between
/// memory and storage. One body for both directions:
///   write: (read the window first where it has holes) -> ranks fill it -> transfer
///   read:  transfer -> ranks empty it
/// Every rank plays several parts at once: it *ships* its own bytes window by window, *carries*
/// parcels of its node's ranks between them and aggregators on other nodes, and, if it aggregates,
/// *serves* the windows of its realm. Whatever fails, all parts go through all windows, so nobody
/// waits for ever; storing stops at the first error and all learn of it at the end.
class Exchange {
 public:
  Exchange(Team& team, Driver& driver, const Circumstances& plan)
      : team_(team), driver_(driver), plan_(plan) {}

  /// Collective: gets all memory an exchange needs, at first use. The same answer on every rank.
  Task<Status> prepare(Views& views);

  /// Collective. REQUIRES: prepare() was ok; strategy.route is two_phase; every access is ordered.
  /// `behind` keeps the windows of a write; null: they are stored at once.
  Task<Outcome> run(const Access& access, const Strategy& strategy, const Survey& survey,
                    Views& views, WriteBehind* behind, Account account);

 private:
  struct Run;  // one two-phase access on this rank
  class FarWindows;
  class Shipper;
  class Carrier;
  class Parcels;
  class Server;

  /// Owners on other nodes learn of this rank's access.
  Task<Status> announce(const Access& access, const Survey& survey, Views& views, Account account);
  std::int64_t memory_held(const Run& run) const;
  /// Ships and serves all windows; the same status on every rank.
  Task<Outcome> move(Run& run);
  Task<bool> side_by_side(Run& run, Server& server, Shipper& shipper);
  Task<bool> across_nodes(Run& run, Server& server, Shipper& shipper);
  bool aggregates() const;
  Status prepare_to_serve();
  void make_queue();

  Team& team_;
  Driver& driver_;
  const Circumstances& plan_;
  std::unique_ptr<Staging> staging_;
  // An aggregator's:
  std::unique_ptr<std::byte[]> inbox_;  // only between nodes
  std::unique_ptr<Flight[]> flights_;
  std::unique_ptr<TransferQueue> queue_;  // null: transfers are not beside other work
};

}  // namespace tamis
