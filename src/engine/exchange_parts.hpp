#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "engine/exchange.hpp"
#include "engine/flight.hpp"
#include "engine/share.hpp"
#include "engine/write_behind.hpp"
#include "plan/window_method.hpp"

namespace tamis {

struct Parcel;

/// Messages of an aggregator that are under way.
inline constexpr std::size_t kInbox = 4;
inline constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();

/// What of a window lies before a position of its realm's stream.
inline Window before(const Window& window, std::int64_t position) {
  return {window.first, std::min(window.end(), position) - window.first};
}

/// Seat of the rank that carries a node's bytes to and from a realm elsewhere.
inline std::size_t carrier_seat(int realm, std::size_t seats) {
  return static_cast<std::size_t>(realm) % seats;
}

/// Marks what a shipment put into a window; `shifted` is the view as the window's memory sees it.
/// Nothing where there are no marks.
void mark_shipment(const Layout& shifted, const Shipment& shipment, std::byte* marks);

/// One two-phase access as one rank sees it.
struct Exchange::Run {
  Team& team;
  Driver& driver;
  const Circumstances& plan;
  Staging& staging;
  std::byte* inbox;  // an aggregator's: room for kInbox messages; null where there is one node
  const Access& access;
  const Strategy& strategy;
  const Views& views;
  Account account;
  std::span<Flight> flights;  // an aggregator's, one for each window in flight
  TransferQueue* queue;       // for them; null: they are carried out at once
  WriteBehind* behind;        // null: windows are stored at once
  Extent span{};              ///< of this rank's bytes in the file

  bool write() const { return access.direction == Direction::write; }
  /// Windows that are stored at once may have holes.
  bool leaves_holes() const { return write() && !strategy.tiled && behind == nullptr; }
  /// Windows with holes may be read first and written back.
  bool rewrites() const { return leaves_holes() && strategy.piecewise == nullptr; }
  /// One lock over the whole region keeps those apart who write there meanwhile.
  bool locks_region() const {
    return (rewrites() || (leaves_holes() && plan.lock_plain_writes)) &&
           plan.hints.tamis_locks != Switch::disable;
  }
  /// Ranks have to say beforehand what they have in a window.
  bool declares() const { return leaves_holes() || strategy.sparse; }
  std::int64_t rounds() const { return strategy.realms.rounds(plan.window_bytes); }
  Window window(int realm, std::int64_t round) const {
    return strategy.realms.window(realm, round, plan.window_bytes);
  }
  Layout layout(int realm) const { return strategy.realms.layout(realm); }
  Portion own() const { return {access.file, access.first, access.bytes}; }
  /// Where ranks put a window's bytes, or take them from. REQUIRES: it was opened.
  WindowMemory memory(int realm, const WindowUse& use, const Window& window) const;
  /// How much of them is in a window.
  std::int64_t own_bytes(int realm, const Window& window) const;
  /// A reader of what was told of a window knows it now.
  void heard(const TellUse& use) const;
  int owner(int realm) const { return plan.aggregators[static_cast<std::size_t>(realm)]; }
  /// Realm this rank serves; -1: none.
  int my_realm() const;
};

/// The windows of aggregators on other nodes, in the order in which the ranks of a node, and the
/// carriers among them, go through them.
struct FarWindow {
  int realm = 0;
  Window window;
  std::int64_t number = 0;  ///< over the file's life: its place among those told beforehand
};
class Exchange::FarWindows {
 public:
  explicit FarWindows(const Run& run);
  bool next(FarWindow& far);

 private:
  const Run& run_;
  std::int64_t rounds_;
  std::int64_t round_ = 0;
  int realm_ = -1;
  std::int64_t number_;
};

/// A rank's own bytes, on their way to or from all aggregators.
class Exchange::Shipper {
 public:
  explicit Shipper(Run& run);
  Task<bool> ship();

