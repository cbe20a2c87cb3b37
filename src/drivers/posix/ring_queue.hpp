#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "drivers/driver.hpp"
#include "drivers/posix/ring.hpp"

namespace tamis {

/// Transfers by the kernel's own threads (io_uring); one thread of ours hears of their ends and
/// rings the bell. The kernel gets pieces that are one system call; what it leaves over (a short or
/// refused call) and batches of several pieces are carried out by that thread with
/// Driver::transfer, so that outcomes are the driver's. Threads that cannot be had, and fork(): as
/// for ThreadQueue.
class RingQueue : public TransferQueue {
 public:
  /// `fd` is what `driver` transfers with. Errors: the system has no ring for us.
  static Result<std::unique_ptr<TransferQueue>> make(const SystemCalls& calls, Driver& driver,
                                                     int fd, const QueueOptions& options);
  ~RingQueue() override;
  RingQueue(const RingQueue&) = delete;
  RingQueue& operator=(const RingQueue&) = delete;

  std::size_t depth() const override;
  const char* name() const override { return "io_uring"; }
  void start(std::size_t slot, Direction direction, std::span<const Transfer> batch) override;
  std::optional<Outcome> finished(std::size_t slot) override;
  Outcome wait(std::size_t slot) override;

 private:
  class Core;

  explicit RingQueue(std::unique_ptr<Core> core);
  bool is_forked_off() const;

  std::unique_ptr<Core> core_;
  int process_;
};

}  // namespace tamis
