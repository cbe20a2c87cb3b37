#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "drivers/driver.hpp"

namespace tamis {

/// Starts a thread that runs body(context). Throws std::system_error where there can be none.
using ThreadStarter = std::thread (*)(void (*body)(void*), void* context);

/// A thread in which no signal is handled: handlers of the program run in its own threads.
std::thread start_quiet_thread(void (*body)(void*), void* context);

/// Transfers of any driver in threads of the queue's own. None exists before the first transfer;
/// one more is made when a transfer starts and all there are have something to do, up to the depth.
/// They end with the queue. Where no thread can be had, start() carries the transfer out itself.
///
/// In a child that fork() made, the threads do not exist: transfers are carried out by start(),
/// those that were under way belong to the parent (Errc::internal here), and the queue's end waits
/// for nobody.
class ThreadQueue : public TransferQueue {
 public:
  ThreadQueue(Driver& driver, std::size_t depth, const Bell& bell,
              ThreadStarter start_thread = start_quiet_thread);
  ~ThreadQueue() override;
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  std::size_t depth() const override;
  const char* name() const override { return "threads"; }
  void start(std::size_t slot, Direction direction, std::span<const Transfer> batch) override;
  std::optional<Outcome> finished(std::size_t slot) override;
  Outcome wait(std::size_t slot) override;

  /// Threads that were started so far.
  std::size_t threads() const;

 private:
  class Crew;

  bool is_forked_off() const;

  std::unique_ptr<Crew> crew_;
  int process_;
};

}  // namespace tamis
