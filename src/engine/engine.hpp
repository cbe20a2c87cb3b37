#pragma once

#include "engine/exchange.hpp"
#include "engine/scratch.hpp"
#include "plan/access.hpp"

namespace tamis {

/// Carries accesses to one open file out. Read or write, alone or together are values of the
/// access; an operation in flight is the Task it returned. One collective operation at a time.
class Engine {
 public:
  Engine(Team& team, Driver& driver, Circumstances plan);

  /// This rank alone: plans and moves, without waiting for others.
  /// HOT PATH for one contiguous piece: no allocation, one transfer. Benchmark: bench/contig.
  Outcome independent(const Access& access);

  /// Collective: survey, decide, move, agree. Every rank gets an error where one rank had one.
  Task<Outcome> collective(Access access);

  /// The rank's view changed: owners on other nodes must be told again.
  void renew_view() { views_.renew(); }
  void set_atomic(bool atomic) { plan_.atomic = atomic; }
  const Circumstances& plan() const { return plan_; }

 private:
  Outcome move_atomically(const Access& access, Method method);
  Outcome move_guarded(const Access& access, Method method);
  Outcome move_own(const Access& access);
  Outcome move_one_piece(const Access& access);

  Team& team_;
  Driver& driver_;
  Circumstances plan_;
  WriteGate::Words gate_;
  Scratch scratch_;
  Views views_;
  Exchange exchange_;
};

}  // namespace tamis
