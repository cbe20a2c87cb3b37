#include <algorithm>
#include <cstring>

#include "engine/exchange_parts.hpp"

namespace tamis {

Task<bool> Exchange::Server::serve() {
  if (realm_ < 0) co_return true;
  const std::int64_t rounds = run_.rounds();
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round >= kWindowsInFlight) co_await end(round - kWindowsInFlight);
    co_await begin(round);
  }
  for (std::int64_t round = std::max<std::int64_t>(0, rounds - kWindowsInFlight); round < rounds;
       ++round)
    co_await end(round);
  co_return true;
}

// Makes the window ready for the ranks and opens it.
Task<bool> Exchange::Server::begin(std::int64_t round) {
  const Extent window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  run_.account.count(&Tally::windows);
  touched(round) = window;
  if (run_.declares()) {
    const auto all = static_cast<std::uint32_t>(run_.team.seats());
    co_await until([&] { return use.state->declared.load() == all; });
    Coverage coverage = use.state->collect();
    coverage.add(declared_far(window));
    touched(round) =
        coverage.bytes > 0 ? between(coverage.first, coverage.last) : Extent{window.offset, 0};
    if (!coverage.tiles(touched(round))) prefill(use, window, touched(round));
  }
  if (!run_.write()) fill(use, window);
  use.state->opened.fetch_add(1);
  run_.team.ring_all();
  if (!run_.write()) co_await send_far(use, window);
  co_return true;
}

// Waits until the ranks are done with the window; stores what they put in.
Task<bool> Exchange::Server::end(std::int64_t round) {
  const Extent window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  if (run_.write()) co_await receive_far(use, window);
  const std::uint32_t all = (use.number + 1) * static_cast<std::uint32_t>(run_.team.seats());
  co_await until([&] { return use.state->arrived.load() == all; });
  if (run_.write()) store(use, window, touched(round));
  co_return true;
}

Coverage Exchange::Server::declared_far(const Extent& window) const {
  Coverage coverage;
  for (const auto& [rank, remote] : run_.views.remote()) {
    const Shipment shipment = cut(remote.file, remote.first, remote.bytes, window);
    coverage.add(cover(remote.file, shipment.first, shipment.bytes));
  }
  return coverage;
}

// A window with holes is read before it is filled, so that the old bytes in the holes go back with
// the new ones; the lock over the whole access keeps those of others who write there meanwhile.
void Exchange::Server::prefill(const WindowUse& use, const Extent& window, const Extent& part) {
  if (part.offset >= good_until_) return;
  std::byte* memory = use.memory + (part.offset - window.offset);
  const Transfer old{part, memory};
  const Outcome got = run_.account.transfer(run_.driver, Direction::read, {&old, 1});
  run_.account.count(&Tally::rewrites);
  run_.account.count(&Tally::bytes_rewritten, got.bytes);
  if (!got.status.ok()) note({0, got.status}, part);
  std::memset(memory + got.bytes, 0, static_cast<std::size_t>(part.length - got.bytes));
}

void Exchange::Server::fill(const WindowUse& use, const Extent& window) {
  std::int64_t valid_until = window.offset;
  if (window.offset < good_until_) {
    const Transfer whole{window, use.memory};
    const Outcome got = run_.account.transfer(run_.driver, Direction::read, {&whole, 1});
    note(got, window);
    valid_until = window.offset + got.bytes;
  }
  use.state->valid_until.store(valid_until);
}

void Exchange::Server::store(const WindowUse& use, const Extent& window, const Extent& part) {
  if (part.empty() || part.offset >= good_until_) return;
  // Where windows are rewritten the region is locked already.
  const bool lock = run_.plan.lock_plain_writes && !run_.declares();
  RangeLock held =
      run_.account.lock(run_.driver, part, lock ? LockKind::exclusive : LockKind::none);
  if (!held.status().ok()) {
    note({0, held.status()}, part);
    return;
  }
  const Transfer whole{part, use.memory + (part.offset - window.offset)};
  note(run_.account.transfer(run_.driver, Direction::write, {&whole, 1}), part);
  held.release();
  status_.keep_first(held.status());
}

// Bytes of the realm before the first one that could not be moved are good; nothing is tried
// beyond it.
void Exchange::Server::note(const Outcome& outcome, const Extent& part) {
  status_.keep_first(outcome.status);
  if (outcome.bytes < part.length) good_until_ = std::min(good_until_, part.offset + outcome.bytes);
}

// Ranks of other nodes send what they have for the window, lowest rank first, one at a time: the
// memory for messages does not grow with the number of ranks.
Task<bool> Exchange::Server::receive_far(const WindowUse& use, const Extent& window) {
  Comm& comm = run_.team.comm();
  for (const auto& [rank, remote] : run_.views.remote()) {
    const Shipment shipment = cut(remote.file, remote.first, remote.bytes, window);
    if (shipment.bytes == 0) continue;
    std::byte* const buffer = run_.serve_message;
    const auto size = kMessageHead + static_cast<std::size_t>(shipment.bytes);
    Ticket ticket = comm.receive(rank, kTagData, {buffer, size});
    co_await until([&] { return comm.done(ticket); });
    const auto span = run_.account.time(Phase::pack);
    copy_message(remote.file, shipment, window, use.memory, buffer + kMessageHead, true);
  }
  co_return true;
}

Task<bool> Exchange::Server::send_far(const WindowUse& use, const Extent& window) {
  Comm& comm = run_.team.comm();
  const std::int64_t valid_until = use.state->valid_until.load();
  const Extent valid = between(window.offset, std::min(valid_until, window.end()));
  for (const auto& [rank, remote] : run_.views.remote()) {
    const Shipment whole = cut(remote.file, remote.first, remote.bytes, window);
    if (whole.bytes == 0) continue;
    std::byte* const buffer = run_.serve_message;
    std::memcpy(buffer, &valid_until, kMessageHead);
    const Shipment there = cut(remote.file, remote.first, remote.bytes, valid);
    if (there.bytes > 0) {
      const auto span = run_.account.time(Phase::pack);
      copy_message(remote.file, there, window, use.memory, buffer + kMessageHead, false);
    }
    const auto size = kMessageHead + static_cast<std::size_t>(whole.bytes);
    Ticket ticket = comm.send(rank, kTagData, {buffer, size});
    co_await until([&] { return comm.done(ticket); });
  }
  co_return true;
}

}  // namespace tamis
