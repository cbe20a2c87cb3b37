#include <algorithm>
#include <cstring>

#include "engine/exchange_parts.hpp"
#include "engine/pieces.hpp"
#include "layout/pack.hpp"

namespace tamis {

/// Some of this rank's bytes in a window of another node, and where they are in a parcel.
struct Exchange::Shipper::Piece {
  int carrier = 0;                // its seat
  std::int64_t number = 0;        // of the parcel, over the file's life
  std::int64_t parcel_bytes = 0;  // of all ranks
  std::int64_t place = 0;         // of this rank's in it
  Part part;                      // of this rank's share
};

Exchange::Shipper::Shipper(Run& run)
    : run_(run),
      memory_(*run.access.memory),
      ahead_(run),
      next_far_(run.staging.tells()),
      moved_until_(run.access.first + run.access.bytes) {}

Task<bool> Exchange::Shipper::ship() {
  const std::int64_t rounds = run_.rounds();
  const int realms = run_.strategy.realms.count();
  for (std::int64_t round = 0; round < std::min(kWindowsInFlight, rounds); ++round)
    for (int realm = 0; realm < realms; ++realm) declare(realm, round);
  for (std::int64_t i = 0; i < kToldAhead; ++i) co_await tell_next();

  // Rounds before realms, realms ascending, the same on every rank: whoever waits, waits for
  // something earlier in this order, so no two ranks can wait for each other.
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (int realm = 0; realm < realms; ++realm) {
      const Window window = run_.window(realm, round);
      if (window.empty()) continue;
      if (run_.team.beside_me(run_.owner(realm))) {
        co_await ship_beside(realm, round, window);
        declare(realm, round + kWindowsInFlight);
      } else {
        co_await ship_far({realm, window, next_far_++});
        co_await tell_next();
      }
    }
  }
  run_.staging.tells() = next_far_;
  co_return true;
}

void Exchange::Shipper::declare(int realm, std::int64_t round) {
  if (!run_.declares()) return;
  const Window window = run_.window(realm, round);
  const int owner = run_.owner(realm);
  if (window.empty() || !run_.team.beside_me(owner)) return;
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  use.state->declare(share_claim(run_.own(), run_.layout(realm), window));
  const auto all = static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->declared.fetch_add(1) + 1 == all) run_.team.ring(run_.team.seat_of(owner));
}

Task<bool> Exchange::Shipper::ship_beside(int realm, std::int64_t round, const Window& window) {
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  co_await until([&] { return use.state->opened.load() == use.number + 1; });
  if (use.state->method.load() == Method::list) {
    move_pieces(realm, window, use.memory);
  } else {
    // What lies beyond the end of the file is not there.
    const std::int64_t valid_until = run_.write() ? kWhole : use.state->valid_until.load();
    const std::int64_t moved =
        move(realm, before(window, valid_until), run_.memory(realm, use, window));
    if (run_.owner(realm) != run_.team.rank()) run_.account.count(&Tally::bytes_resent, moved);
  }
  const std::uint32_t all = (use.number + 1) * static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->arrived.fetch_add(1) + 1 == all)
    run_.team.ring(run_.team.seat_of(run_.owner(realm)));
  co_return true;
}

/// Straight between the user's memory and the window.
std::int64_t Exchange::Shipper::move(int realm, const Window& window,
                                     const WindowMemory& window_memory, const Part& part) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  Layout shifted = *access.file;
  Share share(run_.own(), run_.layout(realm), window, part);
  std::int64_t moved = 0;
  for (Shipment shipment; share.next(shipment); moved += shipment.bytes) {
    shifted.displacement = access.file->displacement - shipment.shift;
    Cursor inside(shifted, shipment.first);
    memory_.seek(shipment.first - access.first);
    if (run_.write())
      copy_stream(inside, window_memory.bytes, memory_, access.buffer, shipment.bytes);
    else
      copy_stream(memory_, access.buffer, inside, window_memory.bytes, shipment.bytes);
    mark_shipment(shifted, shipment, window_memory.marks);
  }
  return moved;
}

