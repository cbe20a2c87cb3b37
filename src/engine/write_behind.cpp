#include "engine/write_behind.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <thread>

#include "base/attempt.hpp"
#include "engine/batch.hpp"
#include "engine/flight.hpp"
#include "engine/verdict.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr int kLeastPlaces = 2;  // one is filled while the one before is still in use
constexpr int kMostPlaces = 1 << 16;

std::int64_t to_pages(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

int places_for(const Circumstances& plan) {
  const std::int64_t wanted = plan.hints.tamis_write_behind / plan.window_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, kLeastPlaces, kMostPlaces));
}

/// Stretches of marked bytes, one after the other.
class Marked {
 public:
  Marked(const std::byte* marks, std::int64_t bytes) : marks_(marks), bytes_(bytes) {}

  /// Places of the next stretch; false where there is none.
  bool next(Window& stretch) {
    const std::int64_t first = find(0xff, at_);
    if (first == bytes_) return false;
    at_ = find(0, first);
    stretch = {first, at_ - first};
    return true;
  }

 private:
  std::int64_t find(int value, std::int64_t from) const {
    const auto left = static_cast<std::size_t>(bytes_ - from);
    const void* found = std::memchr(marks_ + from, value, left);
    return found == nullptr ? bytes_ : static_cast<const std::byte*>(found) - marks_;
  }

  const std::byte* marks_;
  std::int64_t bytes_;
  std::int64_t at_ = 0;
};

/// Bytes without a mark become those of `old`.
void fill_unmarked(const WindowMemory& window, const std::byte* old, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; ++i)
    window.bytes[i] = (window.bytes[i] & window.marks[i]) | (old[i] & ~window.marks[i]);
}

}  // namespace

