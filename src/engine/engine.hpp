#pragma once

#include "engine/alone.hpp"
#include "engine/exchange.hpp"
#include "engine/read_ahead.hpp"
#include "engine/recorder.hpp"
#include "engine/scratch.hpp"
#include "engine/write_behind.hpp"
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

  // Write-behind: collective writes that were not stored yet.

  /// There may be some, on any rank; the same answer on every rank.
  bool keeps() const { return !kept_.empty(); }
  /// End of the last byte of them; 0: there are none.
  std::int64_t kept_end() const { return kept_.get().end(); }
  /// Collective: stores them; the same status on every rank. Where it fails they stay, to be tried
  /// again.
  Task<Status> store_kept();

  /// The rank's view changed: owners on other nodes must be told again.
  void renew_view() {
    views_.renew();
    forget_ahead();
  }
  /// Others may have changed the file.
  void forget_ahead();
  void set_atomic(bool atomic) {
    plan_.atomic = atomic;
    forget_ahead();
  }
  const Circumstances& plan() const { return plan_; }

 private:
  Outcome carry_out(const Access& access, Account account);
  Outcome move_ahead(const Access& access, Account account);
  Outcome move_now(const Access& access, Account account);
  Task<Outcome> carry_out_together(const Access& access, Account account);
  Task<Outcome> move_apart(const Access& access, Account account);
  Task<Strategy> choose(const Survey& survey);
  Task<Outcome> go(const Access& access, const Survey& survey, const Strategy& strategy,
                   Account account);
  Status store_own_kept();
  Status store_met(const Access& access, Account account);
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
  std::unique_ptr<WriteBehind> behind_;  // null: nothing was ever kept
  Hull kept_;                            // bytes that wait, of all ranks
  Hull own_kept_;                        // of those this rank wrote
  std::unique_ptr<ReadAhead> ahead_;     // null: nothing is read ahead
  Recorder* recorder_;
};

}  // namespace tamis
