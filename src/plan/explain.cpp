#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/changes.hpp"
#include "plan/realms_text.hpp"
#include "plan/window_method.hpp"

namespace tamis {
namespace {

constexpr int kMostRealmsMeasured = 8;

struct Unit {
  const char* name;
  double amount;
};

std::string time_text(double ns) {
  constexpr std::array units = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && ns >= 999.5 * units[unit].amount) ++unit;
  const double amount = ns / units[unit].amount;
  return amount < 999.5 ? fmt::format("{:.3g} {}", amount, units[unit].name)
                        : fmt::format("{:.0f} {}", amount, units[unit].name);
}

std::string counted(std::int64_t n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / std::max<std::int64_t>(b, 1) + (a % std::max<std::int64_t>(b, 1) != 0 ? 1 : 0);
}

/// "100 pieces of 64 bytes", "7 pieces of 512 bytes on average".
std::string pieces_text(std::int64_t bytes, std::int64_t pieces) {
  if (pieces <= 1) return "one piece of " + bytes_text(bytes);
  const char* about = bytes % pieces == 0 ? "" : " on average";
  return fmt::format("{} pieces of {}{}", pieces, bytes_text(bytes / pieces), about);
}

// ---- layout of the text: the question, the decision with its details, what else there was -------

void add_line(std::string& text, const std::string& line) { text += "\n  " + line; }
void add_detail(std::string& text, const std::string& line) { text += "\n     " + line; }

void add_decision(std::string& text, const char* what, double cost_ns, const std::string& reason) {
  add_line(text, fmt::format("-> {}, about {}: {}", what, time_text(cost_ns), reason));
}

// ---- a rank that moves its own bytes -----------------------------------------------------------

std::string asked_text(Direction direction, const Shape& shape) {
  std::string text =
      fmt::format("{} alone: {}", verb(direction), pieces_text(shape.bytes, shape.file_blocks));
  if (!shape.ordered) text += " here and there in the file";
  const std::int64_t holes = shape.span - shape.bytes;
  if (shape.ordered && shape.file_blocks > 1) {
    text += fmt::format(" spread over {} of the file", bytes_text(shape.span));
    if (holes > 0) text += fmt::format(", {} of it holes", bytes_text(holes));
  }
  const char* side = direction == Direction::write ? "taken from" : "put into";
  if (shape.memory_blocks > 1)
    text += fmt::format("; {} {} of memory", side, counted(shape.memory_blocks, "piece"));
  return text;
}

/// The requests a method makes, in words.
std::string requests_text(Direction direction, const Shape& shape, Method method,
                          const Circumstances& c) {
  const std::int64_t room = own_window(direction, c.hints, c.storage);
  const std::int64_t pieces = std::max<std::int64_t>(shape.file_blocks, 1);
  switch (method) {
    case Method::direct:
      return "one request, straight between the user's memory and the file";
    case Method::list:
      if (shape.file_blocks <= 1) return "each piece of memory is moved from where it is, uncopied";
      return fmt::format(
          "{}, one for each piece of the file, straight between the user's memory "
          "and the file",
          counted(pieces, "request"));
    case Method::gather:
      return fmt::format("all bytes pass through a packed buffer of at most {}, {}",
                         bytes_text(room),
                         counted(pieces + divide_up(shape.bytes, room) - 1, "request"));
    case Method::sieve: {
      const std::string windows = counted(divide_up(shape.span, room), "window");
      return direction == Direction::write
                 ? fmt::format(
                       "{} of at most {}, holes included: each is read, changed in memory "
                       "and written back",
                       windows, bytes_text(room))
                 : fmt::format(
                       "{} of at most {}, holes included: each is read whole, the pieces "
                       "are picked out",
                       windows, bytes_text(room));
    }
    case Method::nothing:
    case Method::whole:
    case Method::ahead:
      break;
  }
  return "nothing to move";
}

std::string locks_text(Method method, const Hints& hints, const Capabilities& storage) {
  const bool sieve = method == Method::sieve;
  if (hints.tamis_locks == Switch::disable)
    return sieve ? "no lock, by the hint tamis_locks=disable: nobody else may write there meanwhile"
                 : "no lock, by the hint tamis_locks=disable";
  if (sieve) return "each window is locked meanwhile, so that nobody's bytes in the holes are lost";
  if (!storage.locks) return "no lock";
  return locks_plain_writes(hints, storage)
             ? "a lock over it all: somebody else may be sieving this part of the file"
             : "no lock, unless another rank of this file is sieving meanwhile";
}

/// What keeps an access whole in atomic mode.
std::string atomic_text(Direction direction, const Shape& shape) {
  return fmt::format(
      "atomic mode: a {}lock over {} meanwhile, so that the access is whole",
      direction == Direction::write ? "" : "shared ",
      shape.ordered ? "it all, from its first byte to its last one," : "all of the file");
}

void add_candidate(std::string& text, Direction direction, const Shape& shape,
                   const Candidate& other, const Circumstances& c) {
  if (other.refused != nullptr)
    return add_line(text, fmt::format("not {}: {}", name(other.method), other.refused));
  add_line(text, fmt::format("not {}, about {}: {}", name(other.method), time_text(other.cost_ns),
                             requests_text(direction, shape, other.method, c)));
}

// ---- ranks together ----------------------------------------------------------------------------

const char* verb(const Survey& survey) {
  constexpr std::array verbs = {"move", "read", "write", "read and write"};
  return verbs.at(static_cast<std::size_t>(survey.directions));
}

std::string asked_text(const Survey& survey, const Circumstances& c) {
  std::string text =
      fmt::format("{} together: {} of {} ranks", verb(survey), survey.ranks_with_data, c.ranks);
  if (c.nodes > 1) text += fmt::format(" on {} nodes", c.nodes);
  text += " have " + pieces_text(survey.coverage.bytes, survey.file_blocks);
  if (survey.ranks_unordered > 0) return text + " in all";
  const Extent region = survey.region();
  text +=
      fmt::format(" in {} of the file from byte {} on", bytes_text(region.length), region.offset);
  if (survey.directions != 2) return text;
  if (survey.coverage.tiles(region)) return text + ", without holes";
  const std::int64_t holes = region.length - survey.coverage.bytes;
  return text +
         (holes > 0 ? fmt::format(", {} of it holes", bytes_text(holes)) : ", with overlaps");
}

/// "8 windows of at most 1 MiB".
std::string windows_text(std::int64_t windows, const FileRealms& realms, const Circumstances& c) {
  std::int64_t longest = 0;
  for (int i = 0; i < std::min(realms.count(), kMostRealmsMeasured); ++i)
    longest = std::max(longest, realms.in_region(i).bytes);
  const char* at_most = windows == 1 ? "" : "at most ";
  return fmt::format("{} of {}{}", counted(windows, "window"), at_most,
                     bytes_text(std::min(longest, c.window_bytes)));
}

std::string behind_text(const Circumstances& c) {
  return fmt::format(
      "they wait in memory, up to {} of each aggregator, until a sync, the close or an access that "
      "meets them: nothing is read first, and nothing locked",
      bytes_text(std::max(c.hints.tamis_write_behind, 2 * c.window_bytes)));
}

std::string holes_text(const Circumstances& c, const Strategy& strategy) {
  if (strategy.tiled && c.lock_plain_writes)
    return "no holes, so no window is read first; each is locked while it is written, since "
           "somebody else may be sieving";
  if (strategy.tiled) return "no holes, so no window is read first and nothing is locked";
  const char* apart = "ranks write their own pieces of windows with holes, one by one: ";
  if (strategy.piecewise != nullptr)
    return std::string(apart) + strategy.piecewise +
           (c.lock_plain_writes ? "; one lock over it all meanwhile" : "");
  const bool weighed = window_sieving(Direction::write, c.hints) == Switch::automatic;
  const char* lock = c.hints.tamis_locks == Switch::disable
                         ? "no lock, by the hint tamis_locks=disable"
                         : "one lock over it all meanwhile, so that nobody's bytes there are lost";
  return fmt::format("windows with holes are read first, so that the holes keep their bytes{}; {}",
                     weighed ? ", or written piece by piece by the ranks" : "", lock);
}

std::string sparse_text(const Circumstances& c) {
  const std::string begin = "most of it nobody wants: ";
  const char* window = "a window is read from the first to the last byte wanted in it";
  switch (window_sieving(Direction::read, c.hints)) {
    case Switch::enable:
      return begin + window;
    case Switch::disable:
      return begin + "ranks read their own pieces, one by one: sieving is disabled by hint";
    case Switch::automatic:
      break;
  }
  return begin + window + ", or piece by piece by the ranks";
}

/// What the two ways of moving a window with holes would cost, were all windows alike.
std::string average_text(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const bool write = survey.directions == 2;
  const std::int64_t windows =
      std::max<std::int64_t>(strategy.realms.total_windows(c.window_bytes), 1);
  const WindowShape average{.bytes = survey.coverage.bytes / windows,
                            .span = survey.region().length / windows,
                            .blocks = 1,
                            .pieces = divide_up(survey.file_blocks, windows),
                            .holes = true};
  const Direction direction = write ? Direction::write : Direction::read;
  const WindowCosts costs = window_costs(average, window_terms(direction, c, strategy), c.storage);
  return fmt::format(
      "  whichever costs less: an average one with {} takes about {} with its holes, {} piece by "
      "piece",
      counted(average.pieces, "piece"), time_text(costs.sieve_ns), time_text(costs.list_ns));
}

void add_two_phase(std::string& text, const Survey& survey, const Circumstances& c,
                   const Strategy& strategy) {
  const bool write = survey.directions == 2;
  const char* way = c.nodes == 1         ? "through shared memory"
                    : c.nodes == c.ranks ? "by messages"
                                         : "through shared memory on a node, by messages between "
                                           "nodes";
  add_detail(text, "some ranks, the aggregators, move large windows of the file for all ranks;");
  add_detail(text, fmt::format("all ranks' pieces get {} these windows {}",
                               write ? "into" : "out of", way));
  const FileRealms& realms = strategy.realms;
  for (const std::string& line : realms_text(survey, c, realms)) add_detail(text, line);
  const int most = most_realms(survey, c).count();
  if (realms.count() < most)
    add_detail(text, fmt::format("  {} ranks may aggregate, but more of them would make more and "
                                 "smaller windows, which cost more",
                                 most));
  const std::int64_t windows = realms.rounds(c.window_bytes);
  add_detail(text, fmt::format("{}{}{}", windows_text(windows, realms, c),
                               realms.count() == 1 ? "" : " for each aggregator",
                               windows == 1 ? "" : ", two of them in flight at a time"));
  if (strategy.behind) {
    add_detail(text, behind_text(c));
    return;
  }
  if (write) add_detail(text, holes_text(c, strategy));
  if (strategy.sparse) add_detail(text, sparse_text(c));
  const Direction direction = write ? Direction::write : Direction::read;
  const bool holes = write ? !strategy.tiled && strategy.piecewise == nullptr : strategy.sparse;
  if (holes && window_sieving(direction, c.hints) == Switch::automatic)
    add_detail(text, average_text(survey, c, strategy));
}

std::string refused_text(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  std::string text = asked_text(survey, c);
  add_line(text, fmt::format("-> an error on all ranks, nothing is moved: {}", strategy.reason));
  for (const std::string& line : refusal_text(c, strategy.error)) add_detail(text, line);
  return text;
}

void add_alone(std::string& text, const Survey& survey, const Circumstances& c,
               const Strategy& strategy) {
  const bool weighed = strategy.realms.count() > 0;
  std::string reason = strategy.reason;
  if (weighed && strategy.alone_ns <= strategy.two_phase_ns)
    reason += fmt::format(" ({} alone against {} in two phases)", time_text(strategy.alone_ns),
                          time_text(strategy.two_phase_ns));
  add_decision(text, words(Route::alone), strategy.alone_ns, reason);
  add_detail(text, fmt::format("each moves its own pieces in the way that {}",
                               c.hints.tamis_method ? "tamis_method asks for, where it can"
                                                    : "is cheapest for it"));
  const char* what = "some ranks, the aggregators, would move";
  if (!weighed)
    return add_line(text, fmt::format("not two-phase ({} large windows for all ranks): impossible, "
                                      "for the reason above",
                                      what));
  const std::int64_t windows = strategy.realms.total_windows(c.window_bytes);
  add_line(text,
           fmt::format("not two-phase, about {}: {} all {} in {} for all ranks",
                       time_text(strategy.two_phase_ns), what, bytes_text(survey.region().length),
                       windows_text(windows, strategy.realms, c)));
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units = {Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30},
                                Unit{"TiB", 0x1p40}, Unit{"PiB", 0x1p50}, Unit{"EiB", 0x1p60}};
  // Small odd ones are told exactly: a piece of 1200 bytes is no piece of 1.2 KiB.
  if (bytes < 1024 || (bytes < std::int64_t{10} * 1024 && bytes % 1024 != 0))
    return counted(bytes, "byte");
  std::size_t unit = 0;
  const auto amount = static_cast<double>(bytes);
  while (unit + 1 < units.size() && amount >= units[unit + 1].amount) ++unit;
  std::string text = fmt::format("{:.1f}", amount / units[unit].amount);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " " + units[unit].name;
}

