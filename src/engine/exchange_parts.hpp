#pragma once

#include <algorithm>
#include <limits>

#include "engine/exchange.hpp"
#include "engine/share.hpp"

namespace tamis {

/// A message between nodes is the position in the realm's stream up to which its bytes are there,
/// then the bytes of one rank's share of a window in stream order (as many as the whole share has,
/// whatever is valid).
inline constexpr std::size_t kMessageHead = sizeof(std::int64_t);
inline constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();

/// What of a window lies before a position of its realm's stream.
inline Window before(const Window& window, std::int64_t position) {
  return {window.first, std::min(window.end(), position) - window.first};
}

/// Copies a share between a window's memory and a contiguous message; `to_window` says which way.
void copy_message(const Portion& portion, const Layout& realm, const Window& window,
                  std::byte* window_memory, std::byte* message, bool to_window);

/// One two-phase access as one rank sees it.
struct Exchange::Run {
  Team& team;
  Driver& driver;
  const Circumstances& plan;
  Staging& staging;
  std::byte* ship_message;  // room for one message each; null where there is one node
  std::byte* serve_message;
  const Access& access;
  const Strategy& strategy;
  const Views& views;
  Account account;

  bool write() const { return access.direction == Direction::write; }
  /// Ranks have to say beforehand what they will put into a window, since there may be holes.
  bool declares() const { return write() && !strategy.tiled; }
  std::int64_t rounds() const { return strategy.realms.rounds(plan.window_bytes); }
  Window window(int realm, std::int64_t round) const {
    return strategy.realms.window(realm, round, plan.window_bytes);
  }
  Layout layout(int realm) const { return strategy.realms.layout(realm); }
  Portion own() const { return {access.file, access.first, access.bytes}; }
  int owner(int realm) const { return plan.aggregators[static_cast<std::size_t>(realm)]; }
  /// Realm this rank serves; -1: none.
  int my_realm() const;
};

/// A rank's own bytes, on their way to or from all aggregators.
class Exchange::Shipper {
 public:
  explicit Shipper(Run& run) : run_(run), memory_(*run.access.memory) {}
  Task<bool> ship();

 private:
  Task<bool> ship_beside(int realm, std::int64_t round, const Window& window);
  Task<bool> ship_far(int realm, const Window& window);
  void declare(int realm, std::int64_t round);
  std::int64_t move(int realm, const Window& window, std::byte* window_memory);
  void pack_message(int realm, const Window& window, std::byte* message);

  Run& run_;
  Cursor memory_;
};

/// An aggregator's part: opens windows, waits until ranks are done with them, moves them.
class Exchange::Server {
 public:
  explicit Server(Run& run) : run_(run), realm_(run.my_realm()) {
    if (realm_ >= 0) layout_ = run.layout(realm_);
  }
  Task<bool> serve();

  /// First error met, and the position in the realm's stream up to which it was moved (kWhole: all
  /// of it).
  const Status& status() const { return status_; }
  std::int64_t good_until() const { return good_until_; }

 private:
  Task<bool> begin(std::int64_t round);
  Task<bool> end(std::int64_t round);
  Window touched_by(const Coverage& coverage, const Window& window) const;
  Coverage declared_far(const Window& window) const;
  void prefill(const WindowUse& use, const Window& window, const Window& part);
  void fill(const WindowUse& use, const Window& window);
  void store(const WindowUse& use, const Window& window, const Window& part);
  Outcome transfer(Direction direction, const Window& part, std::byte* memory);
  void note(const Outcome& outcome, const Window& part);
  Task<bool> receive_far(const WindowUse& use, const Window& window);
  Task<bool> send_far(const WindowUse& use, const Window& window);
  /// The part of a window in flight that ranks put something into.
  Window& touched(std::int64_t round) {
    return touched_[static_cast<std::size_t>(round % kWindowsInFlight)];
  }

  Run& run_;
  int realm_;
  Layout layout_;  // of the realm
  Status status_;
  std::int64_t good_until_ = kWhole;
  Window touched_[kWindowsInFlight];
};

}  // namespace tamis
