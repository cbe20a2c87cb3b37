#pragma once

#include <string>
#include <vector>

#include "plan/aggregators.hpp"
#include "plan/given_realms.hpp"
#include "plan/realms.hpp"
#include "plan/survey.hpp"

namespace tamis {

/// The way a collective access takes.
enum class Route : std::uint8_t {
  nothing,    ///< no rank has bytes
  alone,      ///< every rank moves its own bytes
  two_phase,  ///< aggregators move windows, ranks exchange
};

/// What the plan knows about the file beyond one access: equal on every rank from open on.
struct Circumstances {
  Hints hints = {};
  Capabilities storage;
  std::vector<std::int32_t> aggregators;  ///< ranks that may aggregate, ascending
  std::int64_t window_bytes = 0;          ///< size of a staging window
  int ranks = 1;
  int cores = 1;                      ///< per node
  int nodes = 1;                      ///< groups of ranks that share memory
  std::int64_t persistent_block = 0;  ///< of persistent realms, fixed at the first access; 0: none
  GivenRealmsPtr given = {};          ///< realms by the user, as many as aggregators; null: none
  bool atomic = false;
  bool no_write_behind = false;    ///< there was no memory for it
  bool lock_plain_writes = false;  ///< somebody whom shared memory does not reach may be sieving
};

/// The decision for one collective access and its reason; the same on every rank because its
/// inputs are.
struct Strategy {
  Route route = Route::nothing;
  /// Realm i belongs to aggregators[i]. Route::alone: those that were weighed; none where two-phase
  /// is impossible.
  FileRealms realms;
  /// Writes: the union of all pieces is known to have no hole, so no window needs reading first.
  bool tiled = false;
  /// Writes with holes: why they may not be read first and written back, so that windows with holes
  /// are written piece by piece; null: they may, where that is cheaper.
  const char* piecewise = nullptr;
  /// Reads: much of the region is wanted by nobody, so of a window only what lies between the first
  /// and the last byte wanted is read; ranks say beforehand what they want.
  bool sparse = false;
  /// Writes: windows are not stored now. They wait, marked byte by byte (write-behind).
  bool behind = false;
  double alone_ns = 0;      ///< estimate for Route::alone
  double two_phase_ns = 0;  ///< estimate for Route::two_phase
  const char* reason = "";
  /// Not ok: the access cannot be carried out, and the route is nothing.
  Status error;
};

/// Bytes of a staging window such that all windows and message buffers of a rank together respect
/// cb_buffer_size. `nodes` > 1: message buffers are needed as well.
std::int64_t choose_window(const Hints& hints, int nodes);

/// Plain writes take byte-range locks, since somebody may be sieving whom only a lock keeps apart.
bool locks_plain_writes(const Hints& hints, const Capabilities& storage);

/// Fills in what follows from the number of nodes the ranks are on: who notices a sieving rank, and
/// whether plain writes take locks. REQUIRES: hints, storage and ranks are set.
void settle(Circumstances& circumstances, int nodes);

/// Realms for all ranks that may aggregate; decide takes fewer where that is cheaper.
/// REQUIRES: there is data, and such a rank.
FileRealms most_realms(const Survey& survey, const Circumstances& circumstances);

/// HOT PATH of collective accesses: allocates nothing.
Strategy decide(const Survey& survey, const Circumstances& circumstances);

}  // namespace tamis
