#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "drivers/driver.hpp"
#include "drivers/range_table.hpp"

namespace tamis {

class MemoryFile;

struct MemoryOptions {
  /// No byte at or beyond this offset can be stored in any file: a write or preallocation that
  /// reaches it ends with no_space there. Setting the size alone needs no space.
  std::int64_t capacity = std::numeric_limits<std::int64_t>::max();
  /// `refuse`: every rank runs on one thread, so a lock that would wait is Errc::internal.
  LockWait lock_wait = LockWait::block;
};

/// Files that live in this process, sparse: a page of memory per 64 KiB that was written. Drivers
/// opened on one name see the same bytes, also after the name was removed. Thread-safe.
class MemoryStorage : public Storage {
 public:
  explicit MemoryStorage(const MemoryOptions& options = {}) : options_(options) {}

  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override;

 private:
  MemoryOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> files_;
};

}  // namespace tamis
