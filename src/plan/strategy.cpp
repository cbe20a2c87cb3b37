#include "plan/strategy.hpp"

#include <algorithm>

#include "plan/realm_choice.hpp"
#include "plan/window_method.hpp"

namespace tamis {
namespace {

// Waking the ranks of a node for one window. Measured under Open MPI on 2 cores, writing to tmpfs
// and ext4 from scattered memory: with 2 ranks two-phase took 7 to 19 us a window longer than
// gathering alone, with 8 ranks 12 to 68; the model says 8 and 32.
constexpr double kTurnNs = 8000;
// Larger windows leave the cache between packing and transfer.
constexpr std::int64_t kLargestWindow = 1 << 20;

// Realms up to here may be made larger to save windows. Beyond, filling one window while another is
// moved is worth more.
constexpr std::int64_t kSmallRealm = 256 << 10;

// Bytes of the region per byte wanted from which on windows are out of the question.
constexpr std::int64_t kSparse = 4096;

Switch wish_of(Direction direction, const Hints& hints) {
  return direction == Direction::write ? hints.romio_cb_write : hints.romio_cb_read;
}

/// Moving all windows from the first to the last byte. Writes to one file take turns in the kernel;
/// reads go on side by side.
double windows_cost(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const auto span = static_cast<double>(survey.region().length);
  const auto windows = static_cast<double>(strategy.realms.total_windows(c.window_bytes));
  const bool write = survey.directions == 2;
  const bool reads_first = write && !strategy.tiled;
  const double one_window = c.storage.operation_ns(write ? Direction::write : Direction::read) +
                            (reads_first ? c.storage.read_ns + c.storage.lock_ns : 0);
  const double storage = (reads_first ? 2 : 1) * span * c.storage.byte_ns + windows * one_window;
  const int readers = std::min({c.ranks, c.cores, strategy.realms.count()});
  return write ? storage : storage / readers;
}

/// Where there are holes windows may go piece by piece; all of them are taken to be alike here.
double storage_cost(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const bool write = survey.directions == 2;
  const Direction direction = write ? Direction::write : Direction::read;
  const WindowTerms terms = window_terms(direction, c, strategy);
  const bool holes = write ? !strategy.tiled : strategy.sparse;
  const double windows = windows_cost(survey, c, strategy);
  if (!holes || terms.sieving == Switch::enable) return windows;
  const double pieces =
      static_cast<double>(survey.file_blocks) * c.storage.operation_ns(direction) +
      static_cast<double>(survey.coverage.bytes) * c.storage.byte_ns;
  const double listed = write ? pieces : pieces / terms.hands;
  return terms.sieving == Switch::disable ? listed : std::min(listed, windows);
}

double two_phase_cost(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const double packing = static_cast<double>(survey.coverage.bytes) * kCopyByteNs +
                         static_cast<double>(survey.file_blocks + survey.memory_blocks) * kPieceNs;
  const double hands = std::min(c.ranks, c.cores);
  const auto windows = static_cast<double>(strategy.realms.total_windows(c.window_bytes));
  const double turns = windows * kTurnNs * c.ranks / hands;
  return storage_cost(survey, c, strategy) + packing / hands + turns;
}

/// Two-phase with as many of the aggregators as are worth it: one that has but a small part of the
/// file makes windows smaller and more. Who says how many there shall be gets them; and between
/// nodes all of them share the messages, of which the costs know nothing.
void weigh_two_phase(const Survey& survey, const Circumstances& c, Strategy& strategy) {
  strategy.realms = most_realms(survey, c);
  strategy.two_phase_ns = two_phase_cost(survey, c, strategy);
  if (c.nodes > 1 || c.hints.cb_nodes > 0 || c.hints.romio_min_fdomain_size > 0) return;
  // Whoever is dealt blocks in turn has them whatever is accessed.
  if (!cuts_the_access(strategy.realms.kind())) return;
  Strategy fewer = strategy;
  const std::int64_t bytes = survey.region().length;
  for (int count = strategy.realms.count() / 2; count >= 1 && bytes / count <= kSmallRealm;
       count /= 2) {
    fewer.realms = realms_of(survey, c, count);
    fewer.two_phase_ns = two_phase_cost(survey, c, fewer);
    if (fewer.two_phase_ns < strategy.two_phase_ns) strategy = fewer;
  }
}

/// Writes to one file take turns in the kernel; what ranks do beside them goes on side by side.
double alone_cost(const Survey& survey, const Circumstances& c, Direction direction) {
  const double in_turn =
      direction == Direction::write ? survey.alone_ns - survey.alone_apart_ns : 0;
  const double hands = std::min(c.ranks, c.cores);
  return std::max({survey.alone_ns / hands, in_turn, survey.alone_longest_ns});
}

/// Why windows with holes may not be read first and written back; nullptr where they may.
const char* why_not_rewritten(std::int32_t obstacles, const Hints& hints) {
  if (obstacles == 0) {
    const bool disabled = window_sieving(Direction::write, hints) == Switch::disable;
    return disabled ? "there are holes, and sieving is disabled by hint" : nullptr;
  }
  if ((obstacles & kNotReadable) != 0)
    return "there are holes, and they cannot be read back: the file may be written only";
  if ((obstacles & kNoLocks) != 0)
    return "there are holes, and the storage gives no locks under which to read and write them "
           "back";
  return "there are holes, and another open of the file may be writing into them";
}

/// Whether windows of collective writes are to wait until somebody asks for them.
bool writes_behind(const Circumstances& c) {
  return c.hints.tamis_write_behind > 0 && !c.atomic && !c.no_write_behind &&
         c.hints.romio_cb_write != Switch::disable;
}

/// Why two-phase is out of the question; nullptr where it is possible.
const char* two_phase_refused(const Survey& survey, const Circumstances& c, bool write) {
  const bool behind = write && writes_behind(c);
  if (c.ranks == 1 && !behind) return "there is one rank";
  if (survey.ranks_unordered > 0) return "a view goes back and forth in the file";
  if (c.atomic) return "atomic mode: every rank's access must appear whole";
  if (survey.directions == 3) return "ranks disagree on the direction";
  if (c.aggregators.empty()) return "no rank may aggregate";
  // Windows of a region that is nearly empty would cost more than all pieces, whatever a hint says.
  if (survey.region().length / kSparse > survey.coverage.bytes)
    return "the holes are too large for windows";
  return nullptr;
}

// What made the difference where costs decided, as far as windows and pieces tell it.

const char* why_alone(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  if (strategy.realms.total_windows(c.window_bytes) >= survey.file_blocks)
    return "windows would be no fewer than the pieces";
  return "windows would save less than copying and waiting for each other cost";
}

const char* why_two_phase(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  if (strategy.realms.total_windows(c.window_bytes) >= survey.file_blocks)
    return "ranks work side by side, while alone they would take turns or wait for the busiest one";
  if (survey.file_blocks <= survey.ranks_with_data)
    return "one window takes the place of several ranks' requests";
  return "small pieces of many ranks make large windows";
}

/// A window that waits is not transferred out of the cache anyway, and the fewer there are, the
/// less ranks wait for each other.
std::int64_t largest_window(const Hints& hints) {
  const std::int64_t kept = std::min(hints.tamis_write_behind / 4, 4 * kLargestWindow);
  return std::max(kept, kLargestWindow);
}

}  // namespace

std::int64_t choose_window(const Hints& hints, int nodes) {
  const std::int64_t buffers = nodes > 1 ? 6 : 2;
  const std::int64_t share = std::min(hints.cb_buffer_size / buffers, largest_window(hints));
  constexpr std::int64_t page = 4096;
  return share >= page ? share / page * page : std::max<std::int64_t>(share, 1);
}

bool locks_plain_writes(const Hints& hints, const Capabilities& storage) {
  const bool can_lock = storage.locks && hints.tamis_locks != Switch::disable;
  const bool sieves_elsewhere =
      !storage.guarded && sieve_wish(Direction::write, hints) == Switch::enable;
  return can_lock && (sieves_elsewhere || !storage.may_rewrite);
}

void settle(Circumstances& c, int nodes) {
  // Ranks that sieve at once keep apart by locks alone, in an open file of several ranks.
  const bool apart = c.ranks == 1 || c.hints.tamis_locks != Switch::disable;
  c.nodes = nodes;
  c.storage.guarded = nodes == 1 && apart;
  c.lock_plain_writes = locks_plain_writes(c.hints, c.storage);
}

FileRealms most_realms(const Survey& survey, const Circumstances& c) {
  return realms_of(survey, c, static_cast<int>(c.aggregators.size()));
}

Strategy decide(const Survey& survey, const Circumstances& c) {
  Strategy strategy;
  if (survey.ranks_with_data == 0) {
    strategy.reason = "no rank has bytes to move";
    return strategy;
  }
  // Wrong ones are told whatever the route. Where somebody's view goes back and forth nobody knows
  // the region, and two-phase is out of the question.
  if (c.given != nullptr && survey.ranks_unordered == 0)
    strategy.error = check_realms(*c.given, survey.region());
  if (!strategy.error.ok()) {
    strategy.reason = strategy.error.note;
    return strategy;
  }
  const bool write = survey.directions == 2;
  const Direction direction = write ? Direction::write : Direction::read;
  const Switch wish = wish_of(direction, c.hints);
  strategy.route = Route::alone;
  strategy.alone_ns = alone_cost(survey, c, direction);
  strategy.reason = two_phase_refused(survey, c, write);
  if (strategy.reason != nullptr) return strategy;

  strategy.tiled = write && survey.coverage.tiles(survey.region());
  if (write && !strategy.tiled && !writes_behind(c))
    strategy.piecewise = why_not_rewritten(survey.rewrite_obstacles, c.hints);
  // Where nothing between the pieces may be read, any hole counts.
  const bool no_holes = window_sieving(Direction::read, c.hints) == Switch::disable;
  const std::int64_t dense = no_holes ? survey.region().length : survey.region().length / 2;
  strategy.sparse = !write && survey.coverage.bytes < dense;
  weigh_two_phase(survey, c, strategy);
  strategy.behind = write && writes_behind(c);
  if (strategy.behind) {
    strategy.route = Route::two_phase;
    strategy.reason = "write-behind: windows wait for more, until sync, close or want of room";
  } else if (wish == Switch::disable) {
    strategy.reason = "collective buffering is disabled by hint";
  } else if (wish == Switch::automatic && strategy.alone_ns <= strategy.two_phase_ns) {
    strategy.reason =
        strategy.piecewise != nullptr ? strategy.piecewise : why_alone(survey, c, strategy);
  } else {
    strategy.route = Route::two_phase;
    strategy.reason = wish == Switch::enable ? "collective buffering is enabled by hint"
                                             : why_two_phase(survey, c, strategy);
  }
  return strategy;
}

}  // namespace tamis
