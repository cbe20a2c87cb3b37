#include <algorithm>
#include <array>
#include <cstring>

#include "engine/parcels.hpp"
#include "engine/pieces.hpp"

namespace tamis {

Exchange::Server::Server(Run& run) : run_(run), realm_(run.my_realm()) {
  if (realm_ < 0) return;
  layout_ = run.layout(realm_);
  terms_ = window_terms(run.access.direction, run.plan, run.strategy);
}

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

/// A place where the window waits. Without one ranks fill the usual memory, and it is lost.
void Exchange::Server::take_kept(const WindowUse& use, const Window& window) {
  const Result<int> place = run_.behind->take(window, run_.account);
  use.state->kept_at.store(place.ok() ? *place : -1);
  if (!place.ok()) note({0, place.status()}, window);
}

// What has to be in the window before ranks may use it is on its way then.
Task<bool> Exchange::Server::prepare(std::int64_t round) {
  const Window window = run_.window(realm_, round);
  if (window.empty()) co_return true;
  if (round >= kWindowsInFlight) co_await settle(round - kWindowsInFlight);
  const WindowUse use = run_.staging.use(realm_, run_.staging.uses(realm_) + round);
  run_.account.count(&Tally::windows);
  touched(round) = window;
  method(round) = Method::whole;
  if (run_.behind != nullptr) {
    take_kept(use, window);
    co_return true;
  }
  if (run_.declares()) {
    const auto all = static_cast<std::uint32_t>(run_.team.seats());
    co_await until([&] { return use.state->declared.load() == all; });
    Claim claim = use.state->collect();
    claim.add(declared_far(window));
    touched(round) = touched_by(claim.coverage, window);
    method(round) = method_for(claim, touched(round));
  }
  const Window& part = touched(round);
  if (part.first >= good_until_) method(round) = Method::nothing;
  const bool fills =
      method(round) == Method::sieve || (method(round) == Method::whole && !run_.write());
  if (fills)
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
  if (method(round) == Method::list) run_.account.count(&Tally::windows_listed);
  if (run_.write()) {
    if (method(round) == Method::sieve) complete_prefill(use, window, part, got);
  } else if (method(round) == Method::list) {
    list_far(use, window);
    use.state->valid_until.store(std::min(window.end(), good_until_));
  } else {
    if (part.first < good_until_) note(got, part);
    const bool all = got.bytes >= part.bytes;
    use.state->valid_until.store(all ? window.end() : part.first + got.bytes);
  }
  flight(round).clear();
  use.state->method.store(method(round));
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
  if (run_.behind != nullptr) {
    const std::int32_t place = use.state->kept_at.load();
    if (place >= 0) run_.behind->give_back(place, window);
  } else if (run_.write()) {
    store(round, use, window);
  }
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

Claim Exchange::Server::declared_far(const Window& window) const {
  Claim claim;
  const Extent span = layout_.span_of(window.first, window.bytes);
  for (const RemoteNode& node : run_.views.remote())
    for (const RemoteAccess& remote : node.ranks)
      if (!intersect(remote.span, span).empty())
        claim.add(share_claim(remote.portion(), layout_, window));
  return claim;
}

Method Exchange::Server::method_for(const Claim& claim, const Window& part) const {
  const WindowShape shape{.bytes = claim.coverage.bytes,
                          .span = part.bytes,
                          .blocks = layout_.blocks_in(part.first, part.bytes),
                          .pieces = claim.pieces,
                          .holes = claim.coverage != cover(layout_, part.first, part.bytes)};
  return choose_window_method(shape, terms_, run_.plan.storage);
}

/// List I/O of what ranks on other nodes have in the window: it is in the window's memory, or comes
/// there. Ranks of this node see to their own pieces.
void Exchange::Server::list_far(const WindowUse& use, const Window& window) {
  const Extent span = layout_.span_of(window.first, window.bytes);
  for (const RemoteNode& node : run_.views.remote())
    for (const RemoteAccess& remote : node.ranks) {
      if (intersect(remote.span, span).empty()) continue;
      Batch batch(run_.driver, run_.account, run_.access.direction);
      const Outcome some =
          transfer_pieces(batch, remote.portion(), layout_, window, {.window = use.memory});
      status_.keep_first(some.status);
      const std::int64_t lost = first_beyond(remote.portion(), layout_, window, some.bytes);
      if (lost < 0) continue;
      const std::int64_t offset = remote.file.offset_of(lost);
      good_until_ = std::min(good_until_, layout_.position_of(offset));
    }
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
  if (method(round) == Method::list) return list_far(use, window);
  std::byte* const memory = use.memory + (part.first - window.first);
  if (!run_.plan.lock_plain_writes || run_.locks_region()) {
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
    copy_parcel(posted[slot], layout_, window, run_.memory(realm_, use, window),
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
      copy_parcel(parcel, layout_, window, {use.memory, nullptr}, bytes.data() + kMessageHead,
                  false);
    }
    tickets_[slot] = comm.send(parcel.carrier, kTagParcel, bytes);
  }
  co_return true;
}

}  // namespace tamis
