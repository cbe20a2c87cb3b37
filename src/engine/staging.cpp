#include "engine/staging.hpp"

#include <limits>
#include <new>

#include "base/attempt.hpp"
#include "engine/verdict.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLine = 64;

std::int64_t rounded(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

template <typename T>
std::int64_t bytes_of_many(std::int64_t count) {
  return static_cast<std::int64_t>(sizeof(T)) * count;
}

template <typename Better>
void replace_if(std::atomic<std::int64_t>& word, std::int64_t value, Better better) {
  std::int64_t seen = word.load();
  while (better(value, seen) && !word.compare_exchange_weak(seen, value)) {
  }
}

void add_to(std::atomic<std::uint64_t>& sum, Residue term) {
  std::uint64_t seen = sum.load();
  while (!sum.compare_exchange_weak(seen, (Residue(seen) + term).value())) {
  }
}

}  // namespace

void WindowState::declare(const Claim& claim) {
  const Coverage& coverage = claim.coverage;
  bytes.fetch_add(coverage.bytes);
  add_to(balance, coverage.balance);
  replace_if(first, coverage.first, std::less<>());
  replace_if(last, coverage.last, std::greater<>());
  pieces.fetch_add(claim.pieces);
}

Claim WindowState::collect() {
  declared.store(0);
  return {{.bytes = bytes.exchange(0),
           .balance = Residue(balance.exchange(0)),
           .first = first.exchange(kNone),
           .last = last.exchange(std::numeric_limits<std::int64_t>::min())},
          pieces.exchange(0)};
}

bool TellUse::tell(int seat, int seats, std::int64_t own) const {
  bytes[seat].store(own);
  const auto all = (number + 1) * static_cast<std::uint32_t>(seats);
  if (state->told.fetch_add(1) + 1 != all) return false;
  std::int64_t sum = 0;
  for (int i = 0; i < seats; ++i) {
    const std::int64_t before = sum;
    sum += bytes[i].load();
    bytes[i].store(before);
  }
  state->total.store(sum);
  state->added.store(number + 1);
  return true;
}

Staging::Staging(const Team& team, const Circumstances& plan)
    : window_bytes_(plan.window_bytes),
      parcel_bytes_(std::max<std::int64_t>(plan.window_bytes / 2, 1)),
      uses_(plan.aggregators.size()) {
  for (const std::int32_t rank : plan.aggregators)
    place_.push_back(team.beside_me(rank) ? static_cast<int>(aggregators_here_++) : -1);
  if (team.topology().node_count() > 1) parcels_.resize(static_cast<std::size_t>(team.seats()));
  places_ = places();
}

std::int64_t Staging::tell_stride() const {
  return rounded(bytes_of_many<TellState>(1) + bytes_of_many<std::int64_t>(std::ssize(parcels_)),
                 kLine);
}

std::int64_t Staging::parcel_stride() const {
  return rounded(static_cast<std::int64_t>(kMessageHead) + parcel_bytes_, kLine);
}

Staging::Places Staging::places() const {
  Places places;
  places.parcel_states = bytes_of_many<WindowState>(windows_here());
  places.tells = places.parcel_states + bytes_of_many<ParcelState>(parcels_here());
  const std::int64_t tells = parcels_.empty() ? 0 : kToldAhead * tell_stride();
  places.windows = rounded(places.tells + tells, kPage);
  places.parcels = places.windows + rounded(windows_here() * window_bytes_, kLine);
  places.end = std::max(kPage, places.parcels + parcels_here() * parcel_stride());
  return places;
}

void Staging::set_up_states() {
  auto* windows = reinterpret_cast<WindowState*>(at(0));
  for (std::int64_t i = 0; i < windows_here(); ++i)
    static_cast<void>((new (windows + i) WindowState{})->collect());
  auto* parcels = reinterpret_cast<ParcelState*>(at(places_.parcel_states));
  for (std::int64_t i = 0; i < parcels_here(); ++i) new (parcels + i) ParcelState{};
  for (std::int64_t i = 0; i < kToldAhead && !parcels_.empty(); ++i) {
    const TellUse use = tell(i);
    new (use.state) TellState{};
    for (std::size_t seat = 0; seat < parcels_.size(); ++seat)
      new (use.bytes + seat) std::atomic<std::int64_t>{0};
  }
}

// One rank per node makes sure of the memory, since a later touch could end the process, and sets
// the states up before anybody can use them.
Status Staging::set_up(std::unique_ptr<Segment> segment, bool first_seat) {
  segment_ = std::move(segment);
  if (!first_seat) return {};
  const Status reserved = attempt([&] { return segment_->reserve(0, segment_->size()); });
  if (reserved.ok()) set_up_states();
  return reserved;
}

// A rank without memory for its own part takes part all the same; the agreement tells the others.
Task<Result<std::unique_ptr<Staging>>> Staging::create(Team& team, const Circumstances& plan) {
  std::unique_ptr<Staging> staging;
  const Status own = attempt([&] {
    staging.reset(new Staging(team, plan));
    return Status{};
  });
  // Of a rank that has none the number does not matter: nobody gets a segment then.
  const std::int64_t bytes = staging != nullptr ? staging->places_.end : kPage;
  Result<std::unique_ptr<Segment>> segment = co_await team.share(bytes, own);
  if (!segment.ok()) co_return segment.status();

  Verdict ready;
  ready.worst = staging->set_up(std::move(*segment), team.seat_of(team.rank()) == 0);
  ready.worst = ready.worst.travelling(team.rank());
  ready = co_await team.agree(ready);
  if (!ready.worst.ok()) co_return ready.worst;
  co_return std::move(staging);
}

WindowUse Staging::use(int aggregator, std::int64_t use_number) {
  const int place = place_[static_cast<std::size_t>(aggregator)];
  const std::int64_t buffer = place * kWindowsInFlight + use_number % kWindowsInFlight;
  auto* states = reinterpret_cast<WindowState*>(at(0));
  return {states + buffer, at(places_.windows + buffer * window_bytes_),
          static_cast<std::uint32_t>(use_number / kWindowsInFlight)};
}

ParcelUse Staging::parcel(int carrier, std::int64_t use_number) {
  const std::int64_t buffer = carrier * kParcelsInFlight + use_number % kParcelsInFlight;
  auto* states = reinterpret_cast<ParcelState*>(at(places_.parcel_states));
  return {states + buffer, at(places_.parcels + buffer * parcel_stride()),
          static_cast<std::uint32_t>(use_number / kParcelsInFlight)};
}

TellUse Staging::tell(std::int64_t use_number) {
  std::byte* const slot = at(places_.tells + use_number % kToldAhead * tell_stride());
  return {reinterpret_cast<TellState*>(slot),
          reinterpret_cast<std::atomic<std::int64_t>*>(slot + sizeof(TellState)),
          static_cast<std::uint32_t>(use_number / kToldAhead)};
}

}  // namespace tamis
