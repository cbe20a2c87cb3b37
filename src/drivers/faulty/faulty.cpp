#include "drivers/faulty/faulty.hpp"

#include <algorithm>
#include <utility>

#include "base/attempt.hpp"
#include "drivers/range_table.hpp"

namespace tamis {
namespace {

constexpr const char* kNote = "an injected fault";

/// The leading entries of a batch that make up `bytes` bytes, and where in the file they end.
struct Prefix {
  std::vector<Transfer> batch;
  std::int64_t end = 0;
};

Prefix prefix_of(std::span<const Transfer> batch, std::int64_t bytes) {
  Prefix prefix;
  for (Transfer transfer : batch) {
    prefix.end = transfer.file.offset + std::min(transfer.file.length, bytes);
    if (transfer.file.length > bytes) {
      transfer.file.length = bytes;
      prefix.batch.push_back(transfer);
      break;
    }
    bytes -= transfer.file.length;
    prefix.batch.push_back(transfer);
  }
  return prefix;
}

std::int64_t bytes_of(std::span<const Transfer> batch) {
  std::int64_t bytes = 0;
  for (const Transfer& transfer : batch) bytes += transfer.file.length;
  return bytes;
}

/// Asks the injector about a call that moves no bytes; an error where it is to fail.
Status meet_plain(FaultInjector& injector, Verb verb) {
  const std::optional<FaultInjector::Hit> hit = injector.meet(verb);
  if (!hit) return {};
  const Fault& fault = injector.plan().faults[hit->fault];
  const Status status{.code = fault.code, .os_error = fault.os_error, .note = kNote};
  injector.note({.fault = hit->fault, .call = hit->call, .verb = verb, .status = status});
  return status;
}

}  // namespace

FaultInjector::FaultInjector(FaultPlan plan)
    : plan_(std::move(plan)),
      faults_(plan_.seed),
      seeds_(plan_.late ? plan_.late->seed : 0),
      met_(plan_.faults.size()) {}

std::optional<FaultInjector::Hit> FaultInjector::meet(Verb verb,
                                                      std::optional<Direction> direction) {
  const std::lock_guard guard(mutex_);
  std::optional<Hit> hit;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (fault.verb != verb || (fault.direction && fault.direction != direction)) continue;
    if (fault.code == Errc::ok && direction != Direction::read) continue;
    const std::uint64_t call = ++met_[i];
    bool fires = false;
    if (fault.nth == 0) {
      fires = faults_.draw(fault.probability);
    } else {
      fires = fault.lasting ? call >= fault.nth : call == fault.nth;
    }
    if (fires && !hit) hit = Hit{.fault = i, .call = call};
  }
  return hit;
}

void FaultInjector::note(const InjectedFault& injected) {
  const std::lock_guard guard(mutex_);
  injected_.push_back(injected);
}

std::vector<InjectedFault> FaultInjector::injected() const {
  const std::lock_guard guard(mutex_);
  return injected_;
}

std::uint64_t FaultInjector::draw_seed() {
  const std::lock_guard guard(mutex_);
  return seeds_.next();
}

FaultyDriver::FaultyDriver(std::unique_ptr<Driver> inside, FaultInjector& injector)
    : inside_(std::move(inside)), injector_(injector), capabilities_(inside_->capabilities()) {
  if (injector_.plan().refuse_locks) capabilities_.locks = false;
  if (injector_.plan().refuse_read_back) capabilities_.can_read_back = false;
}

Outcome FaultyDriver::transfer(Direction direction, std::span<const Transfer> batch) {
  if (direction == Direction::read && injector_.plan().refuse_read_back) {
    return {.bytes = 0, .status = failure(Errc::access, "the file may be written but not read")};
  }
  if (!std::ranges::all_of(batch, is_file_range, &Transfer::file)) {
    return inside_->transfer(direction, batch);  // refused there, whatever is planned
  }
  const std::optional<FaultInjector::Hit> hit = injector_.meet(Verb::transfer, direction);
  return hit ? fail_transfer(direction, batch, *hit) : inside_->transfer(direction, batch);
}

