#pragma once

#include <cstddef>
#include <vector>

namespace tamis::sim {

/// When something that serves one request at a time (a link, a disk) is busy. Requests are booked
/// in any order of their times, since ranks are stepped one after the other: whoever comes later,
/// but earlier on the clock, gets what is still free then. Exact to a slot of time.
class Calendar {
 public:
  /// REQUIRES: slot_ns > 0.
  explicit Calendar(double slot_ns) : slot_ns_(slot_ns) {}

  /// Books `work_ns` from `from_ns` on; returns when it is done.
  double book(double from_ns, double work_ns);
  void clear();

 private:
  struct Slot {
    double used_ns = 0;
    std::size_t next = 0;  // where to look on, once it is full
  };
  std::size_t first_free(std::size_t slot);

  double slot_ns_;
  std::vector<Slot> slots_;
};

}  // namespace tamis::sim
