#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drivers/driver.hpp"
#include "drivers/verb.hpp"

namespace tamis {

/// One call of a driver or storage, after it returned.
struct DriverCall {
  Verb verb = Verb::open;
  Direction direction = Direction::read;  ///< transfer
  std::size_t extents = 0;                ///< transfer: entries of the batch
  Extent range = {};                      ///< transfer: hull of the batch; lock, unlock: the range;
                                          ///< size, resize, preallocate: [0, bytes)
  std::int64_t asked = 0;                 ///< transfer: bytes of the batch
  std::int64_t moved = 0;                 ///< transfer: bytes that were moved
  LockKind lock = LockKind::none;         ///< lock
  std::string path = {};                  ///< open, remove
  Status status = {};
};

/// Hears of every call. May be called by several threads at once.
class DriverSink {
 public:
  virtual ~DriverSink() = default;
  virtual void record(const DriverCall& call) = 0;
};

/// A sink that keeps what it hears, in order.
class CallLog : public DriverSink {
 public:
  void record(const DriverCall& call) override;
  std::vector<DriverCall> calls() const;
  std::size_t count(Verb verb) const;

 private:
  mutable std::mutex mutex_;
  std::vector<DriverCall> calls_;
};

/// Does what the driver inside does and reports it. The sink must outlive it.
class TracedDriver : public Driver {
 public:
  TracedDriver(std::unique_ptr<Driver> inside, DriverSink& sink)
      : inside_(std::move(inside)), sink_(sink) {}

  const Capabilities& capabilities() const override { return inside_->capabilities(); }
  std::string filesystem() const override { return inside_->filesystem(); }
  Outcome transfer(Direction direction, std::span<const Transfer> batch) override;
  Status sync() override;
  Result<std::int64_t> size() override;
  Status resize(std::int64_t bytes) override;
  Status preallocate(std::int64_t bytes) override;
  Status lock(const Extent& range, LockKind kind) override;
  Result<bool> try_lock(const Extent& range, LockKind kind) override;
  Status unlock(const Extent& range) override;
  Status close() override;

 private:
  Status report(const Status& status, DriverCall call);

  std::unique_ptr<Driver> inside_;
  DriverSink& sink_;
};

/// Opens traced drivers of another storage. Storage and sink must outlive it and its drivers.
class TracedStorage : public Storage {
 public:
  TracedStorage(Storage& inside, DriverSink& sink) : inside_(inside), sink_(sink) {}

  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override;

 private:
  Storage& inside_;
  DriverSink& sink_;
};

}  // namespace tamis
