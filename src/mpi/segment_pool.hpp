#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "comm/comm.hpp"

namespace tamis {

/// Shared segments of a communicator's closed files, ready for the next ones: mapping fresh memory
/// into every rank, a page fault at a time, costs as much as moving tens of megabytes through it.
/// Keeps the last few, hence no more memory than files that were open together have used.
/// Thread safe. Always owned by shared_ptr: segments in use hold it.
class SegmentPool : public std::enable_shared_from_this<SegmentPool> {
 public:
  SegmentPool() { kept_.reserve(kMostKept); }

  /// A segment of exactly these bytes; what is in it is undefined.
  Result<std::unique_ptr<Segment>> create(std::int64_t bytes);
  Result<std::unique_ptr<Segment>> attach(const SegmentName& name);

 private:
  class Loan;
  struct Kept {
    std::unique_ptr<Segment> segment;
    bool made_here = false;
  };

  /// A kept segment for which `fits` holds; null where there is none.
  template <typename Fits>
  std::unique_ptr<Segment> take(Fits fits);
  Result<std::unique_ptr<Segment>> lend(Result<std::unique_ptr<Segment>> segment, bool made_here);
  void keep(Kept kept);

  static constexpr std::size_t kMostKept = 4;
  // Memory of larger ones would be missed elsewhere; what is saved by keeping them is little.
  static constexpr std::int64_t kLargestKept = 256 << 20;
  std::mutex mutex_;
  std::vector<Kept> kept_;  // the one used last stands last
};

}  // namespace tamis
