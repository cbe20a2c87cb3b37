#include <algorithm>
#include <cstring>

#include "engine/exchange_parts.hpp"
#include "layout/pack.hpp"

namespace tamis {

void copy_message(const Portion& portion, const Layout& realm, const Window& window,
                  std::byte* window_memory, std::byte* message, bool to_window) {
  Layout shifted = *portion.file;
  Share share(portion, realm, window);
  for (Shipment shipment; share.next(shipment); message += shipment.bytes) {
    shifted.displacement = portion.file->displacement - shipment.shift;
    const Layout flat = Layout::contiguous(shipment.bytes);
    Cursor inside(shifted, shipment.first);
    Cursor packed(flat);
    if (to_window)
      copy_stream(inside, window_memory, packed, message, shipment.bytes);
    else
      copy_stream(packed, message, inside, window_memory, shipment.bytes);
  }
}

Task<bool> Exchange::Shipper::ship() {
  const std::int64_t rounds = run_.rounds();
  const int realms = run_.strategy.realms.count();
  for (std::int64_t round = 0; round < std::min(kWindowsInFlight, rounds); ++round)
    for (int realm = 0; realm < realms; ++realm) declare(realm, round);

  // Rounds before realms, realms ascending, the same on every rank: whoever waits, waits for
  // something earlier in this order, so no two ranks can wait for each other.
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (int realm = 0; realm < realms; ++realm) {
      const Window window = run_.window(realm, round);
      if (window.empty()) continue;
      if (run_.team.beside_me(run_.owner(realm)))
        co_await ship_beside(realm, round, window);
      else
        co_await ship_far(realm, window);
      declare(realm, round + kWindowsInFlight);
    }
  }
  co_return true;
}

void Exchange::Shipper::declare(int realm, std::int64_t round) {
  if (!run_.declares() || round >= run_.rounds()) return;
  const Window window = run_.window(realm, round);
  const int owner = run_.owner(realm);
  if (window.empty() || !run_.team.beside_me(owner)) return;
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  use.state->declare(share_coverage(run_.own(), run_.layout(realm), window));
  const auto all = static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->declared.fetch_add(1) + 1 == all) run_.team.ring(run_.team.seat_of(owner));
}

Task<bool> Exchange::Shipper::ship_beside(int realm, std::int64_t round, const Window& window) {
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  co_await until([&] { return use.state->opened.load() == use.number + 1; });
  // What lies beyond the end of the file is not there.
  const std::int64_t valid_until = run_.write() ? kWhole : use.state->valid_until.load();
  const std::int64_t moved = move(realm, before(window, valid_until), use.memory);
  if (run_.owner(realm) != run_.team.rank()) run_.account.count(&Tally::bytes_resent, moved);
  const std::uint32_t all = (use.number + 1) * static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->arrived.fetch_add(1) + 1 == all)
    run_.team.ring(run_.team.seat_of(run_.owner(realm)));
  co_return true;
}

/// Straight between the user's memory and the window.
std::int64_t Exchange::Shipper::move(int realm, const Window& window, std::byte* window_memory) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  Layout shifted = *access.file;
  Share share(run_.own(), run_.layout(realm), window);
  std::int64_t moved = 0;
  for (Shipment shipment; share.next(shipment); moved += shipment.bytes) {
    shifted.displacement = access.file->displacement - shipment.shift;
    Cursor inside(shifted, shipment.first);
    memory_.seek(shipment.first - access.first);
    if (run_.write())
      copy_stream(inside, window_memory, memory_, access.buffer, shipment.bytes);
    else
      copy_stream(memory_, access.buffer, inside, window_memory, shipment.bytes);
  }
  return moved;
}

void Exchange::Shipper::pack_message(int realm, const Window& window, std::byte* message) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  Share share(run_.own(), run_.layout(realm), window);
  for (Shipment shipment; share.next(shipment); message += shipment.bytes) {
    const Layout flat = Layout::contiguous(shipment.bytes);
    Cursor packed(flat);
    memory_.seek(shipment.first - access.first);
    if (run_.write())
      copy_stream(packed, message, memory_, access.buffer, shipment.bytes);
    else
      copy_stream(memory_, access.buffer, packed, message, shipment.bytes);
  }
}

Task<bool> Exchange::Shipper::ship_far(int realm, const Window& window) {
  const std::int64_t bytes = share_bytes(run_.own(), run_.layout(realm), window);
  if (bytes == 0) co_return true;
  Comm& comm = run_.team.comm();
  const int owner = run_.owner(realm);
  run_.account.count(&Tally::bytes_resent, bytes);
  run_.account.count(&Tally::bytes_messages, bytes);
  std::int64_t valid_until = kWhole;
  std::byte* const buffer = run_.ship_message;
  const std::span message(buffer, kMessageHead + static_cast<std::size_t>(bytes));
  std::byte* const body = buffer + kMessageHead;
  if (run_.write()) {
    std::memcpy(buffer, &valid_until, kMessageHead);
    pack_message(realm, window, body);
    Ticket ticket = comm.send(owner, kTagData, message);
    co_await until([&] { return comm.done(ticket); });
    co_return true;
  }
  Ticket ticket = comm.receive(owner, kTagData, message);
  co_await until([&] { return comm.done(ticket); });
  std::memcpy(&valid_until, buffer, kMessageHead);
  pack_message(realm, before(window, valid_until), body);
  co_return true;
}

}  // namespace tamis
