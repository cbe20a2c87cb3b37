#include "plan/strategy.hpp"

#include <algorithm>
#include <charconv>

namespace tamis {
namespace {

// Waking the ranks of a node for one window; measured with more ranks than cores.
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

// The largest realm may have so many times its equal share of the bytes before realms are balanced.
constexpr double kLopsided = 1.5;

std::int64_t alignment_of(const Circumstances& c) {
  if (c.hints.romio_cb_fr_alignment > 0) return c.hints.romio_cb_fr_alignment;
  return std::max(
      {std::int64_t{1}, c.storage.block_bytes, c.storage.stripe_bytes, c.hints.striping_unit});
}

std::optional<RealmKind> wished_realms(const Hints& hints) {
  if (!hints.tamis_realms && hints.romio_cb_pfr == Switch::enable) return RealmKind::persistent;
  return hints.tamis_realms;
}

/// Bytes wanted in the realm that has most of them.
std::int64_t largest_share(const FileRealms& realms, const Spread& wanted) {
  std::int64_t most = 0;
  for (int i = 0; i < realms.count(); ++i) {
    const Extent realm = realms.span(i);
    most = std::max(most, wanted.before(realm.end()) - wanted.before(realm.offset));
  }
  return most;
}

bool is_lopsided(const FileRealms& realms, const Spread& wanted) {
  if (wanted.empty() || realms.count() <= 1) return false;
  const double share = static_cast<double>(wanted.total()) / realms.count();
  return static_cast<double>(largest_share(realms, wanted)) > kLopsided * share;
}

/// Blocks that are dealt out in turn: as large as a window, but whole stripes.
std::int64_t turn_block(const Circumstances& c, std::int64_t at_least) {
  const std::int64_t alignment = alignment_of(c);
  const std::int64_t bytes = std::max(
      {at_least, c.hints.romio_min_fdomain_size, std::min(kLargestWindow, c.window_bytes)});
  return (bytes + alignment - 1) / alignment * alignment;
}

FileRealms realms_of(const Survey& survey, const Circumstances& c, int count) {
  const Extent region = survey.region();
  const std::int64_t alignment = alignment_of(c);
  const FileRealms even =
      FileRealms::even(region, count, alignment, c.hints.romio_min_fdomain_size);
  const std::optional<RealmKind> wished = wished_realms(c.hints);
  switch (wished.value_or(RealmKind::balanced)) {
    case RealmKind::even:
      return even;
    case RealmKind::cyclic:
      return FileRealms::cyclic(region, count, turn_block(c, 1));
    case RealmKind::persistent:
      return FileRealms::cyclic(
          region, count, c.persistent_block > 0 ? c.persistent_block : turn_block(c, even.block()),
          RealmKind::persistent);
    default:
      if (survey.spread.empty() || (!wished && !is_lopsided(even, survey.spread))) return even;
      return FileRealms::balanced(region, count, alignment, survey.spread);
  }
}

double two_phase_cost(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const auto span = static_cast<double>(survey.region().length);
  const auto windows = static_cast<double>(strategy.realms.total_windows(c.window_bytes));
  const bool write = survey.directions == 2;
  const bool reads_first = write && !strategy.tiled;
  const double one_window = c.storage.operation_ns(write ? Direction::write : Direction::read) +
                            (reads_first ? c.storage.read_ns + c.storage.lock_ns : 0);
  const double storage = (reads_first ? 2 : 1) * span * c.storage.byte_ns + windows * one_window;
  const double packing = static_cast<double>(survey.coverage.bytes) * kCopyByteNs +
                         static_cast<double>(survey.file_blocks + survey.memory_blocks) * kPieceNs;
  const double hands = std::min(c.ranks, c.cores);
  const double turns = windows * kTurnNs * c.ranks / hands;
  // Writes to one file take turns in the kernel; reads and packing go on side by side.
  const double readers = std::min<double>(hands, strategy.realms.count());
  return (write ? storage : storage / readers) + packing / hands + turns;
}

/// Two-phase with as many of the aggregators as are worth it: one that has but a small part of the
/// file makes windows smaller and more. Who says how many there shall be gets them; and between
/// nodes all of them share the messages, of which the costs know nothing.
void weigh_two_phase(const Survey& survey, const Circumstances& c, Strategy& strategy) {
  strategy.realms = most_realms(survey, c);
  strategy.two_phase_ns = two_phase_cost(survey, c, strategy);
  if (c.nodes > 1 || c.hints.cb_nodes > 0 || c.hints.romio_min_fdomain_size > 0) return;
  // Whoever is dealt blocks in turn has them whatever is accessed.
  if (strategy.realms.kind() == RealmKind::cyclic ||
      strategy.realms.kind() == RealmKind::persistent)
    return;
  Strategy fewer = strategy;
  const std::int64_t bytes = survey.region().length;
  for (int count = strategy.realms.count() / 2; count >= 1 && bytes / count <= kSmallRealm;
       count /= 2) {
    fewer.realms = realms_of(survey, c, count);
    fewer.two_phase_ns = two_phase_cost(survey, c, fewer);
    if (fewer.two_phase_ns < strategy.two_phase_ns) strategy = fewer;
  }
}

double alone_cost(const Survey& survey, const Circumstances& c, Direction direction) {
  const double hands = direction == Direction::write ? 1 : std::min(c.ranks, c.cores);
  return std::max(survey.alone_ns / hands, survey.alone_longest_ns);
}

const char* why_not_rewritten(std::int32_t obstacles) {
  if ((obstacles & kNotReadable) != 0)
    return "there are holes, and they cannot be read back: the file may be written only";
  if ((obstacles & kNoLocks) != 0)
    return "there are holes, and the storage gives no locks under which to read and write them "
           "back";
  return "there are holes, and another open of the file may be writing into them";
}

/// Why two-phase is out of the question; nullptr where it is possible.
const char* two_phase_refused(const Survey& survey, const Circumstances& c, bool write) {
  if (c.ranks == 1) return "there is one rank";
  if (survey.ranks_unordered > 0) return "a view goes back and forth in the file";
  if (c.atomic) return "atomic mode: every rank's access must appear whole";
  if (survey.directions == 3) return "ranks disagree on the direction";
  if (c.aggregators.empty()) return "no rank may aggregate";
  // Windows of a region that is nearly empty would cost more than all pieces, whatever a hint says.
  if (survey.region().length / kSparse > survey.coverage.bytes)
    return "the holes are too large for windows";
  const bool holes = write && !survey.coverage.tiles(survey.region());
  if (holes && survey.rewrite_obstacles != 0) return why_not_rewritten(survey.rewrite_obstacles);
  if (holes && c.hints.romio_ds_write == Switch::disable)
    return "there are holes, and sieving is disabled by hint";
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

/// How many ranks per node a cb_config_list such as "*:2" allows; 0: no limit told.
int per_node_limit(const std::string& config) {
  const std::size_t colon = config.rfind(':');
  if (colon == std::string::npos) return 0;
  int limit = 0;
  const char* begin = config.data() + colon + 1;
  const auto parsed = std::from_chars(begin, config.data() + config.size(), limit);
  return parsed.ec == std::errc{} && limit > 0 ? limit : 0;
}

}  // namespace

std::vector<std::int32_t> choose_aggregators(const Topology& topology, const Hints& hints,
                                             int cores) {
  const int limit = per_node_limit(hints.cb_config_list);
  const auto total = static_cast<std::int32_t>(topology.node_of.size());
  const std::int32_t wanted = hints.cb_nodes > 0 ? std::min(hints.cb_nodes, total) : total;
  // Shared out so that no node gets a second one before every node has one.
  std::vector<std::int32_t> chosen;
  for (std::size_t seat = 0; static_cast<std::int32_t>(chosen.size()) < wanted; ++seat) {
    const int most = limit > 0 ? limit : (hints.cb_nodes > 0 ? total : std::max(1, cores));
    if (static_cast<int>(seat) >= most) break;
    bool any = false;
    for (const auto& ranks : topology.nodes) {
      if (seat >= ranks.size() || static_cast<std::int32_t>(chosen.size()) >= wanted) continue;
      chosen.push_back(ranks[seat]);
      any = true;
    }
    if (!any) break;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::int64_t choose_window(const Hints& hints, int nodes) {
  const std::int64_t buffers = nodes > 1 ? 6 : 2;
  const std::int64_t share = std::min(hints.cb_buffer_size / buffers, kLargestWindow);
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
  const bool write = survey.directions == 2;
  const Direction direction = write ? Direction::write : Direction::read;
  const Switch wish = wish_of(direction, c.hints);
  strategy.route = Route::alone;
  strategy.alone_ns = alone_cost(survey, c, direction);
  strategy.reason = two_phase_refused(survey, c, write);
  if (strategy.reason != nullptr) return strategy;

  strategy.tiled = write && survey.coverage.tiles(survey.region());
  weigh_two_phase(survey, c, strategy);
  if (wish == Switch::disable) {
    strategy.reason = "collective buffering is disabled by hint";
  } else if (wish == Switch::automatic && strategy.alone_ns <= strategy.two_phase_ns) {
    strategy.reason = why_alone(survey, c, strategy);
  } else {
    strategy.route = Route::two_phase;
    strategy.reason = wish == Switch::enable ? "collective buffering is enabled by hint"
                                             : why_two_phase(survey, c, strategy);
  }
  return strategy;
}

}  // namespace tamis
