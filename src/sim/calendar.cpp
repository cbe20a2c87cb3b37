#include "sim/calendar.hpp"

#include <algorithm>

namespace tamis::sim {

void Calendar::clear() { slots_.clear(); }

/// The first slot from this one on with time left; what was passed points there from now on.
std::size_t Calendar::first_free(std::size_t slot) {
  std::size_t free = slot;
  while (free < slots_.size() && slots_[free].next != free) free = slots_[free].next;
  while (slot < free) {
    const std::size_t next = slots_[slot].next;
    slots_[slot].next = free;
    slot = next;
  }
  while (slots_.size() <= free) slots_.push_back({0, slots_.size()});
  return free;
}

double Calendar::book(double from_ns, double work_ns) {
  double done_ns = from_ns + work_ns;
  auto slot = static_cast<std::size_t>(from_ns / slot_ns_);
  while (work_ns > 0) {
    slot = first_free(slot);
    const double begin_ns = static_cast<double>(slot) * slot_ns_;
    const double part_ns = std::min(work_ns, slot_ns_ - slots_[slot].used_ns);
    slots_[slot].used_ns += part_ns;
    work_ns -= part_ns;
    done_ns = std::max(done_ns, begin_ns + slots_[slot].used_ns);
    if (slots_[slot].used_ns >= slot_ns_) slots_[slot].next = slot + 1;
  }
  return done_ns;
}

}  // namespace tamis::sim
