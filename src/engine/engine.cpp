#include "engine/engine.hpp"

#include <limits>
#include <new>

#include "engine/alone.hpp"
#include "engine/verdict.hpp"

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

Engine::Engine(Team& team, Driver& driver, Circumstances plan)
    : team_(team),
      driver_(driver),
      plan_(std::move(plan)),
      gate_(team.gate()),
      exchange_(team_, driver_, plan_) {
  const bool can_lock = plan_.storage.locks && plan_.hints.tamis_locks != Switch::disable;
  // Ranks that sieve at once keep apart by locks alone, in an open file of several ranks.
  const bool apart = team.size() == 1 || plan_.hints.tamis_locks != Switch::disable;
  plan_.storage.guarded = team.topology().node_count() == 1 && apart;
  gate_.can_lock = can_lock;
  const bool sieves_elsewhere =
      !plan_.storage.guarded && plan_.hints.romio_ds_write == Switch::enable;
  plan_.lock_plain_writes = can_lock && (sieves_elsewhere || !plan_.storage.may_rewrite);
  gate_.always_lock = plan_.lock_plain_writes;
}

Outcome Engine::independent(const Access& access) {
  if (!access.error.ok() || access.bytes == 0) return {0, access.error};
  if (!plan_.atomic && is_one_piece(access)) return move_one_piece(access);
  return move_own(access);
}

Outcome Engine::move_one_piece(const Access& access) {
  const Transfer piece{{access.file->offset_of(access.first), access.bytes},
                       access.buffer + access.memory->offset_of(0)};
  if (access.direction == Direction::read) return driver_.transfer(Direction::read, {&piece, 1});
  WriteGate::Plain plain(gate_, driver_, piece.file);
  if (!plain.status().ok()) return {0, plain.status()};
  Outcome outcome = driver_.transfer(Direction::write, {&piece, 1});
  plain.release();
  outcome.status.keep_first(plain.status());
  return outcome;
}

Outcome Engine::move_own(const Access& access) {
  if (access.bytes == 0) return {};
  const Choice choice =
      choose_method(access.direction, shape_of(access), plan_.hints, plan_.storage);
  try {
    if (plan_.atomic) return move_atomically(access, choice.method);
    if (access.direction == Direction::write) return move_guarded(access, choice.method);
    return move_alone(access, choice.method, {driver_, scratch_, plan_.hints});
  } catch (const std::bad_alloc&) {
    return {0, failure(Errc::no_memory, "no memory for a buffer")};
  }
}

Outcome Engine::move_guarded(const Access& access, Method method) {
  const Means means{driver_, scratch_, plan_.hints};
  if (method == Method::sieve) {
    const WriteGate::Sieving sieving(gate_, team_.plain_writers());
    return move_alone(access, method, means);
  }
  WriteGate::Plain plain(gate_, driver_, locked_range(access));
  if (!plain.status().ok()) return {0, plain.status()};
  Outcome outcome = move_alone(access, method, means);
  plain.release();
  outcome.status.keep_first(plain.status());
  return outcome;
}

// Atomic mode (section 14.6.1): the access appears whole to every other one, so its range is
// locked from first to last byte, shared by readers.
Outcome Engine::move_atomically(const Access& access, Method method) {
  const LockKind kind =
      access.direction == Direction::write ? LockKind::exclusive : LockKind::shared;
  RangeLock held(driver_, locked_range(access), kind);
  if (!held.status().ok()) return {0, held.status()};
  Outcome outcome = move_alone(access, method, {driver_, scratch_, plan_.hints, true});
  held.release();
  outcome.status.keep_first(held.status());
  return outcome;
}

Task<Outcome> Engine::collective(Access access) {
  if (!access.error.ok()) access.bytes = 0;
  if (team_.size() == 1) co_return independent(access);
  Survey survey = survey_of(access, team_.rank(), views_.is_new(), plan_.hints, plan_.storage);
  survey = co_await team_.agree(survey);
  const Strategy strategy = decide(survey, plan_);
  if (strategy.route == Route::two_phase) {
    const Status ready = co_await exchange_.prepare();
    if (ready.ok()) {
      Outcome outcome = co_await exchange_.run(access, strategy, survey, views_);
      co_return outcome;
    }
    // No memory for the exchange, on any rank: all of them go the other way.
  }
  Outcome own{0, access.error};
  if (strategy.route != Route::nothing && access.error.ok()) own = move_own(access);
  if (strategy.route == Route::nothing) {
    if (access.error.ok()) own.status = survey.worst;
    co_return own;
  }
  own.status.keep_first(team_.comm().health());
  Verdict verdict{.worst = own.status.travelling(team_.rank())};
  verdict = co_await team_.agree(verdict);
  if (own.status.ok()) own.status = verdict.worst;
  co_return own;
}

}  // namespace tamis