Outcome FaultyDriver::fail_transfer(Direction direction, std::span<const Transfer> batch,
                                    const FaultInjector::Hit& hit) {
  const Fault& fault = injector_.plan().faults[hit.fault];
  const std::int64_t last = std::max<std::int64_t>(bytes_of(batch) - 1, 0);
  const std::int64_t wanted = std::clamp<std::int64_t>(fault.after_bytes, 0, last);
  const Prefix prefix = prefix_of(batch, wanted);
  Outcome outcome = inside_->transfer(direction, prefix.batch);
  if (!outcome.status.ok() || outcome.bytes < wanted) return outcome;
  if (fault.code != Errc::ok) {
    outcome.status = {
        .code = fault.code, .os_error = fault.os_error, .offset = prefix.end, .note = kNote};
  }
  injector_.note({.fault = hit.fault,
                  .call = hit.call,
                  .verb = Verb::transfer,
                  .moved = outcome.bytes,
                  .status = outcome.status});
  return outcome;
}

Result<std::unique_ptr<TransferQueue>> FaultyDriver::queue(const QueueOptions& options) {
  const std::optional<Lateness>& late = injector_.plan().late;
  if (!late) return Driver::queue(options);
  Lateness own = *late;
  own.seed = injector_.draw_seed();
  return attempt([&]() -> Result<std::unique_ptr<TransferQueue>> {
    return std::unique_ptr<TransferQueue>(
        std::make_unique<LateQueue>(*this, options.depth, options.bell, own));
  });
}

Status FaultyDriver::sync() {
  const Status injected = meet_plain(injector_, Verb::sync);
  return injected.ok() ? inside_->sync() : injected;
}

Result<std::int64_t> FaultyDriver::size() {
  const Status injected = meet_plain(injector_, Verb::size);
  if (!injected.ok()) return injected;
  return inside_->size();
}

Status FaultyDriver::resize(std::int64_t bytes) {
  const Status injected = meet_plain(injector_, Verb::resize);
  return injected.ok() ? inside_->resize(bytes) : injected;
}

Status FaultyDriver::preallocate(std::int64_t bytes) {
  const Status injected = meet_plain(injector_, Verb::preallocate);
  return injected.ok() ? inside_->preallocate(bytes) : injected;
}

Status FaultyDriver::lock(const Extent& range, LockKind kind) {
  if (injector_.plan().refuse_locks && kind != LockKind::none) {
    return failure(Errc::unsupported_operation, "the file system refuses byte-range locks");
  }
  const Status injected = meet_plain(injector_, Verb::lock);
  return injected.ok() ? inside_->lock(range, kind) : injected;
}

Result<bool> FaultyDriver::try_lock(const Extent& range, LockKind kind) {
  if (injector_.plan().refuse_locks) {
    return failure(Errc::unsupported_operation, "the file system refuses byte-range locks");
  }
  return inside_->try_lock(range, kind);
}

Status FaultyDriver::unlock(const Extent& range) {
  Status status = meet_plain(injector_, Verb::unlock);
  status.keep_first(inside_->unlock(range));
  return status;
}

Status FaultyDriver::close() {
  Status status = meet_plain(injector_, Verb::close);
  status.keep_first(inside_->close());
  return status;
}

Result<std::unique_ptr<Driver>> FaultyStorage::open(const std::string& path, const OpenMode& mode) {
  const Status injected = meet_plain(injector_, Verb::open);
  if (!injected.ok()) return injected;
  Result<std::unique_ptr<Driver>> driver = inside_.open(path, mode);
  if (!driver.ok()) return driver;
  return std::unique_ptr<Driver>(std::make_unique<FaultyDriver>(std::move(*driver), injector_));
}

Status FaultyStorage::remove(const std::string& path) {
  const Status injected = meet_plain(injector_, Verb::remove);
  return injected.ok() ? inside_.remove(path) : injected;
}

}  // namespace tamis
