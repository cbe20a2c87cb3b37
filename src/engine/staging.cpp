#include "engine/staging.hpp"

#include <limits>
#include <new>

#include "base/attempt.hpp"
#include "engine/verdict.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPage = 4096;

std::int64_t states_bytes(std::int64_t windows) {
  const auto bytes = static_cast<std::int64_t>(sizeof(WindowState)) * windows;
  return (bytes + kPage - 1) / kPage * kPage;
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

void WindowState::declare(const Coverage& coverage) {
  bytes.fetch_add(coverage.bytes);
  add_to(balance, coverage.balance);
  replace_if(first, coverage.first, std::less<>());
  replace_if(last, coverage.last, std::greater<>());
}

Coverage WindowState::collect() {
  declared.store(0);
  return {.bytes = bytes.exchange(0),
          .balance = Residue(balance.exchange(0)),
          .first = first.exchange(kNone),
          .last = last.exchange(std::numeric_limits<std::int64_t>::min())};
}

Staging::Staging(const Team& team, const Circumstances& plan)
    : window_bytes_(plan.window_bytes), uses_(plan.aggregators.size()) {
  for (const std::int32_t rank : plan.aggregators)
    place_.push_back(team.beside_me(rank) ? static_cast<int>(aggregators_here_++) : -1);
}

// One rank per node makes sure of the memory, since a later touch could end the process, and sets
// the states up before anybody can use them.
Status Staging::set_up(std::unique_ptr<Segment> segment, bool first_seat) {
  segment_ = std::move(segment);
  windows_ = segment_->data() + states_bytes(windows_here());
  if (!first_seat) return {};
  const Status reserved = attempt([&] { return segment_->reserve(0, segment_->size()); });
  auto* place = reinterpret_cast<WindowState*>(segment_->data());
  for (std::int64_t i = 0; reserved.ok() && i < windows_here(); ++i)
    static_cast<void>((new (place + i) WindowState{})->collect());
  return reserved;
}

// A rank without memory for its own part takes part all the same; the agreement tells the others.
Task<Result<std::unique_ptr<Staging>>> Staging::create(Team& team, const Circumstances& plan) {
  std::unique_ptr<Staging> staging;
  const Status own = attempt([&] {
    staging.reset(new Staging(team, plan));
    return Status{};
  });
  std::int64_t windows = 0;
  for (const std::int32_t rank : plan.aggregators)
    windows += team.beside_me(rank) ? kWindowsInFlight : 0;
  const std::int64_t bytes = states_bytes(windows) + windows * plan.window_bytes;
  Result<std::unique_ptr<Segment>> segment =
      co_await team.share(std::max<std::int64_t>(bytes, kPage), own);
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
  auto* states = reinterpret_cast<WindowState*>(segment_->data());
  return {states + buffer, windows_ + buffer * window_bytes_,
          static_cast<std::uint32_t>(use_number / kWindowsInFlight)};
}

}  // namespace tamis
