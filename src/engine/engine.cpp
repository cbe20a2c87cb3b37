#include "engine/engine.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "base/attempt.hpp"
#include "engine/verdict.hpp"
#include "plan/explain.hpp"

namespace tamis {
namespace {

bool is_one_piece(const Access& access) {
  return access.memory->is_contiguous() && access.file->is_contiguous();
}

/// The range an atomic access locks: all of the file where the view goes back and forth.
Extent locked_range(const Access& access) {
  if (access.file->is_ordered()) return access.span();
  return between(0, kRewriteToken.offset);
}

/// Whether ranks may move some of the bytes that wait. Where a view goes back and forth nobody
/// knows which they move. A read that begins before the end of what waits meets it: until it is
/// stored the file may end earlier.
bool meets(const Hull& bytes, const Survey& survey) {
  if (bytes.empty() || survey.ranks_with_data == 0) return false;
  if (survey.ranks_unordered > 0) return true;
  const Extent waiting = bytes.get();
  if (survey.directions == 1) return survey.region().offset < waiting.end();
  return !intersect(waiting, survey.region()).empty();
}

}  // namespace

Engine::Engine(Team& team, Driver& driver, Circumstances plan, Recorder* recorder)
    : team_(team),
      driver_(driver),
      plan_(std::move(plan)),
      gate_(team.gate()),
      exchange_(team_, driver_, plan_),
      recorder_(recorder) {
  settle(plan_, team.topology().node_count());
  if (plan_.hints.tamis_read_ahead > 0)
    ahead_ = std::make_unique<ReadAhead>(plan_.hints.tamis_read_ahead);
  gate_.can_lock = plan_.storage.locks && plan_.hints.tamis_locks != Switch::disable;
  gate_.always_lock = plan_.lock_plain_writes;
}

Outcome Engine::independent(const Access& access) {
  if (recorder_ == nullptr) [[likely]]
    return carry_out(access, {});
  Entry entry = recorder_->begin(access.direction, false);
  const Outcome outcome = carry_out(access, Account(entry));
  recorder_->post(entry, access, outcome);
  return outcome;
}

Outcome Engine::carry_out(const Access& access, Account account) {
  if (!access.error.ok() || access.bytes == 0) return {0, access.error};
  if (ahead_ != nullptr) [[unlikely]]
    return move_ahead(access, account);
  return move_now(access, account);
}

/// Reads that walk along the view are served from what was read ahead.
Outcome Engine::move_ahead(const Access& access, Account account) {
  const auto read = [&](const Access& wide) { return move_now(wide, account); };
  const bool held = access.direction == Direction::read && !plan_.atomic;
  if (held && ahead_->serve(access, read)) {
    account.went(Route::alone, Method::ahead);
    if (recorder_ != nullptr) account.shaped(shape_of(access));
    return {access.bytes, {}};
  }
  const Outcome outcome = move_now(access, account);
  if (access.direction == Direction::write) ahead_->drop();
  return outcome;
}

void Engine::forget_ahead() {
  if (ahead_ != nullptr) ahead_->drop();
}

Outcome Engine::move_now(const Access& access, Account account) {
  if (keeps()) [[unlikely]] {
    const Status stored = store_met(access, account);
    if (!stored.ok()) return {0, stored};
  }
  if (!plan_.atomic && is_one_piece(access)) return move_one_piece(access, account);
  return move_own(access, account);
}

Outcome Engine::move_one_piece(const Access& access, Account account) {
  account.went(Route::alone, Method::direct);
  account.rest_goes_to(Phase::transfer);
  if (recorder_ != nullptr) [[unlikely]]
    tell_method(access.direction, {access.bytes, access.bytes, 1, 1, true}, account);
  const Transfer piece{{access.file->offset_of(access.first), access.bytes},
                       access.buffer + access.memory->offset_of(0)};
  if (access.direction == Direction::read)
    return account.transfer(driver_, Direction::read, {&piece, 1});
  WriteGate::Plain plain(gate_, driver_, piece.file, account);
  if (!plain.status().ok()) return {0, plain.status()};
  Outcome outcome = account.transfer(driver_, Direction::write, {&piece, 1});
  plain.release();
  outcome.status.keep_first(plain.status());
  return outcome;
}

Outcome Engine::move_own(const Access& access, Account account) {
  if (access.bytes == 0) return {};
  const Shape shape = shape_of(access);
  const Choice choice = choose_method(access.direction, shape, plan_.hints, plan_.storage);
  account.went(Route::alone, choice.method);
  if (recorder_ != nullptr) tell_method(access.direction, shape, account);
  const Means means{driver_, scratch_, plan_.hints, plan_.storage, plan_.atomic, account};
  try {
    if (plan_.atomic) return move_atomically(access, choice.method, means);
    if (access.direction == Direction::write) return move_guarded(access, choice.method, means);
    return move_alone(access, choice.method, means);
  } catch (const std::bad_alloc&) {
    return {0, failure(Errc::no_memory, "no memory for a buffer")};
  }
}

Outcome Engine::move_guarded(const Access& access, Method method, const Means& means) {
  if (method == Method::sieve) {
    const WriteGate::Sieving sieving(gate_, team_.plain_writers());
    return move_alone(access, method, means);
  }
  WriteGate::Plain plain(gate_, driver_, locked_range(access), means.account);
  if (!plain.status().ok()) return {0, plain.status()};
  Outcome outcome = move_alone(access, method, means);
  plain.release();
  outcome.status.keep_first(plain.status());
  return outcome;
}

// Atomic mode (section 14.6.1): the access appears whole to every other one, so its range is
// locked from first to last byte, shared by readers.
Outcome Engine::move_atomically(const Access& access, Method method, const Means& means) {
  const LockKind kind =
      access.direction == Direction::write ? LockKind::exclusive : LockKind::shared;
  RangeLock held = means.account.lock(driver_, locked_range(access), kind);
  if (!held.status().ok()) return {0, held.status()};
  Outcome outcome = move_alone(access, method, means);
  held.release();
  outcome.status.keep_first(held.status());
  return outcome;
}

// What is said of a decision may not change it: where there is no memory for the words, there are
// none.
template <typename Words>
void Engine::tell(const Shape& shape, Account account, Words words) {
  account.shaped(shape);
  if (recorder_->knows(account.way(), shape)) return;
  static_cast<void>(attempt([&] {
    recorder_->learn(account.way(), shape, words());
    return Status{};
  }));
}

void Engine::tell_method(Direction direction, const Shape& shape, Account account) {
  tell(shape, account, [&] {
    const Choice choice = choose_method(direction, shape, plan_.hints, plan_.storage);
    return explain(direction, shape, choice, plan_);
  });
}

Task<Outcome> Engine::collective(Access access) {
  if (!access.error.ok()) access.bytes = 0;
  if (recorder_ == nullptr) co_return co_await carry_out_together(access, {});
  Entry entry = recorder_->begin(access.direction, true);
  const Outcome outcome = co_await carry_out_together(access, Account(entry));
  recorder_->post(entry, access, outcome);
  co_return outcome;
}

Task<Outcome> Engine::carry_out_together(const Access& access, Account account) {
  // A rank that is alone hears of wrong realms, too, and may write behind.
  const bool plain = plan_.given == nullptr && plan_.hints.tamis_write_behind == 0;
  if (team_.size() == 1 && plain) co_return carry_out(access, account);
  Survey survey;
  {
    const auto span = account.time(Phase::survey);
    survey =
        survey_of(access, team_.rank(), views_.propose(team_, access), plan_.hints, plan_.storage);
    survey = co_await team_.agree(survey);
  }
  const Strategy strategy = co_await choose(survey);
  if (strategy.realms.kind() == RealmKind::persistent)
    plan_.persistent_block = strategy.realms.block();
  account.went(strategy.route, Method::nothing);
  if (recorder_ != nullptr)
    tell(shape_of(access), account, [&] { return explain(survey, plan_, strategy); });
  if (strategy.route == Route::nothing) {
    Status status = access.error;
    status.keep_first(survey.worst);
    status.keep_first(strategy.error);
    co_return Outcome{0, status};
  }
  if (!strategy.behind && meets(kept_, survey)) {
    const Status stored = co_await store_kept();
    if (!stored.ok()) co_return Outcome{0, access.error.ok() ? stored : access.error};
  }
  Outcome outcome = co_await go(access, survey, strategy, account);
  if (access.direction == Direction::write) forget_ahead();
  co_return outcome;
}

/// Write-behind needs memory of its own: where a rank has none for it, all do without from then on.
Task<Strategy> Engine::choose(const Survey& survey) {
  Strategy strategy = decide(survey, plan_);
  if (!strategy.behind || behind_ != nullptr) co_return strategy;
  const WriteBehind::Means means{driver_, scratch_, plan_, gate_};
  Result<std::unique_ptr<WriteBehind>> made =
      co_await WriteBehind::create(team_, means, strategy.realms);
  if (made.ok()) {
    behind_ = std::move(*made);
    co_return strategy;
  }
  plan_.no_write_behind = true;
  co_return decide(survey, plan_);
}

Task<Outcome> Engine::go(const Access& access, const Survey& survey, const Strategy& strategy,
                         Account account) {
  if (strategy.route == Route::two_phase) {
    const Status ready = co_await exchange_.prepare(views_);
    if (ready.ok()) {
      if (strategy.behind) {
        kept_.add(survey.region());
        if (access.bytes > 0) own_kept_.add(access.span());
      }
      WriteBehind* const behind = strategy.behind ? behind_.get() : nullptr;
      Outcome outcome = co_await exchange_.run(access, strategy, survey, views_, behind, account);
      co_return outcome;
    }
    // No memory for the exchange, on any rank: all of them go the other way.
  }
  if (strategy.behind && keeps()) {
    const Status stored = co_await store_kept();
    if (!stored.ok()) co_return Outcome{0, access.error.ok() ? stored : access.error};
  }
  co_return co_await move_apart(access, account);
}

/// What an access of this rank alone meets of what is kept. The standard lets a rank see its own
/// bytes (section 14.6.1); those of others only after a sync, but on one node all are at hand.
Status Engine::store_met(const Access& access, Account account) {
  const bool one_node = team_.topology().node_count() == 1;
  const Extent waiting = one_node ? kept_.get() : own_kept_.get();
  Extent span = access.file->is_ordered() ? access.span() : between(0, kRewriteToken.offset);
  if (access.direction == Direction::read && span.offset < waiting.end()) {
    // The file may end before what waits; then there are zeros up to it.
    const Result<std::int64_t> end = driver_.size();
    if (!end.ok()) return end.status();
    if (*end < std::min(span.end(), waiting.end())) span = waiting;
  }
  if (intersect(waiting, span).empty()) return {};
  if (one_node) return behind_->store_on_node(span, account);
  return failure(Errc::unsupported_operation,
                 "write-behind keeps bytes of this rank on other nodes: sync the file first");
}

/// What this rank keeps, while all ranks are in a collective call. REQUIRES: keeps().
Status Engine::store_own_kept() {
  if (recorder_ == nullptr) return behind_->store_own({});
  Entry entry = recorder_->begin(Direction::write, true);
  entry.way.route = Route::two_phase;
  const Status status = behind_->store_own(Account(entry));
  recorder_->post_late(entry);
  return status;
}

Task<Status> Engine::store_kept() {
  Verdict stored;
  stored.worst = store_own_kept().travelling(team_.rank());
  stored = co_await team_.agree(stored);
  if (stored.worst.ok()) {
    kept_.clear();
    own_kept_.clear();
  }
  co_return stored.worst;
}

Task<Outcome> Engine::move_apart(const Access& access, Account account) {
  Outcome own{0, access.error};
  account.went(Route::alone, Method::nothing);
  if (access.error.ok()) own = move_own(access, account);
  own.status.keep_first(team_.comm().health());
  Verdict verdict{.worst = own.status.travelling(team_.rank())};
  const auto span = account.time(Phase::agree);
  verdict = co_await team_.agree(verdict);
  if (own.status.ok()) own.status = verdict.worst;
  co_return own;
}

}  // namespace tamis
