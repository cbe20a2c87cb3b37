#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "base/status.hpp"
#include "drivers/driver.hpp"
#include "layout/extent.hpp"

namespace tamis {

/// What an acquisition does that meets a conflicting range. `refuse` is for single-threaded worlds,
/// where nobody could ever end the wait.
enum class LockWait : std::uint8_t { block, refuse };

/// The byte ranges held inside this process: shared ones may overlap, exclusive ones overlap
/// nothing. Every acquisition counts for itself, whoever makes it. Thread-safe.
class RangeTable {
 public:
  /// Takes the range; waits for, or refuses, ranges that conflict. `owner` only says whose it is.
  Status acquire(const void* owner, const Extent& range, LockKind kind, LockWait wait);

  /// Gives back a range as it was acquired. Before anyone can take it, `on_free` is called with
  /// each piece of it that nobody holds any more, in file order; its first error is the result.
  Status release(const void* owner, const Extent& range,
                 const std::function<Status(const Extent&)>& on_free);

  /// Gives back everything the owner holds.
  void release_all(const void* owner);

 private:
  struct Held {
    const void* owner;
    Extent range;
    LockKind kind;
  };

  bool conflicts(const Extent& range, LockKind kind) const;
  Extent first_free(const Extent& range) const;

  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Held> held_;
};

/// Whether [offset, offset + length) is a range of bytes a file can have.
bool is_file_range(const Extent& range);

}  // namespace tamis
