#include <algorithm>
#include <cstring>

#include "engine/exchange_parts.hpp"

namespace tamis {

Exchange::FarWindows::FarWindows(const Run& run)
    : run_(run), rounds_(run.rounds()), number_(run.staging.tells()) {}

bool Exchange::FarWindows::next(FarWindow& far) {
  while (round_ < rounds_) {
    if (++realm_ == run_.strategy.realms.count()) {
      realm_ = -1;
      ++round_;
      continue;
    }
    if (run_.team.beside_me(run_.owner(realm_))) continue;
    const Window window = run_.window(realm_, round_);
    if (window.empty()) continue;
    far = {realm_, window, number_++};
    return true;
  }
  return false;
}

Exchange::Carrier::Carrier(Run& run)
    : run_(run),
      seat_(run.team.seat_of(run.team.rank())),
      windows_(run),
      next_(run.staging.parcels(seat_)) {}

Task<bool> Exchange::Carrier::carry() {
  const auto seats = static_cast<std::size_t>(run_.team.seats());
  const std::int64_t room = run_.staging.parcel_bytes();
  Load last;
  for (FarWindow far; windows_.next(far);) {
    if (carrier_seat(far.realm, seats) != static_cast<std::size_t>(seat_)) continue;
    const TellUse use = run_.staging.tell(far.number);
    // Nobody says more before what is under way has gone, so that goes first.
    if (!use.is_added()) co_await hand_over(last);
    co_await until([&] { return use.is_added(); });
    std::int64_t left = use.state->total.load();
    run_.heard(use);
    for (; left > 0; left -= last.bytes) {
      const Load load{run_.owner(far.realm), std::min(left, room), next_++};
      co_await take_up(load);
      co_await hand_over(last);
      last = load;
    }
  }
  co_await hand_over(last);
  co_return co_await clear();
}

/// Gets the buffer ready: writes open it for the ranks, reads let it be filled.
Task<bool> Exchange::Carrier::take_up(const Load& load) {
  Comm& comm = run_.team.comm();
  const ParcelUse use = run_.staging.parcel(seat_, load.number);
  const auto buffer = static_cast<std::size_t>(load.number % kParcelsInFlight);
  co_await until([&] { return comm.done(tickets_[buffer]); });
  co_await until([&] { return use.state->moved.load() == unpacked_[buffer]; });
  use.state->moved.store(0);
  unpacked_[buffer] = 0;
  const auto size = kMessageHead + static_cast<std::size_t>(load.bytes);
  if (run_.write())
    open(use);
  else
    tickets_[buffer] = comm.receive(load.owner, kTagParcel, {use.message, size});
  co_return true;
}

/// Writes: once it is full it is sent. Reads: once it is there it is opened.
Task<bool> Exchange::Carrier::hand_over(Load& load) {
  if (load.bytes == 0) co_return true;
  Comm& comm = run_.team.comm();
  const ParcelUse use = run_.staging.parcel(seat_, load.number);
  const auto buffer = static_cast<std::size_t>(load.number % kParcelsInFlight);
  if (run_.write()) {
    co_await until([&] { return use.state->moved.load() == load.bytes; });
    use.state->moved.store(0);
    std::memcpy(use.message, &kWhole, kMessageHead);
    const auto size = kMessageHead + static_cast<std::size_t>(load.bytes);
    tickets_[buffer] = comm.send(load.owner, kTagParcel, {use.message, size});
  } else {
    co_await until([&] { return comm.done(tickets_[buffer]); });
    unpacked_[buffer] = load.bytes;
    open(use);
  }
  load = {};
  co_return true;
}

void Exchange::Carrier::open(const ParcelUse& use) {
  use.state->opened.store(use.number + 1);
  run_.team.ring_all();
}

/// Nothing is left on its way.
Task<bool> Exchange::Carrier::clear() {
  Comm& comm = run_.team.comm();
  for (std::int64_t i = 0; i < kParcelsInFlight; ++i) {
    const auto buffer = static_cast<std::size_t>(i);
    const ParcelUse use = run_.staging.parcel(seat_, i);
    co_await until([&] { return comm.done(tickets_[buffer]); });
    co_await until([&] { return use.state->moved.load() == unpacked_[buffer]; });
    use.state->moved.store(0);
  }
  co_return true;
}

}  // namespace tamis
