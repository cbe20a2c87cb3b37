#include "engine/exchange.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "base/attempt.hpp"
#include "engine/exchange_parts.hpp"
#include "engine/verdict.hpp"
#include "layout/pack.hpp"
#include "plan/overlap.hpp"

namespace tamis {
namespace {

/// Up to where some realms were moved.
struct Marks {
  std::array<std::int64_t, 32> good_until;
  void merge(const Marks& other) {
    for (std::size_t i = 0; i < good_until.size(); ++i)
      good_until[i] = std::min(good_until[i], other.good_until[i]);
  }
};

/// First byte of the access that a realm lost, moved up to `good` only; the access's end where
/// none.
std::int64_t first_lost(const Access& access, const FileRealms& realms, int realm,
                        std::int64_t good) {
  const Portion portion{access.file, access.first, access.bytes};
  const Window all = realms.in_region(realm);
  Shipment lost{.first = access.first + access.bytes};
  if (good < all.end()) {
    Share share(portion, realms.layout(realm), {good, all.end() - good});
    share.next(lost);
  }
  return lost.first;
}

/// Only after something went short: leading bytes of the access that were moved. Ranks tell each
/// other how far each realm got, some realms at a time: it takes no memory. Views are ordered, so
/// the first byte that is missing ends the count.
Task<std::int64_t> count_moved(Team& team, const Access& access, const FileRealms& realms,
                               int my_realm, std::int64_t good_until) {
  std::int64_t moved_until = access.first + access.bytes;
  Marks marks;
  const int part = static_cast<int>(marks.good_until.size());
  for (int first = 0; first < realms.count(); first += part) {
    marks.good_until.fill(kWhole);
    if (my_realm >= first && my_realm < first + part)
      marks.good_until[static_cast<std::size_t>(my_realm - first)] = good_until;
    marks = co_await team.agree(marks);
    for (int i = first; i < std::min(first + part, realms.count()); ++i) {
      const std::int64_t good = marks.good_until[static_cast<std::size_t>(i - first)];
      moved_until = std::min(moved_until, first_lost(access, realms, i, good));
    }
  }
  co_return moved_until - access.first;
}

/// Collective: one rank locks the region, since windows with holes are read, changed and stored.
/// One lock for all of them: were every aggregator to lock its own windows, two opens of the file
/// could each hold what the other waits for.
Task<Status> lock_region(Team& team, std::optional<RangeLock>& lock, Driver* holder,
                         const Extent& region) {
  if (holder != nullptr) lock.emplace(*holder, region, LockKind::exclusive);
  Verdict held{lock ? lock->status().travelling(team.rank()) : Status{}, 0};
  held = co_await team.agree(held);
  co_return held.worst;
}

/// Collective: gives the lock back. REQUIRES: all ranks have stored what they had.
Task<Status> unlock_region(Team& team, std::optional<RangeLock>& lock) {
  if (lock) lock->release();
  Verdict released{lock ? lock->status().travelling(team.rank()) : Status{}, 0};
  released = co_await team.agree(released);
  co_return released.worst;
}

}  // namespace

void mark_shipment(const Layout& shifted, const Shipment& shipment, std::byte* marks) {
  if (marks == nullptr) return;
  Cursor inside(shifted, shipment.first);
  mark_stream(inside, marks, shipment.bytes);
}

int Exchange::Run::my_realm() const {
  const auto& ranks = plan.aggregators;
  const auto mine = std::lower_bound(ranks.begin(), ranks.end(), team.rank());
  if (mine == ranks.end() || *mine != team.rank()) return -1;
  const auto index = static_cast<int>(mine - ranks.begin());
  return index < strategy.realms.count() ? index : -1;
}

std::int64_t Exchange::Run::own_bytes(int realm, const Window& window) const {
  if (window.empty()) return 0;
  const Layout dealt = layout(realm);
  if (intersect(span, dealt.span_of(window.first, window.bytes)).empty()) return 0;
  return share_bytes(own(), dealt, window);
}

WindowMemory Exchange::Run::memory(int realm, const WindowUse& use, const Window& window) const {
  const std::int32_t place = behind != nullptr ? use.state->kept_at.load() : -1;
  return place < 0 ? WindowMemory{use.memory, nullptr} : behind->memory(realm, place, window);
}

void Exchange::Run::heard(const TellUse& use) const {
  const auto readers = static_cast<std::uint32_t>(team.seats()) + 1;
  if (use.state->heard.fetch_add(1) + 1 == (use.number + 1) * readers) team.ring_all();
}

// All memory is taken before the first window: once ranks exchange, nobody may drop out.
Task<Status> Exchange::prepare(Views& views) {
  if (staging_ != nullptr) co_return Status{};
  const Status ready = co_await views.prepare(team_, plan_.aggregators);
  if (!ready.ok()) co_return ready;
  Result<std::unique_ptr<Staging>> created = co_await Staging::create(team_, plan_);
  if (!created.ok()) co_return created.status();
  staging_ = std::move(*created);
  Verdict memory;
  if (aggregates()) memory.worst = prepare_to_serve().travelling(team_.rank());
  memory = co_await team_.agree(memory);
  if (!memory.worst.ok()) staging_ = nullptr;
  co_return memory.worst;
}

Status Exchange::prepare_to_serve() {
  return attempt([&] {
    flights_ = std::make_unique<Flight[]>(kWindowsInFlight);
    const auto room = static_cast<std::size_t>(staging_->parcel_bytes());
    if (team_.topology().node_count() > 1)
      inbox_ = std::make_unique_for_overwrite<std::byte[]>(kInbox * (kMessageHead + room));
    make_queue();
    return Status{};
  });
}

void Exchange::make_queue() {
  const Overlap overlap = choose_overlap(plan_.hints.tamis_async, plan_.storage);
  if (!overlap.beside) return;
  const auto ring_own = [](void* self) {
    Team& team = static_cast<Exchange*>(self)->team_;
    team.ring(team.seat_of(team.rank()));
  };
  Result<std::unique_ptr<TransferQueue>> queue =
      driver_.queue({.depth = kWindowsInFlight, .bell = {ring_own, this}, .kind = overlap.queue});
  if (queue.ok()) queue_ = std::move(*queue);
}

bool Exchange::aggregates() const {
  return std::binary_search(plan_.aggregators.begin(), plan_.aggregators.end(), team_.rank());
}

Task<Status> Exchange::announce(const Access& access, const Survey& survey, Views& views,
                                Account account) {
  if (team_.topology().node_count() == 1) co_return Status{};
  const auto span = account.time(Phase::announce);
  const News news = survey.ranks_with_new_view > 0    ? News::view
                    : survey.ranks_with_new_range > 0 ? News::range
                                                      : News::nothing;
  co_return co_await views.announce(team_, plan_.aggregators, access, news, account);
}

/// Buffer memory this rank provides: its own windows, and parcels.
std::int64_t Exchange::memory_held(const Run& run) const {
  const std::int64_t windows = run.my_realm() >= 0 ? kWindowsInFlight : 0;
  std::int64_t parcels = team_.topology().node_count() > 1 ? kParcelsInFlight : 0;
  if (inbox_ != nullptr) parcels += std::int64_t{kInbox};
  const std::int64_t kept = run.behind != nullptr ? run.behind->memory_held() : 0;
  return windows * plan_.window_bytes + parcels * staging_->parcel_bytes() + kept;
}

Task<Outcome> Exchange::run(const Access& access, const Strategy& strategy, const Survey& survey,
                            Views& views, WriteBehind* behind, Account account) {
  const std::size_t flights = flights_ != nullptr ? std::size_t{kWindowsInFlight} : 0;
  Run run{team_,        driver_,  plan_, *staging_, inbox_.get(),
          access,       strategy, views, account,   {flights_.get(), flights},
          queue_.get(), behind};
  if (access.bytes > 0) run.span = access.span();
  account.holds(memory_held(run));
  Status ready = co_await announce(access, survey, views, account);
  std::optional<RangeLock> lock;
  const bool locks = run.locks_region();
  // Threads of the same ranks may write plainly meanwhile: they are told, as by any siever.
  std::optional<WriteGate::Sieving> sieving;
  if (locks && team_.seat_of(team_.rank()) == 0)
    sieving.emplace(team_.gate(), team_.plain_writers());
  if (ready.ok() && locks) {
    const auto span = account.time(Phase::lock);
    Driver* const holder = run.my_realm() == 0 ? &driver_ : nullptr;
    account.count(&Tally::locks, holder != nullptr ? 1 : 0);
    ready = co_await lock_region(team_, lock, holder, survey.region());
  }
  // A rank's own error tells more than the same error seen from elsewhere.
  if (!ready.ok()) co_return Outcome{0, access.error.ok() ? ready : access.error};

  Outcome outcome = co_await move(run);
  if (locks) outcome.status.keep_first(co_await unlock_region(team_, lock));
  if (!access.error.ok()) outcome.status = access.error;
  co_return outcome;
}

// The parts go on side by side: none may keep another from answering other ranks.
Task<bool> Exchange::side_by_side(Run& run, Server& server, Shipper& shipper) {
  Driven<bool> serving(server.serve());
  Driven<bool> shipping(shipper.ship());
  Account::Steps steps = run.account.steps();
  co_await until([&] {
    steps.begin();
    const bool served = serving.advance();
    const bool shipped = shipping.advance();
    const bool done = shipped && (served || serving.advance());
    steps.end();
    return done;
  });
  co_return serving.take() && shipping.take();
}

Task<bool> Exchange::across_nodes(Run& run, Server& server, Shipper& shipper) {
  Carrier carrier(run);
  Driven<bool> carrying(carrier.carry());
  // The others are one part more, begun after it: it knows where the parcels' numbers begin.
  Driven<bool> the_rest(side_by_side(run, server, shipper));
  co_await until([&] {
    const bool carried = carrying.advance();
    return the_rest.advance() && (carried || carrying.advance());
  });
  co_return carrying.take() && the_rest.take();
}

Task<Outcome> Exchange::move(Run& run) {
  Server server(run);
  Shipper shipper(run);
  if (team_.topology().node_count() == 1)
    co_await side_by_side(run, server, shipper);
  else
    co_await across_nodes(run, server, shipper);
  const FileRealms& realms = run.strategy.realms;
  for (int realm = 0; realm < realms.count(); ++realm)
    if (team_.beside_me(run.owner(realm)))
      staging_->uses(realm) += realms.windows(realm, plan_.window_bytes);

  Verdict verdict{run.access.error.travelling(team_.rank()), 0};
  verdict.worst.merge(server.status().travelling(team_.rank()));
  verdict.worst.merge(shipper.status().travelling(team_.rank()));
  verdict.worst.merge(team_.comm().health().travelling(team_.rank()));
  verdict.incomplete = server.good_until() != kWhole ? 1 : 0;
  const auto span = run.account.time(Phase::agree);
  verdict = co_await team_.agree(verdict);
  Outcome outcome{run.access.bytes, verdict.worst};
  if (verdict.incomplete != 0)
    outcome.bytes =
        co_await count_moved(team_, run.access, realms, run.my_realm(), server.good_until());
  outcome.bytes = std::min(outcome.bytes, shipper.moved_until() - run.access.first);
  co_return outcome;
}

}  // namespace tamis