/// A place that nobody else may use while this lives. Whoever waits here holds no other one, and
/// those who hold one while ranks fill it wait for ranks, not for places.
class WriteBehind::Hold {
 public:
  explicit Hold(Place& place) : place_(place) {
    while (place_.held.exchange(1) != 0) std::this_thread::yield();
  }
  ~Hold() {
    if (!kept_) place_.held.store(0);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  /// It stays held.
  void keep() { kept_ = true; }

 private:
  Place& place_;
  bool kept_ = false;
};

WriteBehind::WriteBehind(Team& team, const Means& means, const FileRealms& realms)
    : team_(team), means_(means), places_(places_for(means.plan)) {
  for (int realm = 0; realm < realms.count(); ++realm) {
    const int owner = means.plan.aggregators[static_cast<std::size_t>(realm)];
    realms_.push_back(realms.layout(realm));
    node_index_.push_back(team.beside_me(owner) ? static_cast<int>(here_++) : -1);
    if (owner == team.rank()) my_realm_ = realm;
  }
  if (my_realm_ >= 0) used_.resize(static_cast<std::size_t>(places_));
}

std::int64_t WriteBehind::places_end() const {
  return to_pages(here_ * places_ * static_cast<std::int64_t>(sizeof(Place)));
}

std::int64_t WriteBehind::slot(int realm, int place) const {
  return node_index_[static_cast<std::size_t>(realm)] * std::int64_t{places_} + place;
}

WriteBehind::Place& WriteBehind::place_at(int realm, int place) {
  return reinterpret_cast<Place*>(segment_->data())[slot(realm, place)];
}

/// Memory of a place from the window's place on the grid on.
WindowMemory WriteBehind::slot_memory(int realm, int place) {
  const std::int64_t bytes = means_.plan.window_bytes;
  std::byte* const begin = segment_->data() + places_end() + slot(realm, place) * 2 * bytes;
  return {begin, begin + bytes};
}

WindowMemory WriteBehind::memory(int realm, int place, const Window& window) {
  const WindowMemory all = slot_memory(realm, place);
  const std::int64_t skipped = window.first % means_.plan.window_bytes;
  return {all.bytes + skipped, all.marks + skipped};
}

/// Makes sure of the memory of one more place: a later touch of shared memory could end the
/// process.
Status WriteBehind::provide(int place) {
  const WindowMemory memory = slot_memory(my_realm_, place);
  const std::int64_t bytes = means_.plan.window_bytes;
  const Status status =
      attempt([&] { return segment_->reserve(memory.bytes - segment_->data(), 2 * bytes); });
  if (!status.ok()) return status;
  std::memset(memory.marks, 0, static_cast<std::size_t>(bytes));
  provided_ = place + 1;
  return {};
}

/// The node's first rank sets all places up; an aggregator takes the memory without which it
/// cannot go on.
Status WriteBehind::set_up(std::unique_ptr<Segment> segment) {
  segment_ = std::move(segment);
  if (team_.seat_of(team_.rank()) == 0) {
    const Status status =
        attempt([&] { return here_ > 0 ? segment_->reserve(0, places_end()) : Status{}; });
    if (!status.ok()) return status;
    auto* const places = reinterpret_cast<Place*>(segment_->data());
    for (std::int64_t i = 0; i < here_ * places_; ++i) new (places + i) Place{{}, {kNobody}, 0, 0};
  }
  Status status;
  for (int place = 0; my_realm_ >= 0 && status.ok() && place < kLeastPlaces; ++place)
    status = provide(place);
  return status;
}

Task<Result<std::unique_ptr<WriteBehind>>> WriteBehind::create(Team& team, const Means& means,
                                                               const FileRealms& realms) {
  std::unique_ptr<WriteBehind> made;
  const Status own = attempt([&] {
    made.reset(new WriteBehind(team, means, realms));
    return Status{};
  });
  std::int64_t bytes = kPage;
  if (made != nullptr)
    bytes = std::max(
        bytes, made->places_end() + made->here_ * made->places_ * 2 * means.plan.window_bytes);
  Result<std::unique_ptr<Segment>> segment = co_await team.share(bytes, own);
  if (!segment.ok()) co_return segment.status();
  Verdict ready;
  ready.worst = made->set_up(std::move(*segment)).travelling(team.rank());
  ready = co_await team.agree(ready);
  if (!ready.worst.ok()) co_return ready.worst;
  co_return std::move(made);
}

bool WriteBehind::is_mine(int place) const {
  return std::find(taken_.begin(), taken_.end(), place) != taken_.end();
}

Result<int> WriteBehind::take(const Window& window, Account account) {
  const std::int64_t number = window.first / means_.plan.window_bytes;
  int found = -1;
  for (int place = 0; place < provided_ && found < 0; ++place) {
    if (is_mine(place)) continue;
    Place& state = place_at(my_realm_, place);
    Hold hold(state);
    if (state.number != number) continue;
    hold.keep();
    found = place;
  }
  if (found < 0) {
    const Result<int> empty = free_place(account);
    if (!empty.ok()) return empty;
    found = *empty;
    Place& state = place_at(my_realm_, found);
    state.number = number;
    state.first = window.end();
    state.end = window.first;
  }
  used_[static_cast<std::size_t>(found)] = ++clock_;
  *std::find(taken_.begin(), taken_.end(), -1) = found;
  return found;
}

/// One without a window, held. Otherwise the one whose window was not used for longest is emptied;
/// where that fails, the next one.
Result<int> WriteBehind::free_place(Account account) {
  for (int place = 0; place < provided_; ++place) {
    if (is_mine(place) || place_at(my_realm_, place).number.load() != kNobody) continue;
    Hold(place_at(my_realm_, place)).keep();
    return place;
  }
  if (provided_ < places_ && provide(provided_).ok()) {
    Hold(place_at(my_realm_, provided_ - 1)).keep();
    return provided_ - 1;
  }
  Status first;
  for (int place = oldest_after(0); place >= 0;) {
    Hold hold(place_at(my_realm_, place));
    const Status status = store(my_realm_, place, account);
    if (status.ok()) {
      hold.keep();
      return place;
    }
    first.keep_first(status);
    place = oldest_after(used_[static_cast<std::size_t>(place)]);
  }
  return first;
}

/// The place that was used first after `time`, and is not being filled; -1: none.
int WriteBehind::oldest_after(std::uint64_t time) const {
  const auto used = [&](int place) { return used_[static_cast<std::size_t>(place)]; };
  int oldest = -1;
  for (int place = 0; place < provided_; ++place)
    if (used(place) > time && !is_mine(place) && (oldest < 0 || used(place) < used(oldest)))
      oldest = place;
  return oldest;
}

void WriteBehind::give_back(int place, const Window& window) {
  Place& state = place_at(my_realm_, place);
  state.first = std::min(state.first, window.first);
  state.end = std::max(state.end, window.end());
  *std::find(taken_.begin(), taken_.end(), place) = -1;
  state.held.store(0);
}

Status WriteBehind::store_own(Account account) {
  Status status;
  for (int place = 0; place < provided_; ++place) {
    Hold hold(place_at(my_realm_, place));
    status.keep_first(store(my_realm_, place, account));
  }
  return status;
}

Status WriteBehind::store_on_node(const Extent& range, Account account) {
  Status status;
  for (int realm = 0; realm < static_cast<int>(realms_.size()); ++realm) {
    if (node_index_[static_cast<std::size_t>(realm)] < 0) continue;
    const Layout& layout = realms_[static_cast<std::size_t>(realm)];
    for (int place = 0; place < places_; ++place) {
      Place& state = place_at(realm, place);
      if (state.number.load() == kNobody) continue;
      const Hold hold(state);
      if (state.number.load() == kNobody) continue;
      const Extent span = layout.span_of(state.first, state.end - state.first);
      if (!intersect(span, range).empty()) status.keep_first(store(realm, place, account));
    }
  }
  return status;
}

std::int64_t WriteBehind::memory_held() const { return provided_ * 2 * means_.plan.window_bytes; }

/// Empties a place that the caller holds; where that fails it stays as it is.
Status WriteBehind::store(int realm, int place, Account account) {
  Place& state = place_at(realm, place);
  if (state.number == kNobody) return {};
  const Window filled{state.first, state.end - state.first};
  const WindowMemory memory = this->memory(realm, place, filled);
  const Layout& layout = realms_[static_cast<std::size_t>(realm)];
  const Status status = store_marked(layout, filled, memory, account);
  if (!status.ok()) return status;
  std::memset(memory.marks, 0, static_cast<std::size_t>(filled.bytes));
  state.number = kNobody;
  return {};
}

Status WriteBehind::store_marked(const Layout& layout, const Window& filled,
                                 const WindowMemory& memory, Account account) {
  Shape shape;
  Window all;  // from the first to the last marked byte
  Window stretch;
  for (Marked marked(memory.marks, filled.bytes); marked.next(stretch); shape.file_blocks += 1) {
    if (shape.file_blocks == 0) all.first = filled.first + stretch.first;
    all.bytes = filled.first + stretch.end() - all.first;
    shape.bytes += stretch.bytes;
  }
  if (all.empty()) return {};
  shape.memory_blocks = shape.file_blocks;
  shape.span = layout.span_of(all.first, all.bytes).length;
  const std::int64_t skipped = all.first - filled.first;
  const WindowMemory from{memory.bytes + skipped, memory.marks + skipped};
  const Choice choice =
      choose_method(Direction::write, shape, means_.plan.hints, means_.plan.storage);
  return choice.method == Method::sieve ? store_whole(layout, all, from, account)
                                        : store_runs(layout, all, from, account);
}

/// Only what is marked, stretch by stretch.
Status WriteBehind::store_runs(const Layout& layout, const Window& all, const WindowMemory& memory,
                               Account account) {
  WriteGate::Plain plain(means_.gate, means_.driver, layout.span_of(all.first, all.bytes), account);
  Status status = plain.status();
  Batch batch(means_.driver, account, Direction::write);
  Window stretch;
  bool more = status.ok();
  for (Marked marked(memory.marks, all.bytes); more && marked.next(stretch);) {
    std::byte* from = memory.bytes + stretch.first;
    Blocks blocks(layout, all.first + stretch.first, stretch.bytes);
    for (Extent block; more && blocks.next(block); from += block.length)
      more = batch.add(block, from);
  }
  status.keep_first(batch.finish().status);
  plain.release();
  status.keep_first(plain.status());
  return status;
}

/// Read-modify-write of all of it: between the marks goes back what is there under the lock.
Status WriteBehind::store_whole(const Layout& layout, const Window& all, const WindowMemory& memory,
                                Account account) {
  std::optional<Scratch::Loan> old;
  const Status room = attempt([&] {
    old.emplace(means_.scratch.take(means_.plan.window_bytes));
    return Status{};
  });
  if (!room.ok()) return store_runs(layout, all, memory, account);
  const WriteGate::Sieving sieving(means_.gate, team_.plain_writers());
  const bool locks = means_.plan.hints.tamis_locks != Switch::disable;
  RangeLock held = account.lock(means_.driver, layout.span_of(all.first, all.bytes),
                                locks ? LockKind::exclusive : LockKind::none);
  if (!held.status().ok()) return held.status();
  Flight flight;
  flight.begin({means_.driver, nullptr, 0, account}, Direction::read, layout, all, old->data());
  Outcome outcome = flight.outcome();
  if (outcome.status.ok()) {
    account.count(&Tally::rewrites);
    account.count(&Tally::bytes_rewritten, outcome.bytes);
    // Beyond the end of the file there are zeros.
    std::memset(old->data() + outcome.bytes, 0,
                static_cast<std::size_t>(all.bytes - outcome.bytes));
    fill_unmarked(memory, old->data(), all.bytes);
    flight.begin({means_.driver, nullptr, 0, account}, Direction::write, layout, all, memory.bytes);
    outcome = flight.outcome();
  }
  held.release();
  outcome.status.keep_first(held.status());
  return outcome.status;
}

}  // namespace tamis
