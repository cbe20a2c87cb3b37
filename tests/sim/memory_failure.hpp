#pragma once

namespace tamis::sim {

/// One rank's memory runs out while this lives: of what it asks for from now on, request number
/// `nth` (from 0) is refused; `for_good`: all later ones as well. At most one at a time.
class MemoryFailure {
 public:
  MemoryFailure(int rank, int nth, bool for_good);
  ~MemoryFailure();
  MemoryFailure(const MemoryFailure&) = delete;
  MemoryFailure& operator=(const MemoryFailure&) = delete;

  /// Requests refused so far.
  int refused() const;
};

}  // namespace tamis::sim
