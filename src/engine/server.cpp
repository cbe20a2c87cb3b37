#include <algorithm>
#include <array>
#include <cstring>

#include "engine/parcels.hpp"

namespace tamis {

Flight& Exchange::Server::flight(std::int64_t round) {
  return run_.flights[static_cast<std::size_t>(round % kWindowsInFlight)];
}

Flight::Means Exchange::Server::means(std::int64_t round) const {
  return {run_.driver, run_.queue, static_cast<std::size_t>(round % kWindowsInFlight),
          run_.account};
}

// A window is filled or emptied by the ranks while the one before it is transferred.
Task<bool> Exchange::Server::serve() {
  if (realm_ < 0) co_return true;
  const std::int64_t rounds = run_.rounds();
  for (std::int64_t round = 0; round < rounds; ++round) {
    co_await prepare(round);
    co_await open(round);
    if (round > 0) co_await end(round - 1);
  }
  if (rounds > 0) co_await end(rounds - 1);
  for (std::int64_t round = std::max<std::int64_t>(0, rounds - kWindowsInFlight); round < rounds;
       ++round)
    co_await settle(round);
  for (Ticket& ticket : tickets_) co_await until([&] { return run_.team.comm().done(ticket); });
  co_return true;
}

// What has to be in the window before ranks may use it is on its way then.
Task<bool> Exchange::Server::prepare(std::int64_t round) {
  const Window window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  if (round >= kWindowsInFlight) co_await settle(round - kWindowsInFlight);
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
    holed(round) = run_.write() && coverage != cover(layout_, part.first, part.bytes);
  }
  const Window& part = touched(round);
  const bool fills = !run_.write() || holed(round);
  if (fills && !part.empty() && part.first < good_until_)
    flight(round).begin(means(round), Direction::read, layout_, part,
                        use.memory + (part.first - window.first));
  else
    flight(round).clear();
  co_return true;
}

// A window with holes was read before it is filled, so that the old bytes in the holes go back with
// the new ones; the lock over the whole access keeps those of others who write there meanwhile.
Task<bool> Exchange::Server::open(std::int64_t round) {
  const Window window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  co_await until([&] { return flight(round).settle(means(round)); });
  const Outcome& got = flight(round).outcome();
  const Window& part = touched(round);
  if (run_.write()) {
    if (holed(round)) complete_prefill(use, window, part, got);
  } else {
    if (part.first < good_until_) note(got, part);
    const bool all = got.bytes >= part.bytes;
    use.state->valid_until.store(all ? window.end() : part.first + got.bytes);
  }
  flight(round).clear();
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
  if (run_.write()) store(round, use, window);
  co_return true;
}

/// The window's transfer has ended, and is accounted for.
Task<bool> Exchange::Server::settle(std::int64_t round) {
  co_await until([&] { return flight(round).settle(means(round)); });
  const Flight& flown = flight(round);
  if (!flown.part().empty()) note(flown.outcome(), flown.part());
  flight(round).clear();
  co_return true;
}

/// From the first to the last byte of the window that ranks have something to do with.
Window Exchange::Server::touched_by(const Coverage& coverage, const Window& window) const {
  if (coverage.bytes == 0) return {window.first, 0};
  const std::int64_t first = layout_.position_of(coverage.first);
  return {first, layout_.position_of(coverage.last) - first};
}

Coverage Exchange::Server::declared_far(const Window& window) const {
  Coverage coverage;
  const Extent span = layout_.span_of(window.first, window.bytes);
  for (const RemoteNode& node : run_.views.remote())
    for (const RemoteAccess& remote : node.ranks)
      if (!intersect(remote.span, span).empty())
        coverage.add(share_coverage(remote.portion(), layout_, window));
  return coverage;
}