  /// Of the pieces this rank moved by itself: the first error met, and the position in its stream
  /// of the first byte that could not be moved; the end of the access: none.
  const Status& status() const { return status_; }
  std::int64_t moved_until() const { return moved_until_; }

 private:
  struct Piece;  // of this rank's bytes, in a parcel
  Task<bool> ship_beside(int realm, std::int64_t round, const Window& window);
  Task<bool> ship_far(const FarWindow& far);
  Task<bool> tell_next();
  Task<bool> move_piece(const FarWindow& far, const Piece& piece);
  void declare(int realm, std::int64_t round);
  std::int64_t move(int realm, const Window& window, const WindowMemory& window_memory,
                    const Part& part = {});
  void move_pieces(int realm, const Window& window, std::byte* window_memory);
  void move_packed(const FarWindow& far, const Part& part, std::byte* packed);

  Run& run_;
  Cursor memory_;
  FarWindows ahead_;  // to be told next
  std::int64_t next_far_;
  Status status_;
  std::int64_t moved_until_;
};

/// Takes parcels of its node to aggregators on other nodes, or fetches them. Each rank of a node
/// carries for some realms.
class Exchange::Carrier {
 public:
  explicit Carrier(Run& run);
  Task<bool> carry();

 private:
  struct Load {
    int owner = 0;
    std::int64_t bytes = 0;   // 0: none
    std::int64_t number = 0;  // of the parcel, over the file's life
  };
  Task<bool> take_up(const Load& load);
  Task<bool> hand_over(Load& load);
  Task<bool> clear();
  void open(const ParcelUse& use);

  Run& run_;
  int seat_;
  FarWindows windows_;
  std::int64_t next_;
  std::array<Ticket, kParcelsInFlight> tickets_{};
  std::array<std::int64_t, kParcelsInFlight> unpacked_{};  // bytes ranks take out of a buffer
};

/// An aggregator's part: opens windows, waits until ranks are done with them, moves them.
class Exchange::Server {
 public:
  explicit Server(Run& run);
  Task<bool> serve();

  /// First error met, and the position in the realm's stream up to which it was moved (kWhole: all
  /// of it).
  const Status& status() const { return status_; }
  std::int64_t good_until() const { return good_until_; }

 private:
  Task<bool> prepare(std::int64_t round);
  void take_kept(const WindowUse& use, const Window& window);
  Task<bool> open(std::int64_t round);
  Task<bool> end(std::int64_t round);
  Task<bool> settle(std::int64_t round);
  Window touched_by(const Coverage& coverage, const Window& window) const;
  Claim declared_far(const Window& window) const;
  Method method_for(const Claim& claim, const Window& part) const;
  void list_far(const WindowUse& use, const Window& window);
  void complete_prefill(const WindowUse& use, const Window& window, const Window& part,
                        const Outcome& got);
  void store(std::int64_t round, const WindowUse& use, const Window& window);
  void note(const Outcome& outcome, const Window& part);
  Task<bool> receive_far(const WindowUse& use, const Window& window);
  Task<bool> send_far(const WindowUse& use, const Window& window);
  std::span<std::byte> message(std::size_t number, const Parcel& parcel) const;
  /// The part of a window in flight that ranks put something into, or want something of.
  Window& touched(std::int64_t round) {
    return touched_[static_cast<std::size_t>(round % kWindowsInFlight)];
  }
  /// How it is moved.
  Method& method(std::int64_t round) {
    return method_[static_cast<std::size_t>(round % kWindowsInFlight)];
  }
  Flight& flight(std::int64_t round);
  Flight::Means means(std::int64_t round) const;

  Run& run_;
  int realm_;
  Layout layout_;  // of the realm
  WindowTerms terms_;
  Status status_;
  std::int64_t good_until_ = kWhole;
  Window touched_[kWindowsInFlight];
  Method method_[kWindowsInFlight] = {};
  std::array<Ticket, kInbox> tickets_{};
};

}  // namespace tamis
