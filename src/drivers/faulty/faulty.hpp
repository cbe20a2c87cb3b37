#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drivers/driver.hpp"
#include "drivers/faulty/chance.hpp"
#include "drivers/faulty/late_queue.hpp"
#include "drivers/verb.hpp"

namespace tamis {

/// One thing that goes wrong. It meets the calls of `verb` (and `direction`) and fires either at
/// the `nth` of them or at each with `probability`.
struct Fault {
  Verb verb = Verb::transfer;
  std::optional<Direction> direction = std::nullopt;  ///< transfers: only this way
  std::uint64_t nth = 0;                              ///< counted from 1; 0: by probability
  bool lasting = false;  ///< with nth: at every later call too, like a full disk
  double probability = 0;
  Errc code = Errc::io;  ///< ok: a read meets an early end of the file
  int os_error = 0;
  std::int64_t after_bytes = 0;  ///< transfers: moved before it fails; at least one byte is not
};

struct FaultPlan {
  std::uint64_t seed = 1;
  std::vector<Fault> faults = {};  ///< the first that fires at a call wins
  bool refuse_locks = false;       ///< capabilities().locks is false, lock is unsupported
  bool refuse_read_back = false;   ///< capabilities().can_read_back is false, reads are refused
  /// Queues have no threads and finish transfers late; each driver's queue in its own order.
  std::optional<Lateness> late = std::nullopt;
};

/// What was done to the caller.
struct InjectedFault {
  std::size_t fault = 0;   ///< index into FaultPlan::faults
  std::uint64_t call = 0;  ///< which of the calls this fault can meet, counted from 1
  Verb verb = Verb::transfer;
  std::int64_t moved = 0;  ///< transfers: bytes truly moved before
  Status status = {};      ///< what the caller was told
};

/// Decides which calls fail; the same plan and the same sequence of calls give the same faults.
/// Thread-safe.
class FaultInjector {
 public:
  explicit FaultInjector(FaultPlan plan);

  struct Hit {
    std::size_t fault = 0;
    std::uint64_t call = 0;
  };

  const FaultPlan& plan() const { return plan_; }
  /// Counts a call; the fault that meets it, if any.
  std::optional<Hit> meet(Verb verb, std::optional<Direction> direction = std::nullopt);
  void note(const InjectedFault& injected);
  std::vector<InjectedFault> injected() const;
  /// A seed for one more queue.
  std::uint64_t draw_seed();

 private:
  const FaultPlan plan_;
  mutable std::mutex mutex_;
  Chance faults_;  ///< which calls fail
  Chance seeds_;
  std::vector<std::uint64_t> met_;  ///< per fault: calls it could have met
  std::vector<InjectedFault> injected_;
};

/// Fails as planned, else does what the driver inside does. The injector must outlive it.
/// A failed transfer moved its leading bytes; a failed unlock or close was carried out; any other
/// failed call did nothing.
class FaultyDriver : public Driver {
 public:
  FaultyDriver(std::unique_ptr<Driver> inside, FaultInjector& injector);

  const Capabilities& capabilities() const override { return capabilities_; }
  std::string filesystem() const override { return inside_->filesystem(); }
  Outcome transfer(Direction direction, std::span<const Transfer> batch) override;
  Result<std::unique_ptr<TransferQueue>> queue(const QueueOptions& options) override;
  Status sync() override;
  Result<std::int64_t> size() override;
  Status resize(std::int64_t bytes) override;
  Status preallocate(std::int64_t bytes) override;
  Status lock(const Extent& range, LockKind kind) override;
  Result<bool> try_lock(const Extent& range, LockKind kind) override;
  Status unlock(const Extent& range) override;
  Status close() override;

 private:
  Outcome fail_transfer(Direction direction, std::span<const Transfer> batch,
                        const FaultInjector::Hit& hit);

  std::unique_ptr<Driver> inside_;
  FaultInjector& injector_;
  Capabilities capabilities_;
};

/// Opens faulty drivers of another storage. Storage and injector must outlive it and its drivers.
class FaultyStorage : public Storage {
 public:
  FaultyStorage(Storage& inside, FaultInjector& injector) : inside_(inside), injector_(injector) {}

  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override;

 private:
  Storage& inside_;
  FaultInjector& injector_;
};

}  // namespace tamis