void Exchange::Server::complete_prefill(const WindowUse& use, const Window& window,
                                        const Window& part, const Outcome& got) {
  if (part.first >= good_until_) return;
  run_.account.count(&Tally::rewrites);
  run_.account.count(&Tally::bytes_rewritten, got.bytes);
  if (!got.status.ok()) note({0, got.status}, part);
  std::memset(use.memory + (part.first - window.first) + got.bytes, 0,
              static_cast<std::size_t>(part.bytes - got.bytes));
}

void Exchange::Server::store(std::int64_t round, const WindowUse& use, const Window& window) {
  const Window& part = touched(round);
  if (part.empty() || part.first >= good_until_) return;
  std::byte* const memory = use.memory + (part.first - window.first);
  // Where windows are rewritten the region is locked already.
  if (!run_.plan.lock_plain_writes || run_.rewrites()) {
    flight(round).begin(means(round), Direction::write, layout_, part, memory);
    return;
  }
  RangeLock held =
      run_.account.lock(run_.driver, layout_.span_of(part.first, part.bytes), LockKind::exclusive);
  if (!held.status().ok()) {
    note({0, held.status()}, part);
    return;
  }
  // Not beside other work: nobody waits for a lock while holding one.
  Flight now;
  now.begin({run_.driver, nullptr, 0, run_.account}, Direction::write, layout_, part, memory);
  note(now.outcome(), part);
  held.release();
  status_.keep_first(held.status());
}

// Bytes of the realm before the first one that could not be moved are good; nothing is tried
// beyond it.
void Exchange::Server::note(const Outcome& outcome, const Window& part) {
  status_.keep_first(outcome.status);
  if (outcome.bytes < part.bytes) good_until_ = std::min(good_until_, part.first + outcome.bytes);
}

std::span<std::byte> Exchange::Server::message(std::size_t number, const Parcel& parcel) const {
  const std::size_t room = kMessageHead + static_cast<std::size_t>(run_.staging.parcel_bytes());
  const std::size_t size = kMessageHead + static_cast<std::size_t>(parcel.part.bytes);
  return {run_.inbox + number % kInbox * room, size};
}

// Parcels of other nodes, some of them under way at a time: the memory for them does not grow with
// the number of ranks.
Task<bool> Exchange::Server::receive_far(const WindowUse& use, const Window& window) {
  Comm& comm = run_.team.comm();
  Parcels coming(run_, realm_, layout_, window);
  std::array<Parcel, kInbox> posted;
  std::size_t asked = 0;
  std::size_t taken = 0;
  for (bool more = true;;) {
    while (more && asked - taken < kInbox && (more = coming.next(posted[asked % kInbox]))) {
      const Parcel& parcel = posted[asked % kInbox];
      tickets_[asked % kInbox] = comm.receive(parcel.carrier, kTagParcel, message(asked, parcel));
      ++asked;
    }
    if (taken == asked) co_return true;
    const std::size_t slot = taken++ % kInbox;
    co_await until([&] { return comm.done(tickets_[slot]); });
    const auto span = run_.account.time(Phase::pack);
    copy_parcel(posted[slot], layout_, window, use.memory,
                message(slot, posted[slot]).subspan(kMessageHead).data(), true);
  }
}

Task<bool> Exchange::Server::send_far(const WindowUse& use, const Window& window) {
  Comm& comm = run_.team.comm();
  const std::int64_t valid_until = use.state->valid_until.load();
  Parcels going(run_, realm_, layout_, window);
  std::size_t slot = 0;
  for (Parcel parcel; going.next(parcel); slot = (slot + 1) % kInbox) {
    co_await until([&] { return comm.done(tickets_[slot]); });
    const std::span<std::byte> bytes = message(slot, parcel);
    {
      const auto span = run_.account.time(Phase::pack);
      std::memcpy(bytes.data(), &valid_until, kMessageHead);
      copy_parcel(parcel, layout_, window, use.memory, bytes.data() + kMessageHead, false);
    }
    tickets_[slot] = comm.send(parcel.carrier, kTagParcel, bytes);
  }
  co_return true;
}

}  // namespace tamis
