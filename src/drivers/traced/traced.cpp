#include "drivers/traced/traced.hpp"

#include <algorithm>
#include <utility>

#include "drivers/range_table.hpp"

namespace tamis {
namespace {

DriverCall describe(Direction direction, std::span<const Transfer> batch) {
  DriverCall call{.verb = Verb::transfer, .direction = direction, .extents = batch.size()};
  Extent hull;
  for (const auto& [file, memory] : batch) {
    call.asked += file.length;
    if (file.empty() || !is_file_range(file)) continue;
    const std::int64_t begin = hull.empty() ? file.offset : std::min(hull.offset, file.offset);
    hull = between(begin, std::max(hull.end(), file.end()));
  }
  call.range = hull;
  return call;
}

}  // namespace

void CallLog::record(const DriverCall& call) {
  const std::lock_guard guard(mutex_);
  calls_.push_back(call);
}

std::vector<DriverCall> CallLog::calls() const {
  const std::lock_guard guard(mutex_);
  return calls_;
}

std::size_t CallLog::count(Verb verb) const {
  const std::lock_guard guard(mutex_);
  return static_cast<std::size_t>(std::ranges::count(calls_, verb, &DriverCall::verb));
}

Status TracedDriver::report(const Status& status, DriverCall call) {
  call.status = status;
  sink_.record(call);
  return status;
}

Outcome TracedDriver::transfer(Direction direction, std::span<const Transfer> batch) {
  DriverCall call = describe(direction, batch);
  const Outcome outcome = inside_->transfer(direction, batch);
  call.moved = outcome.bytes;
  call.status = outcome.status;
  sink_.record(call);
  return outcome;
}

Status TracedDriver::sync() { return report(inside_->sync(), {.verb = Verb::sync}); }

Result<std::int64_t> TracedDriver::size() {
  Result<std::int64_t> bytes = inside_->size();
  DriverCall call{.verb = Verb::size, .status = bytes.status()};
  if (bytes.ok()) call.range = {0, *bytes};
  sink_.record(call);
  return bytes;
}

Status TracedDriver::resize(std::int64_t bytes) {
  return report(inside_->resize(bytes), {.verb = Verb::resize, .range = {0, bytes}});
}

Status TracedDriver::preallocate(std::int64_t bytes) {
  return report(inside_->preallocate(bytes), {.verb = Verb::preallocate, .range = {0, bytes}});
}

Status TracedDriver::lock(const Extent& range, LockKind kind) {
  return report(inside_->lock(range, kind), {.verb = Verb::lock, .range = range, .lock = kind});
}

Result<bool> TracedDriver::try_lock(const Extent& range, LockKind kind) {
  Result<bool> taken = inside_->try_lock(range, kind);
  sink_.record({.verb = Verb::lock, .range = range, .lock = kind, .status = taken.status()});
  return taken;
}

Status TracedDriver::unlock(const Extent& range) {
  return report(inside_->unlock(range), {.verb = Verb::unlock, .range = range});
}

Status TracedDriver::close() { return report(inside_->close(), {.verb = Verb::close}); }

Result<std::unique_ptr<Driver>> TracedStorage::open(const std::string& path, const OpenMode& mode) {
  Result<std::unique_ptr<Driver>> driver = inside_.open(path, mode);
  sink_.record({.verb = Verb::open, .path = path, .status = driver.status()});
  if (!driver.ok()) return driver;
  return std::unique_ptr<Driver>(std::make_unique<TracedDriver>(std::move(*driver), sink_));
}

Status TracedStorage::remove(const std::string& path) {
  const Status status = inside_.remove(path);
  sink_.record({.verb = Verb::remove, .path = path, .status = status});
  return status;
}

}  // namespace tamis
