#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "comm/comm.hpp"

namespace tamis::sim {

/// The memory that simulated ranks of a node see together. What a segment holds at first is
/// nobody's to rely on; so that somebody who does is found out, it can be filled with rubbish.
class SharedMemories {
 public:
  enum class Leftover : bool { untouched, rubbish };
  explicit SharedMemories(Leftover leftover) : leftover_(leftover) {}

  std::unique_ptr<Segment> create(std::int64_t bytes);
  /// Null where there is none of that name any more.
  std::unique_ptr<Segment> attach(const SegmentName& name);
  /// Segments that somebody still holds.
  int alive() const;

 private:
  struct Memory;
  class Held;

  Leftover leftover_;
  std::map<std::int64_t, std::weak_ptr<Memory>> memories_;
  std::int64_t next_ = 1;
};

}  // namespace tamis::sim
