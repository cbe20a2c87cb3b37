#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "drivers/driver.hpp"

namespace tamis::test {

/// Does what the driver inside does: for tests that change one verb.
class PassingDriver : public Driver {
 public:
  explicit PassingDriver(std::unique_ptr<Driver> inside) : inside_(std::move(inside)) {}

  const Capabilities& capabilities() const override { return inside_->capabilities(); }
  std::string filesystem() const override { return inside_->filesystem(); }
  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    return inside_->transfer(direction, batch);
  }
  Status sync() override { return inside_->sync(); }
  Result<std::int64_t> size() override { return inside_->size(); }
  Status resize(std::int64_t bytes) override { return inside_->resize(bytes); }
  Status preallocate(std::int64_t bytes) override { return inside_->preallocate(bytes); }
  Status lock(const Extent& range, LockKind kind) override { return inside_->lock(range, kind); }
  Result<bool> try_lock(const Extent& range, LockKind kind) override {
    return inside_->try_lock(range, kind);
  }
  Status unlock(const Extent& range) override { return inside_->unlock(range); }
  Status close() override { return inside_->close(); }

 protected:
  std::unique_ptr<Driver> inside_;
};

/// Every transfer goes through the queue of the driver inside, in all slots in turn.
class QueuedDriver : public PassingDriver {
 public:
  static constexpr std::size_t kDepth = 3;

  QueuedDriver(std::unique_ptr<Driver> inside, QueueKind kind) : PassingDriver(std::move(inside)) {
    queue_ = std::move(*inside_->queue({.depth = kDepth, .kind = kind}));
  }

  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    const std::lock_guard guard(mutex_);
    const std::size_t slot = next_++ % kDepth;
    queue_->start(slot, direction, batch);
    return queue_->wait(slot);
  }
  Status close() override {
    queue_.reset();
    return inside_->close();
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<TransferQueue> queue_;
  std::size_t next_ = 0;
};

class QueuedStorage : public Storage {
 public:
  explicit QueuedStorage(Storage& inside, QueueKind kind = QueueKind::threads)
      : inside_(inside), kind_(kind) {}

  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override {
    Result<std::unique_ptr<Driver>> driver = inside_.open(path, mode);
    if (!driver.ok()) return driver;
    return std::unique_ptr<Driver>(std::make_unique<QueuedDriver>(std::move(*driver), kind_));
  }
  Status remove(const std::string& path) override { return inside_.remove(path); }

 private:
  Storage& inside_;
  QueueKind kind_;
};

/// Calls a function before each transfer.
class HookedDriver : public PassingDriver {
 public:
  HookedDriver(std::unique_ptr<Driver> inside, std::function<void()> hook)
      : PassingDriver(std::move(inside)), hook_(std::move(hook)) {}

  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    hook_();
    return inside_->transfer(direction, batch);
  }

 private:
  std::function<void()> hook_;
};

}  // namespace tamis::test
