#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace tamis {
namespace {

constexpr int kMostRealmsShown = 8;

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

const char* verb(Direction direction) { return direction == Direction::write ? "write" : "read"; }

const char* text_of(Switch wish) {
  constexpr std::array names = {"automatic", "enable", "disable"};
  return names.at(static_cast<std::size_t>(wish));
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

void add_decision(std::string& text, const char* what, double cost_ns, const char* reason) {
  add_line(text, fmt::format("-> {}, about {}: {}", what, time_text(cost_ns), reason));
}

/// What other hints would have led to.
class Changes {
 public:
  void add(const std::string& hint, const std::string& outcome) {
    const auto same = std::ranges::find(changes_, outcome, &Change::outcome);
    if (same == changes_.end())
      changes_.push_back({hint, outcome});
    else
      same->hints += " or " + hint;
  }
  std::string text() const {
    if (changes_.empty()) return "no hint changes this";
    std::string text = "to change it: ";
    for (const Change& change : changes_)
      text += fmt::format("{}{} (then {})", &change == changes_.data() ? "" : "; ", change.hints,
                          change.outcome);
    return text;
  }

 private:
  struct Change {
    std::string hints;
    std::string outcome;
  };
  std::vector<Change> changes_;
};

// ---- a rank that moves its own bytes -----------------------------------------------------------

std::int64_t room_of(Direction direction, const Hints& hints) {
  return direction == Direction::write ? hints.ind_wr_buffer_size : hints.ind_rd_buffer_size;
}

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
                          const Hints& hints) {
  const std::int64_t room = room_of(direction, hints);
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
                   const Candidate& other, const Hints& hints) {
  if (other.refused != nullptr)
    return add_line(text, fmt::format("not {}: {}", name(other.method), other.refused));
  add_line(text, fmt::format("not {}, about {}: {}", name(other.method), time_text(other.cost_ns),
                             requests_text(direction, shape, other.method, hints)));
}

/// Hints that would have led to another method, found by trying them.
Changes other_methods(Direction direction, const Shape& shape, Method taken, const Hints& hints,
                      const Capabilities& storage) {
  const bool write = direction == Direction::write;
  Changes changes;
  for (const Switch wish : {Switch::automatic, Switch::enable, Switch::disable}) {
    Hints other = hints;
    (write ? other.romio_ds_write : other.romio_ds_read) = wish;
    const Method method = choose_method(direction, shape, other, storage).method;
    if (method != taken)
      changes.add(fmt::format("romio_ds_{}={}", verb(direction), text_of(wish)), name(method));
  }
  return changes;
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

void add_realms(std::string& text, const FileRealms& realms, const Circumstances& c) {
  if (realms.count() == 1)
    add_detail(text, "1 aggregator, for all of this part of the file (its realm):");
  else
    add_detail(text, fmt::format("{} aggregators, this part of the file cut evenly among them "
                                 "(\"even\" realms):",
                                 realms.count()));
  for (int i = 0; i < std::min(realms.count(), kMostRealmsShown); ++i) {
    const Extent realm = realms.realm(i);
    add_detail(text, fmt::format("  rank {}: {} from byte {} on",
                                 c.aggregators[static_cast<std::size_t>(i)],
                                 bytes_text(realm.length), realm.offset));
  }
  if (realms.count() > kMostRealmsShown)
    add_detail(text, fmt::format("  and {} more", realms.count() - kMostRealmsShown));
}

std::string holes_text(const Circumstances& c, const Strategy& strategy) {
  if (strategy.tiled && c.lock_plain_writes)
    return "no holes, so no window is read first; each is locked while it is written, since "
           "somebody else may be sieving";
  if (strategy.tiled) return "no holes, so no window is read first and nothing is locked";
  if (c.hints.tamis_locks == Switch::disable)
    return "windows with holes are read first, so that the holes keep their bytes; no lock, by the "
           "hint tamis_locks=disable";
  return "windows with holes are read first, so that the holes keep their bytes; one lock over it "
         "all meanwhile, so that nobody's bytes there are lost";
}

void add_two_phase(std::string& text, const Circumstances& c, const Strategy& strategy,
                   Direction direction) {
  const bool write = direction == Direction::write;
  const char* way = c.nodes == 1         ? "through shared memory"
                    : c.nodes == c.ranks ? "by messages"
                                         : "through shared memory on a node, by messages between "
                                           "nodes";
  add_detail(text, "some ranks, the aggregators, move large windows of the file for all ranks;");
  add_detail(text, fmt::format("all ranks' pieces get {} these windows {}",
                               write ? "into" : "out of", way));
  add_realms(text, strategy.realms, c);
  const std::int64_t windows = strategy.realms.rounds(c.window_bytes);
  add_detail(text, fmt::format("{} of at most {} for each aggregator{}", counted(windows, "window"),
                               bytes_text(c.window_bytes),
                               windows == 1 ? "" : ", two of them in flight at a time"));
  if (write) add_detail(text, holes_text(c, strategy));
}

const char* name(Route route) {
  constexpr std::array names = {"nothing", "every rank alone", "two-phase"};
  return names.at(static_cast<std::size_t>(route));
}

void try_hints(Changes& changes, const Survey& survey, const Circumstances& other, Route taken,
               const std::string& hint) {
  const Route route = decide(survey, other).route;
  if (route != taken) changes.add(hint, name(route));
}

/// Hints and modes that would have led another way, found by trying them.
Changes other_routes(const Survey& survey, const Circumstances& c, Route taken,
                     Direction direction) {
  const bool write = direction == Direction::write;
  Changes changes;
  for (const Switch wish : {Switch::automatic, Switch::enable, Switch::disable}) {
    Circumstances other = c;
    (write ? other.hints.romio_cb_write : other.hints.romio_cb_read) = wish;
    try_hints(changes, survey, other, taken,
              fmt::format("romio_cb_{}={}", verb(direction), text_of(wish)));
  }
  Circumstances other = c;
  other.hints.romio_ds_write = Switch::automatic;
  try_hints(changes, survey, other, taken, "romio_ds_write=automatic");
  other = c;
  other.hints.tamis_locks = Switch::disable;
  Survey trusting = survey;
  if (c.storage.can_read_back) trusting.ranks_cannot_rmw = 0;
  try_hints(changes, trusting, other, taken,
            "tamis_locks=disable, your word that nobody else writes the file");
  other = c;
  other.atomic = false;
  try_hints(changes, survey, other, taken, "atomic mode off, by MPI_File_set_atomicity");
  return changes;
}

void add_alone(std::string& text, const Survey& survey, const Circumstances& c,
               const Strategy& strategy) {
  add_decision(text, "every rank alone", strategy.alone_ns, strategy.reason);
  add_detail(text, "each moves its own pieces in the way that is cheapest for it");
  const char* what = "some ranks, the aggregators, would move";
  if (strategy.two_phase_ns > 0)
    add_line(text, fmt::format("not two-phase, about {}: {} all {} in windows of {} for all ranks",
                               time_text(strategy.two_phase_ns), what,
                               bytes_text(survey.region().length), bytes_text(c.window_bytes)));
  else
    add_line(text, fmt::format("not two-phase ({} large windows for all ranks): impossible, for "
                               "the reason above",
                               what));
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
                    const Hints& hints, const Capabilities& storage, bool atomic) {
  if (shape.bytes == 0) return fmt::format("{} alone: no bytes", verb(direction));
  std::string text = asked_text(direction, shape);
  add_decision(text, name(choice.method), choice.cost_ns, choice.reason);
  add_detail(text, requests_text(direction, shape, choice.method, hints));
  if (atomic)
    add_detail(text, atomic_text(direction, shape));
  else if (direction == Direction::write)
    add_detail(text, locks_text(choice.method, hints, storage));
  for (const Candidate& other : candidates(direction, shape, hints, storage))
    if (other.method != choice.method && choice.method != Method::direct)
      add_candidate(text, direction, shape, other, hints);
  add_line(text, other_methods(direction, shape, choice.method, hints, storage).text());
  return text;
}

std::string explain(const Survey& survey, const Circumstances& c, const Strategy& strategy) {
  const Direction direction = survey.directions == 2 ? Direction::write : Direction::read;
  if (strategy.route == Route::nothing)
    return fmt::format("{} together: nothing to do: {}", verb(survey), strategy.reason);
  std::string text = asked_text(survey, c);
  if (strategy.route == Route::two_phase) {
    add_decision(text, "two-phase", strategy.two_phase_ns, strategy.reason);
    add_two_phase(text, c, strategy, direction);
    add_line(text, fmt::format("not every rank alone, about {}: each would move its own pieces",
                               time_text(strategy.alone_ns)));
  } else {
    add_alone(text, survey, c, strategy);
  }
  add_line(text, other_routes(survey, c, strategy.route, direction).text());
  if (strategy.route == Route::two_phase)
    add_line(text,
             "to tune it: cb_nodes (how many aggregators), cb_buffer_size (memory of each for "
             "its windows)");
  return text;
}

}  // namespace tamis
