#include "drivers/memory/memory.hpp"

#include <new>
#include <utility>

#include "drivers/memory/memory_file.hpp"

namespace tamis {
namespace {

Capabilities memory_capabilities() {
  return {.name = "memory",
          .locks = true,
          .block_bytes = 1,
          .read_ns = 100,
          .write_ns = 100,
          .byte_ns = 0.1,
          .lock_ns = 100};
}

Status check_size(std::int64_t bytes, bool writable) {
  if (bytes < 0) return failure(Errc::arg, "a negative file size");
  if (!writable) return failure(Errc::access, "the file was not opened for writing");
  return {};
}

class MemoryDriver : public Driver {
 public:
  MemoryDriver(std::shared_ptr<MemoryFile> file, bool writable)
      : file_(std::move(file)), writable_(writable), capabilities_(memory_capabilities()) {}
  ~MemoryDriver() override { file_->unlock_all(this); }

  const Capabilities& capabilities() const override { return capabilities_; }

  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    Outcome outcome;
    if (direction == Direction::write && !writable_) {
      outcome.status = failure(Errc::access, "the file was not opened for writing");
      return outcome;
    }
    for (const Transfer& piece : batch) {
      if (!is_file_range(piece.file)) {
        outcome.status = failure(Errc::arg, "a transfer outside the offsets a file can have");
        return outcome;
      }
      const Outcome moved = file_->transfer(direction, piece);
      outcome.bytes += moved.bytes;
      outcome.status = moved.status;
      if (moved.bytes < piece.file.length) return outcome;
    }
    return outcome;
  }

  Status sync() override { return {}; }
  Result<std::int64_t> size() override { return file_->size(); }

  Status resize(std::int64_t bytes) override {
    const Status checked = check_size(bytes, writable_);
    if (checked.ok()) file_->resize(bytes);
    return checked;
  }

  Status preallocate(std::int64_t bytes) override {
    const Status checked = check_size(bytes, writable_);
    return checked.ok() ? file_->preallocate(bytes) : checked;
  }

  Status lock(const Extent& range, LockKind kind) override {
    if (!is_file_range(range)) {
      return failure(Errc::arg, "a lock outside the offsets a file can have");
    }
    if (kind == LockKind::none || range.empty()) return {};
    if (kind == LockKind::exclusive && !writable_) {
      return failure(Errc::access, "an exclusive lock needs a file opened for writing");
    }
    return file_->lock(this, range, kind);
  }

  Result<bool> try_lock(const Extent& range, LockKind kind) override {
    if (!is_file_range(range)) {
      return failure(Errc::arg, "a lock outside the offsets a file can have");
    }
    if (kind == LockKind::exclusive && !writable_) {
      return failure(Errc::access, "an exclusive lock needs a file opened for writing");
    }
    return file_->try_lock(this, range, kind);
  }

  Status unlock(const Extent& range) override {
    return range.empty() ? Status{} : file_->unlock(this, range);
  }

  Status close() override {
    file_->unlock_all(this);
    return {};
  }

 private:
  std::shared_ptr<MemoryFile> file_;
  bool writable_;
  Capabilities capabilities_;
};

}  // namespace

Result<std::unique_ptr<Driver>> MemoryStorage::open(const std::string& path, const OpenMode& mode) {
  if (path.empty()) return failure(Errc::bad_file, "the file name is empty");
  try {
    const std::lock_guard guard(mutex_);
    auto found = files_.find(path);
    if (found != files_.end() && mode.create && mode.exclusive) {
      return failure(Errc::file_exists, "the file exists in memory");
    }
    if (found == files_.end()) {
      if (!mode.create) return failure(Errc::no_such_file, "no such file in memory");
      found = files_.emplace(path, std::make_shared<MemoryFile>(options_)).first;
    }
    return std::unique_ptr<Driver>(std::make_unique<MemoryDriver>(found->second, mode.write));
  } catch (const std::bad_alloc&) {
    return failure(Errc::no_memory, "no memory for an open file");
  }
}

Status MemoryStorage::remove(const std::string& path) {
  const std::lock_guard guard(mutex_);
  if (files_.erase(path) == 0) return failure(Errc::no_such_file, "no such file in memory");
  return {};
}

}  // namespace tamis
