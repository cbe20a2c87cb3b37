#include "plan/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tamis {
namespace {

constexpr std::array kSwitches = {Switch::automatic, Switch::enable, Switch::disable};

const char* text_of(Switch wish) {
  constexpr std::array names = {"automatic", "enable", "disable"};
  return names.at(static_cast<std::size_t>(wish));
}

/// "4M", as hints are written.
std::string hint_text(std::int64_t bytes) {
  constexpr std::array suffixes = {"", "k", "M", "G"};
  std::size_t suffix = 0;
  for (; suffix + 1 < suffixes.size() && bytes % 1024 == 0; ++suffix) bytes /= 1024;
  return fmt::format("{}{}", bytes, suffixes.at(suffix));
}

/// What was tried, and what came of it.
class Changes {
 public:
  explicit Changes(std::string taken) : taken_(std::move(taken)) {}

  /// The hint `key` with this value led to `outcome`.
  void note(const std::string& key, const std::string& value, const std::string& outcome) {
    if (std::ranges::find(keys_, key) == keys_.end()) keys_.push_back(key);
    add(key + "=" + value, outcome);
  }
  /// Something else than a hint did.
  void add(const std::string& what, const std::string& outcome) {
    if (outcome == taken_) return;
    const auto same = std::ranges::find(changes_, outcome, &Change::outcome);
    if (same == changes_.end())
      changes_.push_back({what, outcome});
    else
      same->whats += " or " + what;
  }
  std::string text() const {
    if (changes_.empty() && keys_.size() == 1)
      return fmt::format("the hint {} does not change this", keys_[0]);
    if (changes_.empty())
      return fmt::format("none of the hints {} changes this", fmt::join(keys_, ", "));
    std::string text = "to change it: ";
    for (const Change& change : changes_)
      text += fmt::format("{}{} (then {})", &change == changes_.data() ? "" : "; ", change.whats,
                          change.outcome);
    return text;
  }

 private:
  struct Change {
    std::string whats;
    std::string outcome;
  };
  std::string taken_;
  std::vector<std::string> keys_;
  std::vector<Change> changes_;
};

/// tamis_locks as it is not: as an open of the file would find it.
Circumstances with_other_locks(const Circumstances& plan) {
  Circumstances other = plan;
  const bool disable = plan.hints.tamis_locks != Switch::disable;
  other.hints.tamis_locks = disable ? Switch::disable : Switch::automatic;
  if (disable) other.storage.may_rewrite = true;
  settle(other, plan.nodes);
  return other;
}

std::string locks_text(const Circumstances& plan) {
  return plan.hints.tamis_locks == Switch::disable
             ? "disable, your word that nobody else writes the file"
             : text_of(plan.hints.tamis_locks);
}

/// A rank's own bytes under other hints.
class OwnBytes {
 public:
  OwnBytes(Direction direction, const Shape& shape, const Circumstances& plan)
      : direction_(direction), shape_(shape), plan_(plan), taken_(method_of(plan)) {}

  std::string changes() {
    // Whatever hints say, one piece is moved as it is.
    if (taken_ == Method::direct) return "no hint changes this";
    const std::string sieving = fmt::format("romio_ds_{}", verb(direction_));
    for (const Switch wish : kSwitches)
      try_hint(sieving, text_of(wish), [&](Hints& hints) { sieving_of(hints) = wish; });
    try_methods();
    // Nobody should promise anything for less than a sieve.
    if (direction_ == Direction::write && taken_ != Method::sieve) {
      const Circumstances other = with_other_locks(plan_);
      changes_.note("tamis_locks", locks_text(other), name(method_of(other)));
    }
    try_larger_window();
    return changes_.text();
  }