std::string explain(Direction direction, const Shape& shape, const Choice& choice,
                    const Circumstances& c) {
  if (shape.bytes == 0) return fmt::format("{} alone: no bytes", verb(direction));
  std::string text = asked_text(direction, shape);
  add_decision(text, name(choice.method), choice.cost_ns, choice.reason);
  if (choice.hint_refused != nullptr)
    add_detail(text, fmt::format("tamis_method={} cannot be followed: {}",
                                 name(*c.hints.tamis_method), choice.hint_refused));
  add_detail(text, requests_text(direction, shape, choice.method, c));
  if (c.atomic)
    add_detail(text, atomic_text(direction, shape));
  else if (direction == Direction::write)
    add_detail(text, locks_text(choice.method, c.hints, c.storage));
  for (const Candidate& other : candidates(direction, shape, c.hints, c.storage))
    if (other.method != choice.method && choice.method != Method::direct)
      add_candidate(text, direction, shape, other, c);
  add_line(text, other_methods(direction, shape, c));
  return text;
}

std::string explain(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  if (!strategy.error.ok()) return refused_text(survey, c, strategy);
  if (strategy.route == Route::nothing)
    return fmt::format("{} together: nothing to do: {}", verb(survey), strategy.reason);
  std::string text = asked_text(survey, c);
  if (strategy.route == Route::two_phase) {
    add_decision(text, words(Route::two_phase), strategy.two_phase_ns, strategy.reason);
    add_two_phase(text, survey, c, strategy);
    add_line(text, fmt::format("not every rank alone, about {}: each would move its own pieces",
                               time_text(strategy.alone_ns)));
  } else {
    add_alone(text, survey, c, strategy);
  }
  add_line(text, other_routes(survey, c));
  if (strategy.route == Route::two_phase)
    add_line(text,
             "to tune it: cb_nodes (how many aggregators), tamis_realms (who has which part of the "
             "file), cb_buffer_size (memory of each for its windows)");
  return text;
}

}  // namespace tamis
