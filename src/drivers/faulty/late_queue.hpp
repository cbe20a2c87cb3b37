#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "drivers/driver.hpp"
#include "drivers/faulty/chance.hpp"

namespace tamis {

/// How late transfers of a queue finish in a simulation.
struct Lateness {
  std::uint64_t seed = 1;
  double at_start = 0.3;  ///< chance that bytes move as the transfer starts, not as it finishes
  double late = 0.5;      ///< chance that a look at the queue finds nothing new finished
};

/// A queue without threads: the same seed and the same calls give the same order of transfers.
/// Every look for a finished one lets at most one of those under way finish, whichever is drawn,
/// and rings the bell for it.
class LateQueue : public TransferQueue {
 public:
  LateQueue(Driver& driver, std::size_t depth, const Bell& bell, const Lateness& lateness)
      : driver_(driver), bell_(bell), lateness_(lateness), chance_(lateness.seed), slots_(depth) {}
  ~LateQueue() override;
  LateQueue(const LateQueue&) = delete;
  LateQueue& operator=(const LateQueue&) = delete;

  std::size_t depth() const override { return slots_.size(); }
  const char* name() const override { return "late"; }
  void start(std::size_t slot, Direction direction, std::span<const Transfer> batch) override;
  std::optional<Outcome> finished(std::size_t slot) override;
  Outcome wait(std::size_t slot) override;

 private:
  enum class State : std::uint8_t { free, started, moved, finished };
  struct Slot {
    State state = State::free;
    Direction direction = Direction::read;
    std::span<const Transfer> batch;
    Outcome outcome;
  };

  static bool is_under_way(const Slot& slot) {
    return slot.state == State::started || slot.state == State::moved;
  }
  bool finish_one();
  void move(Slot& slot);

  Driver& driver_;
  Bell bell_;
  Lateness lateness_;
  Chance chance_;
  std::vector<Slot> slots_;
};

}  // namespace tamis
