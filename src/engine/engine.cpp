#include "engine/engine.hpp"

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

}  // namespace

Engine::Engine(Team& team, Driver& driver, Circumstances plan, Recorder* recorder)
    : team_(team),
      driver_(driver),
      plan_(std::move(plan)),
      gate_(team.gate()),
      exchange_(team_, driver_, plan_),
      recorder_(recorder) {
  settle(plan_, team.topology().node_count());
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
  // A rank that is alone hears of wrong realms, too.
  if (team_.size() == 1 && plan_.given == nullptr) co_return carry_out(access, account);
  Survey survey;
  {
    const auto span = account.time(Phase::survey);
    survey =
        survey_of(access, team_.rank(), views_.propose(team_, access), plan_.hints, plan_.storage);
    survey = co_await team_.agree(survey);
  }
  const Strategy strategy = decide(survey, plan_);
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
  if (strategy.route == Route::two_phase) {
    const Status ready = co_await exchange_.prepare(views_);
    if (ready.ok()) {
      Outcome outcome = co_await exchange_.run(access, strategy, survey, views_, account);
      co_return outcome;
    }
    // No memory for the exchange, on any rank: all of them go the other way.
  }
  co_return co_await move_apart(access, account);
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