/// List I/O of this rank's own pieces, up to the first byte that cannot be moved. Scattered memory
/// is packed in the window, where the pieces are as long as in the file.
void Exchange::Shipper::move_pieces(int realm, const Window& window, std::byte* window_memory) {
  const Access& access = run_.access;
  const Portion own{access.file, access.first, moved_until_ - access.first};
  if (own.bytes == 0) return;
  const bool straight = access.memory->is_contiguous();
  if (!straight && run_.write()) move(realm, window, {window_memory, nullptr});
  const PieceMemory memory{window_memory,
                           straight ? access.buffer + access.memory->offset_of(0) : nullptr};
  Batch batch(run_.driver, run_.account, access.direction);
  const Outcome some = transfer_pieces(batch, own, run_.layout(realm), window, memory);
  if (!straight && !run_.write()) move(realm, window, {window_memory, nullptr}, {0, some.bytes});
  status_.keep_first(some.status);
  const std::int64_t lost = first_beyond(own, run_.layout(realm), window, some.bytes);
  if (lost >= 0) moved_until_ = lost;
}

/// Says how much this rank has in the window that is told next.
Task<bool> Exchange::Shipper::tell_next() {
  FarWindow far;
  if (!ahead_.next(far)) co_return true;
  const int seats = run_.team.seats();
  const auto readers = static_cast<std::uint32_t>(seats) + 1;
  const TellUse use = run_.staging.tell(far.number);
  co_await until([&] { return use.state->heard.load() == use.number * readers; });
  const int me = run_.team.seat_of(run_.team.rank());
  if (use.tell(me, seats, run_.own_bytes(far.realm, far.window))) run_.team.ring_all();
  co_return true;
}

/// The node's shares in the window, seat after seat, are cut into parcels: this rank sees to its
/// own part of them.
Task<bool> Exchange::Shipper::ship_far(const FarWindow& far) {
  const int seats = run_.team.seats();
  const int me = run_.team.seat_of(run_.team.rank());
  const std::int64_t room = run_.staging.parcel_bytes();
  const TellUse use = run_.staging.tell(far.number);
  co_await until([&] { return use.is_added(); });
  const std::int64_t total = use.state->total.load();
  const std::int64_t behind_me = me + 1 < seats ? use.bytes[me + 1].load() : total;
  const std::int64_t before_me = use.bytes[me].load();
  const Part mine{before_me, behind_me - before_me};
  run_.heard(use);

  const auto carrier = static_cast<int>(carrier_seat(far.realm, static_cast<std::size_t>(seats)));
  const std::int64_t first_parcel = run_.staging.parcels(carrier);
  run_.staging.parcels(carrier) += (total + room - 1) / room;
  run_.account.count(&Tally::bytes_resent, mine.bytes);
  run_.account.count(&Tally::bytes_messages, mine.bytes);
  for (std::int64_t done = 0; done < mine.bytes;) {
    const std::int64_t at = mine.first + done;
    const std::int64_t parcel = at / room;
    const std::int64_t bytes = std::min(mine.bytes - done, (parcel + 1) * room - at);
    const Piece piece{carrier,
                      first_parcel + parcel,
                      std::min(room, total - parcel * room),
                      at % room,
                      {done, bytes}};
    co_await move_piece(far, piece);
    done += bytes;
  }
  co_return true;
}

Task<bool> Exchange::Shipper::move_piece(const FarWindow& far, const Piece& piece) {
  const ParcelUse use = run_.staging.parcel(piece.carrier, piece.number);
  co_await until([&] { return use.state->opened.load() == use.number + 1; });
  Part part = piece.part;
  if (!run_.write()) {  // what lies beyond the end of the file is not there
    std::int64_t valid_until = 0;
    std::memcpy(&valid_until, use.message, kMessageHead);
    if (valid_until < far.window.end()) {
      const std::int64_t there = run_.own_bytes(far.realm, before(far.window, valid_until));
      part.bytes = std::min(part.bytes, there - part.first);
    }
  }
  move_packed(far, part, use.message + kMessageHead + piece.place);
  const std::int64_t moved = use.state->moved.fetch_add(piece.part.bytes) + piece.part.bytes;
  if (moved == piece.parcel_bytes) run_.team.ring(piece.carrier);
  co_return true;
}

/// Between the user's memory and packed bytes.
void Exchange::Shipper::move_packed(const FarWindow& far, const Part& part, std::byte* packed) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  Share share(run_.own(), run_.layout(far.realm), far.window, part);
  for (Shipment shipment; share.next(shipment); packed += shipment.bytes) {
    const Layout flat = Layout::contiguous(shipment.bytes);
    Cursor outside(flat);
    memory_.seek(shipment.first - access.first);
    if (run_.write())
      copy_stream(outside, packed, memory_, access.buffer, shipment.bytes);
    else
      copy_stream(memory_, access.buffer, outside, packed, shipment.bytes);
  }
}

}  // namespace tamis
