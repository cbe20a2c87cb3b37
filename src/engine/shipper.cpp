#include <algorithm>
#include <cstring>

#include "engine/exchange_parts.hpp"
#include "layout/pack.hpp"

namespace tamis {

Shipment cut(const Layout& file, std::int64_t first, std::int64_t bytes, const Extent& window) {
  if (bytes == 0) return {first, 0};
  const std::int64_t end = first + bytes;
  const std::int64_t from = std::clamp(file.position_of(window.offset), first, end);
  const std::int64_t to = std::clamp(file.position_of(window.end()), first, end);
  return {from, to - from};
}

void copy_message(const Layout& file, const Shipment& shipment, const Extent& window,
                  std::byte* window_memory, std::byte* message, bool to_window) {
  Layout shifted = file;
  shifted.displacement -= window.offset;
  const Layout flat = Layout::contiguous(shipment.bytes);
  Cursor inside(shifted, shipment.first);
  Cursor packed(flat);
  if (to_window)
    copy_stream(inside, window_memory, packed, message, shipment.bytes);
  else
    copy_stream(packed, message, inside, window_memory, shipment.bytes);
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
      const Extent window = run_.window(realm, round);
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
  const Extent window = run_.window(realm, round);
  const int owner = run_.owner(realm);
  if (window.empty() || !run_.team.beside_me(owner)) return;
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  const Access& access = run_.access;
  const Shipment shipment = cut(*access.file, access.first, access.bytes, window);
  use.state->declare(cover(*access.file, shipment.first, shipment.bytes));
  const auto all = static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->declared.fetch_add(1) + 1 == all) run_.team.ring(run_.team.seat_of(owner));
}

Task<bool> Exchange::Shipper::ship_beside(int realm, std::int64_t round, const Extent& window) {
  const WindowUse use = run_.staging.use(realm, run_.staging.uses(realm) + round);
  const Access& access = run_.access;
  Shipment shipment = cut(*access.file, access.first, access.bytes, window);
  co_await until([&] { return use.state->opened.load() == use.number + 1; });
  if (!run_.write()) {  // what lies beyond the end of the file is not there
    const std::int64_t valid = std::min(use.state->valid_until.load(), window.end());
    shipment = cut(*access.file, access.first, access.bytes, between(window.offset, valid));
  }
  if (shipment.bytes > 0) move(shipment, window, use.memory);
  if (run_.owner(realm) != run_.team.rank())
    run_.account.count(&Tally::bytes_resent, shipment.bytes);
  const std::uint32_t all = (use.number + 1) * static_cast<std::uint32_t>(run_.team.seats());
  if (use.state->arrived.fetch_add(1) + 1 == all)
    run_.team.ring(run_.team.seat_of(run_.owner(realm)));
  co_return true;
}

void Exchange::Shipper::move(const Shipment& shipment, const Extent& window,
                             std::byte* window_memory) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  Layout shifted = *access.file;
  shifted.displacement -= window.offset;
  Cursor inside(shifted, shipment.first);
  memory_.seek(shipment.first - access.first);
  if (run_.write())
    copy_stream(inside, window_memory, memory_, access.buffer, shipment.bytes);
  else
    copy_stream(memory_, access.buffer, inside, window_memory, shipment.bytes);
}

void Exchange::Shipper::pack_message(const Shipment& shipment, std::byte* message) {
  const auto span = run_.account.time(Phase::pack);
  const Access& access = run_.access;
  const Layout flat = Layout::contiguous(shipment.bytes);
  Cursor packed(flat);
  memory_.seek(shipment.first - access.first);
  if (run_.write())
    copy_stream(packed, message, memory_, access.buffer, shipment.bytes);
  else
    copy_stream(memory_, access.buffer, packed, message, shipment.bytes);
}

Task<bool> Exchange::Shipper::ship_far(int realm, const Extent& window) {
  const Access& access = run_.access;
  Shipment shipment = cut(*access.file, access.first, access.bytes, window);
  if (shipment.bytes == 0) co_return true;
  Comm& comm = run_.team.comm();
  const int owner = run_.owner(realm);
  run_.account.count(&Tally::bytes_resent, shipment.bytes);
  run_.account.count(&Tally::bytes_messages, shipment.bytes);
  std::int64_t valid_until = kWhole;
  std::byte* const buffer = run_.ship_message;
  const auto size = kMessageHead + static_cast<std::size_t>(shipment.bytes);
  const std::span message(buffer, size);
  std::byte* body = buffer + kMessageHead;
  if (run_.write()) {
    std::memcpy(buffer, &valid_until, kMessageHead);
    pack_message(shipment, body);
    Ticket ticket = comm.send(owner, kTagData, message);
    co_await until([&] { return comm.done(ticket); });
    co_return true;
  }
  Ticket ticket = comm.receive(owner, kTagData, message);
  co_await until([&] { return comm.done(ticket); });
  std::memcpy(&valid_until, buffer, kMessageHead);
  const std::int64_t valid = std::min(valid_until, window.end());
  shipment = cut(*access.file, access.first, access.bytes, between(window.offset, valid));
  if (shipment.bytes > 0) pack_message(shipment, body);
  co_return true;
}

}  // namespace tamis
