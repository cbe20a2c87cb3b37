#include "engine/staging.hpp"

#include <limits>

#include "engine/verdict.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPage = 4096;

std::int64_t states_bytes(std::size_t aggregators) {
  const auto bytes =
      static_cast<std::int64_t>(sizeof(WindowState) * aggregators) * kWindowsInFlight;
  return (bytes + kPage - 1) / kPage * kPage;
}

template <typename Better>
void replace_if(std::atomic<std::int64_t>& word, std::int64_t value, Better better) {
  std::int64_t seen = word.load();
  while (better(value, seen) && !word.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

void WindowState::declare(const Coverage& coverage) {
  bytes.fetch_add(coverage.bytes);
  balance.fetch_add(coverage.balance);
  replace_if(first, coverage.first, std::less<>());
  replace_if(last, coverage.last, std::greater<>());
}

Coverage WindowState::collect() {
  declared.store(0);
  return {.bytes = bytes.exchange(0),
          .balance = balance.exchange(0),
          .first = first.exchange(kNone),
          .last = last.exchange(std::numeric_limits<std::int64_t>::min())};
}

Staging::Staging(std::unique_ptr<Segment> segment, std::vector<int> place, int places_here,
                 std::int64_t window_bytes)
    : segment_(std::move(segment)),
      place_(std::move(place)),
      uses_(place_.size()),
      windows_(segment_->data() + states_bytes(static_cast<std::size_t>(places_here))),
      window_bytes_(window_bytes) {}

Task<Result<std::unique_ptr<Staging>>> Staging::create(Team& team, const Circumstances& plan) {
  std::vector<int> place;
  int here = 0;
  for (const std::int32_t rank : plan.aggregators)
    place.push_back(team.beside_me(rank) ? here++ : -1);
  const std::int64_t states = states_bytes(static_cast<std::size_t>(here));
  const std::int64_t bytes = states + here * kWindowsInFlight * plan.window_bytes;

  Result<std::unique_ptr<Segment>> segment =
      co_await team.share(std::max<std::int64_t>(bytes, kPage));
  if (!segment.ok()) co_return segment.status();
  std::unique_ptr<Staging> staging(
      new Staging(std::move(*segment), std::move(place), here, plan.window_bytes));

  // One rank per node makes sure of the memory, since a later touch could end the process, and sets
  // the states up before anybody can use them.
  Verdict ready;
  if (team.seat_of(team.rank()) == 0) {
    ready.worst = staging->segment_->reserve(0, staging->segment_->size());
    auto* state = reinterpret_cast<WindowState*>(staging->segment_->data());
    for (std::int64_t i = 0; ready.worst.ok() && i < here * kWindowsInFlight; ++i)
      static_cast<void>(state[i].collect());
  }
  ready.worst = ready.worst.travelling(team.rank());
  ready = co_await team.agree(ready);
  if (!ready.worst.ok()) co_return ready.worst;
  co_return std::move(staging);
}

WindowUse Staging::use(int aggregator, std::int64_t use_number) {
  const int place = place_[static_cast<std::size_t>(aggregator)];
  const std::int64_t buffer = place * kWindowsInFlight + use_number % kWindowsInFlight;
  auto* states = reinterpret_cast<WindowState*>(segment_->data());
  return {states + buffer, windows_ + buffer * window_bytes_,
          static_cast<std::uint32_t>(use_number / kWindowsInFlight)};
}

}  // namespace tamis
