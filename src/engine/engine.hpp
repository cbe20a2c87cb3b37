#pragma once

#include "engine/alone.hpp"
#include "engine/exchange.hpp"
#include "engine/recorder.hpp"
#include "engine/scratch.hpp"
#include "plan/access.hpp"

namespace tamis {

/// Carries accesses to one open file out. Read or write, alone or together are values of the
/// access; an operation in flight is the Task it returned. One collective operation at a time.
class Engine {
 public:
  /// `recorder`: hears of every access; null: nobody does. It must outlive the engine.
  Engine(Team& team, Driver& driver, Circumstances plan, Recorder* recorder);

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
  Outcome carry_out(const Access& access, Account account);
  Task<Outcome> carry_out_together(const Access& access, Account account);
  Task<Outcome> move_apart(const Access& access, Account account);
  Outcome move_atomically(const Access& access, Method method, const Means& means);
  Outcome move_guarded(const Access& access, Method method, const Means& means);
  Outcome move_own(const Access& access, Account account);
  Outcome move_one_piece(const Access& access, Account account);
  template <typename Words>
  void tell(const Shape& shape, Account account, Words words);
  void tell_method(Direction direction, const Shape& shape, Account account);

  Team& team_;
  Driver& driver_;
  Circumstances plan_;
  WriteGate::Words gate_;
  Scratch scratch_;
  Views views_;
  Exchange exchange_;
  Recorder* recorder_;
};

}  // namespace tamis
