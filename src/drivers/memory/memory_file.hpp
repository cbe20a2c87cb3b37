#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "drivers/driver.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/range_table.hpp"

namespace tamis {

/// The bytes of one file and the locks on it. Thread-safe; a transfer of one extent is atomic.
class MemoryFile {
 public:
  explicit MemoryFile(const MemoryOptions& options) : options_(options) {}

  Outcome transfer(Direction direction, const Transfer& transfer);
  std::int64_t size();
  void resize(std::int64_t bytes);
  Status preallocate(std::int64_t bytes);
  Status lock(const void* owner, const Extent& range, LockKind kind) {
    return locks_.acquire(owner, range, kind, options_.lock_wait);
  }
  bool try_lock(const void* owner, const Extent& range, LockKind kind) {
    return locks_.acquire(owner, range, kind, LockWait::refuse).ok();
  }
  Status unlock(const void* owner, const Extent& range) {
    return locks_.release(owner, range, nullptr);
  }
  void unlock_all(const void* owner) { locks_.release_all(owner); }

 private:
  static constexpr std::int64_t kPageBytes = 64 << 10;
  using Page = std::array<std::byte, kPageBytes>;

  Outcome read(const Transfer& transfer) const;
  Outcome write(const Transfer& transfer);
  Page& page_at(std::int64_t number);

  const MemoryOptions options_;
  std::mutex mutex_;
  std::int64_t size_ = 0;
  std::map<std::int64_t, std::unique_ptr<Page>> pages_;  ///< by number; bytes past size_ are zero
  RangeTable locks_;
};

}  // namespace tamis
