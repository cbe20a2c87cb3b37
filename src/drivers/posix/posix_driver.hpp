#pragma once

#include <atomic>

#include "drivers/driver.hpp"
#include "drivers/posix/system_calls.hpp"
#include "drivers/range_table.hpp"

namespace tamis {

/// How the kernel keeps byte ranges for this file. `per_process` (classic POSIX locks, where
/// open-file-description locks are unknown) excludes other processes only, and the process loses
/// them all when it closes any descriptor of the file.
enum class LockFlavour : std::uint8_t { per_open, per_process, none };

/// What PosixStorage found out about a descriptor it opened.
struct PosixFile {
  int fd = -1;
  bool readable = false;
  bool writable = false;
  bool is_block_device = false;
  LockFlavour locks = LockFlavour::none;
  Capabilities capabilities;
};

/// Owns the descriptor.
class PosixDriver : public Driver {
 public:
  PosixDriver(const SystemCalls& calls, PosixFile file);
  ~PosixDriver() override;
  PosixDriver(const PosixDriver&) = delete;
  PosixDriver& operator=(const PosixDriver&) = delete;

  const Capabilities& capabilities() const override { return file_.capabilities; }
  std::string filesystem() const override;
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
  Outcome transfer_batch(Direction direction, std::span<const Transfer> batch);
  Outcome transfer_joined(Direction direction, std::span<const Transfer> group);
  Outcome move(Direction direction, std::int64_t offset, std::span<iovec> pieces);
  ssize_t move_once(Direction direction, std::int64_t offset, std::span<const iovec> pieces);
  Status append_zeros(std::int64_t bytes);
  Status check_lock(const Extent& range, LockKind kind) const;
  short kernel_lock_of(LockKind kind) const;
  Status set_kernel_lock(const Extent& range, short type, bool wait = true);

  SystemCalls calls_;
  PosixFile file_;
  std::atomic<LockFlavour> flavour_;
  RangeTable held_;  ///< kernel locks do not tell the threads of one descriptor apart
};

}  // namespace tamis
