#pragma once

#include <limits>

#include "engine/exchange.hpp"
#include "layout/cursor.hpp"

namespace tamis {

/// A message between nodes is the offset up to which the file's bytes are there, then the bytes of
/// one shipment in stream order (as many as the whole shipment has, whatever is valid).
inline constexpr std::size_t kMessageHead = sizeof(std::int64_t);
inline constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();

/// The part of a rank's access that lies in a window, as a range of its view's stream.
struct Shipment {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};
Shipment cut(const Layout& file, std::int64_t first, std::int64_t bytes, const Extent& window);

/// Copies a shipment between a window's memory and a contiguous message; `to_window` says which
/// way.
void copy_message(const Layout& file, const Shipment& shipment, const Extent& window,
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
  Extent window(int realm, std::int64_t round) const {
    return strategy.realms.window(realm, round, plan.window_bytes);
  }
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
  Task<bool> ship_beside(int realm, std::int64_t round, const Extent& window);
  Task<bool> ship_far(int realm, const Extent& window);
  void declare(int realm, std::int64_t round);
  void move(const Shipment& shipment, const Extent& window, std::byte* window_memory);
  void pack_message(const Shipment& shipment, std::byte* message);

  Run& run_;
  Cursor memory_;
};

/// An aggregator's part: opens windows, waits until ranks are done with them, moves them.
class Exchange::Server {
 public:
  explicit Server(Run& run) : run_(run), realm_(run.my_realm()) {}
  Task<bool> serve();

  /// First error met, and the offset up to which the realm was moved (kWhole: all of it).
  const Status& status() const { return status_; }
  std::int64_t good_until() const { return good_until_; }

 private:
  Task<bool> begin(std::int64_t round);
  Task<bool> end(std::int64_t round);
  Coverage declared_far(const Extent& window) const;
  void prefill(const WindowUse& use, const Extent& window, const Extent& part);
  void fill(const WindowUse& use, const Extent& window);
  void store(const WindowUse& use, const Extent& window, const Extent& part);
  void note(const Outcome& outcome, const Extent& part);
  Task<bool> receive_far(const WindowUse& use, const Extent& window);
  Task<bool> send_far(const WindowUse& use, const Extent& window);
  /// The part of a window in flight that ranks put something into.
  Extent& touched(std::int64_t round) {
    return touched_[static_cast<std::size_t>(round % kWindowsInFlight)];
  }

  Run& run_;
  int realm_;
  Status status_;
  std::int64_t good_until_ = kWhole;
  Extent touched_[kWindowsInFlight];
};

}  // namespace tamis
