#include "plan/strategy.hpp"

#include <algorithm>
#include <charconv>

namespace tamis {
namespace {

// Waking the ranks of a node for one window; measured with more ranks than cores.
constexpr double kTurnNs = 8000;
// Larger windows leave the cache between packing and transfer.
constexpr std::int64_t kLargestWindow = 1 << 20;

// Bytes of the region per byte wanted from which on windows are out of the question.
constexpr std::int64_t kSparse = 4096;

Switch wish_of(Direction direction, const Hints& hints) {
  return direction == Direction::write ? hints.romio_cb_write : hints.romio_cb_read;
}

double two_phase_cost(const Survey& survey, const Circumstances& c, Direction direction,
                      bool tiled) {
  const auto span = static_cast<double>(survey.region().length);
  const double windows = span / static_cast<double>(c.window_bytes) + 1;
  const bool write = direction == Direction::write;
  const bool reads_first = write && !tiled;
  const double one_window =
      c.storage.operation_ns(direction) + (reads_first ? c.storage.read_ns + c.storage.lock_ns : 0);
  const double storage = (reads_first ? 2 : 1) * span * c.storage.byte_ns + windows * one_window;
  const double packing = static_cast<double>(survey.coverage.bytes) * kCopyByteNs +
                         static_cast<double>(survey.file_blocks + survey.memory_blocks) * kPieceNs;
  const double hands = std::min(c.ranks, c.cores);
  const double turns = windows * kTurnNs * c.ranks / hands;
  // Writes to one file take turns in the kernel; reads and packing go on side by side.
  return (write ? storage : storage / hands) + packing / hands + turns;
}

double alone_cost(const Survey& survey, const Circumstances& c, Direction direction) {
  const double hands = direction == Direction::write ? 1 : std::min(c.ranks, c.cores);
  return std::max(survey.alone_ns / hands, survey.alone_longest_ns);
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
  if (holes && survey.ranks_cannot_rmw > 0)
    return "there are holes, and the file cannot be read back under a lock, or others write it too";
  if (holes && c.hints.romio_ds_write == Switch::disable)
    return "there are holes, and sieving is disabled by hint";
  return nullptr;
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
  const bool sieves_elsewhere = !storage.guarded && hints.romio_ds_write == Switch::enable;
  return can_lock && (sieves_elsewhere || !storage.may_rewrite);
}

void settle(Circumstances& c, int nodes) {
  // Ranks that sieve at once keep apart by locks alone, in an open file of several ranks.
  const bool apart = c.ranks == 1 || c.hints.tamis_locks != Switch::disable;
  c.nodes = nodes;
  c.storage.guarded = nodes == 1 && apart;
  c.lock_plain_writes = locks_plain_writes(c.hints, c.storage);
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
  strategy.two_phase_ns = two_phase_cost(survey, c, direction, strategy.tiled);
  if (wish == Switch::disable) {
    strategy.reason = "collective buffering is disabled by hint";
    return strategy;
  }
  if (wish == Switch::automatic && strategy.alone_ns <= strategy.two_phase_ns) {
    strategy.reason = "every rank alone is expected to be faster";
    return strategy;
  }
  strategy.route = Route::two_phase;
  strategy.reason = wish == Switch::enable ? "collective buffering is enabled by hint"
                                           : "small pieces of many ranks make large windows";
  const std::int64_t alignment = std::max(
      {std::int64_t{1}, c.storage.block_bytes, c.storage.stripe_bytes, c.hints.striping_unit});
  strategy.realms = FileRealms::even(survey.region(), static_cast<int>(c.aggregators.size()),
                                     alignment, c.hints.romio_min_fdomain_size);
  return strategy;
}

}  // namespace tamis
