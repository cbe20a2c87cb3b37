#include <algorithm>
#include <array>
#include <cstring>

#include "engine/exchange_parts.hpp"

namespace tamis {
namespace {

// Blocks of a realm in one call of the driver.
constexpr std::size_t kList = 64;

}  // namespace

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
  const Window window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  run_.account.count(&Tally::windows);
  touched(round) = window;
  if (run_.declares()) {
    const auto all = static_cast<std::uint32_t>(run_.team.seats());
    co_await until([&] { return use.state->declared.load() == all; });
    Coverage coverage = use.state->collect();
    coverage.add(declared_far(window));
    touched(round) = touched_by(coverage, window);
    const Window& part = touched(round);
    if (coverage != cover(layout_, part.first, part.bytes)) prefill(use, window, part);
  }
  if (!run_.write()) fill(use, window);
  use.state->opened.fetch_add(1);
  run_.team.ring_all();
  if (!run_.write()) co_await send_far(use, window);
  co_return true;
}

// Waits until the ranks are done with the window; stores what they put in.
Task<bool> Exchange::Server::end(std::int64_t round) {
  const Window window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  if (run_.write()) co_await receive_far(use, window);
  const std::uint32_t all = (use.number + 1) * static_cast<std::uint32_t>(run_.team.seats());
  co_await until([&] { return use.state->arrived.load() == all; });
  if (run_.write()) store(use, window, touched(round));
  co_return true;
}

/// From the first to the last byte that ranks put into the window.
Window Exchange::Server::touched_by(const Coverage& coverage, const Window& window) const {
  if (coverage.bytes == 0) return {window.first, 0};
  const std::int64_t first = layout_.position_of(coverage.first);
  return {first, layout_.position_of(coverage.last) - first};
}

Coverage Exchange::Server::declared_far(const Window& window) const {
  Coverage coverage;
  for (const auto& [rank, remote] : run_.views.remote())
    coverage.add(share_coverage(remote.portion(), layout_, window));
  return coverage;
}

// A window with holes is read before it is filled, so that the old bytes in the holes go back with
// the new ones; the lock over the whole access keeps those of others who write there meanwhile.
void Exchange::Server::prefill(const WindowUse& use, const Window& window, const Window& part) {
  if (part.first >= good_until_) return;
  std::byte* memory = use.memory + (part.first - window.first);
  const Outcome got = transfer(Direction::read, part, memory);
  run_.account.count(&Tally::rewrites);
  run_.account.count(&Tally::bytes_rewritten, got.bytes);
  if (!got.status.ok()) note({0, got.status}, part);
  std::memset(memory + got.bytes, 0, static_cast<std::size_t>(part.bytes - got.bytes));
}

void Exchange::Server::fill(const WindowUse& use, const Window& window) {
  std::int64_t valid_until = window.first;
  if (window.first < good_until_) {
    const Outcome got = transfer(Direction::read, window, use.memory);
    note(got, window);
    valid_until = window.first + got.bytes;
  }
  use.state->valid_until.store(valid_until);
}

void Exchange::Server::store(const WindowUse& use, const Window& window, const Window& part) {
  if (part.empty() || part.first >= good_until_) return;
  // Where windows are rewritten the region is locked already.
  const bool lock = run_.plan.lock_plain_writes && !run_.declares();
  RangeLock held = run_.account.lock(run_.driver, layout_.span_of(part.first, part.bytes),
                                     lock ? LockKind::exclusive : LockKind::none);
  if (!held.status().ok()) {
    note({0, held.status()}, part);
    return;
  }
  note(transfer(Direction::write, part, use.memory + (part.first - window.first)), part);
  held.release();
  status_.keep_first(held.status());
}

/// Moves part of the realm between contiguous memory and the file, in lists of its blocks; up to
/// the first byte that cannot be moved.
Outcome Exchange::Server::transfer(Direction direction, const Window& part, std::byte* memory) {
  std::array<Transfer, kList> list;
  Blocks blocks(layout_, part.first, part.bytes);
  Outcome all;
  for (bool more = true; more && all.status.ok();) {
    std::size_t count = 0;
    std::int64_t bytes = 0;
    while (count < list.size() && (more = blocks.next(list[count].file))) {
      list[count].memory = memory + all.bytes + bytes;
      bytes += list[count++].file.length;
    }
    const Outcome some =
        run_.account.transfer(run_.driver, direction, std::span(list).first(count));
    all.status = some.status;
    all.bytes += some.bytes;
    if (some.bytes < bytes) break;
  }
  return all;
}

// Bytes of the realm before the first one that could not be moved are good; nothing is tried
// beyond it.
void Exchange::Server::note(const Outcome& outcome, const Window& part) {
  status_.keep_first(outcome.status);
  if (outcome.bytes < part.bytes) good_until_ = std::min(good_until_, part.first + outcome.bytes);
}

// Ranks of other nodes send what they have for the window, lowest rank first, one at a time: the
// memory for messages does not grow with the number of ranks.
Task<bool> Exchange::Server::receive_far(const WindowUse& use, const Window& window) {
  Comm& comm = run_.team.comm();
  for (const auto& [rank, remote] : run_.views.remote()) {
    const std::int64_t bytes = share_bytes(remote.portion(), layout_, window);
    if (bytes == 0) continue;
    std::byte* const buffer = run_.serve_message;
    const auto size = kMessageHead + static_cast<std::size_t>(bytes);
    Ticket ticket = comm.receive(rank, kTagData, {buffer, size});
    co_await until([&] { return comm.done(ticket); });
    const auto span = run_.account.time(Phase::pack);
    copy_message(remote.portion(), layout_, window, use.memory, buffer + kMessageHead, true);
  }
  co_return true;
}

Task<bool> Exchange::Server::send_far(const WindowUse& use, const Window& window) {
  Comm& comm = run_.team.comm();
  const std::int64_t valid_until = use.state->valid_until.load();
  for (const auto& [rank, remote] : run_.views.remote()) {
    const std::int64_t bytes = share_bytes(remote.portion(), layout_, window);
    if (bytes == 0) continue;
    std::byte* const buffer = run_.serve_message;
    std::memcpy(buffer, &valid_until, kMessageHead);
    {
      const auto span = run_.account.time(Phase::pack);
      copy_message(remote.portion(), layout_, before(window, valid_until), use.memory,
                   buffer + kMessageHead, false);
    }
    const auto size = kMessageHead + static_cast<std::size_t>(bytes);
    Ticket ticket = comm.send(rank, kTagData, {buffer, size});
    co_await until([&] { return comm.done(ticket); });
  }
  co_return true;
}

}  // namespace tamis