 private:
  Switch& sieving_of(Hints& hints) const {
    return direction_ == Direction::write ? hints.romio_ds_write : hints.romio_ds_read;
  }
  std::int64_t& window_of(Hints& hints) const {
    return direction_ == Direction::write ? hints.ind_wr_buffer_size : hints.ind_rd_buffer_size;
  }
  Method method_of(const Circumstances& plan) const {
    return choose_method(direction_, shape_, plan.hints, plan.storage).method;
  }
  void try_hint(const std::string& key, const std::string& value, const auto& set) {
    Circumstances other = plan_;
    set(other.hints);
    changes_.note(key, value, name(method_of(other)));
  }
  void try_methods();
  void try_larger_window();

  Direction direction_;
  const Shape& shape_;
  const Circumstances& plan_;
  Method taken_;
  Changes changes_{name(taken_)};
};

void OwnBytes::try_methods() {
  try_hint("tamis_method", "automatic", [](Hints& hints) { hints.tamis_method.reset(); });
  for (const Method method : kMethods) {
    Circumstances other = plan_;
    other.hints.tamis_method = method;
    if (method_of(other) == method) changes_.note("tamis_method", name(method), name(method));
  }
}

/// The nearest one that makes another method the best: larger windows cost less.
void OwnBytes::try_larger_window() {
  constexpr std::int64_t least = 4096;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  Circumstances other = plan_;
  std::int64_t& window = window_of(other.hints);
  const std::int64_t now = window;
  for (window = least; window < most && (window <= now || method_of(other) == taken_);) window *= 2;
  if (window <= now) return;
  const bool write = direction_ == Direction::write;
  changes_.note(write ? "ind_wr_buffer_size" : "ind_rd_buffer_size", hint_text(window),
                name(method_of(other)));
}

/// Ranks together under other hints. What each would do alone is not weighed anew.
class Together {
 public:
  Together(const Survey& survey, const Circumstances& plan) : survey_(survey), plan_(plan) {}

  std::string changes() {
    const bool write = survey_.directions == 2;
    const std::string buffering = fmt::format("romio_cb_{}", write ? "write" : "read");
    for (const Switch wish : kSwitches)
      try_hint(buffering, text_of(wish),
               [&](Hints& hints) { (write ? hints.romio_cb_write : hints.romio_cb_read) = wish; });
    if (write && plan_.hints.tamis_write_behind > 0)
      try_hint("tamis_write_behind", "0", [](Hints& hints) { hints.tamis_write_behind = 0; });
    if (write) try_sieving();
    if (plan_.atomic) {
      Circumstances other = plan_;
      other.atomic = false;
      changes_.add("atomic mode off, by MPI_File_set_atomicity", route_of(survey_, other));
    }
    return changes_.text();
  }

 private:
  static std::string route_of(const Survey& survey, const Circumstances& plan) {
    return words(decide(survey, plan).route);
  }
  void try_hint(const std::string& key, const std::string& value, const auto& set) {
    Circumstances other = plan_;
    set(other.hints);
    changes_.note(key, value, route_of(survey_, other));
  }
  void try_sieving() {
    for (const Switch wish : {Switch::automatic, Switch::disable})
      try_hint("romio_ds_write", text_of(wish), [&](Hints& hints) { hints.romio_ds_write = wish; });
    const Circumstances other = with_other_locks(plan_);
    Survey trusting = survey_;
    if (other.hints.tamis_locks == Switch::disable) trusting.rewrite_obstacles &= kNotReadable;
    changes_.note("tamis_locks", locks_text(other), route_of(trusting, other));
  }

  const Survey& survey_;
  const Circumstances& plan_;
  Changes changes_{route_of(survey_, plan_)};
};

}  // namespace

const char* verb(Direction direction) { return direction == Direction::write ? "write" : "read"; }

const char* words(Route route) {
  constexpr std::array names = {"nothing", "every rank alone", "two-phase"};
  return names.at(static_cast<std::size_t>(route));
}

std::string other_methods(Direction direction, const Shape& shape, const Circumstances& plan) {
  return OwnBytes(direction, shape, plan).changes();
}

std::string other_routes(const Survey& survey, const Circumstances& plan) {
  return Together(survey, plan).changes();
}

}  // namespace tamis
