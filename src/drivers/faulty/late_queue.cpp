#include "drivers/faulty/late_queue.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tamis {

LateQueue::~LateQueue() {
  while (finish_one()) {
  }
}

void LateQueue::start(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
  assert(slot < slots_.size() && slots_[slot].state == State::free);
  slots_[slot] = {State::started, direction, batch, {}};
  if (chance_.draw(lateness_.at_start)) move(slots_[slot]);
}

std::optional<Outcome> LateQueue::finished(std::size_t slot) {
  if (!chance_.draw(lateness_.late)) finish_one();
  if (slots_[slot].state != State::finished) return std::nullopt;
  slots_[slot].state = State::free;
  return slots_[slot].outcome;
}

Outcome LateQueue::wait(std::size_t slot) {
  while (slots_[slot].state != State::finished) finish_one();
  slots_[slot].state = State::free;
  return slots_[slot].outcome;
}

/// False: nothing is under way.
bool LateQueue::finish_one() {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(slots_, is_under_way));
  if (count == 0) return false;
  std::size_t passed_over = chance_.below(count);
  for (Slot& slot : slots_) {
    if (!is_under_way(slot) || passed_over-- > 0) continue;
    if (slot.state == State::started) move(slot);
    slot.state = State::finished;
    bell_();
    return true;
  }
  return false;
}

void LateQueue::move(Slot& slot) {
  slot.outcome = driver_.transfer(slot.direction, slot.batch);
  slot.state = State::moved;
}

}  // namespace tamis
