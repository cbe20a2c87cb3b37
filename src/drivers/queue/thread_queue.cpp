#include "drivers/queue/thread_queue.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/attempt.hpp"

namespace tamis {

/// What threads and caller share. Stays behind in a child process, where a mutex may be held by a
/// thread that does not exist.
class ThreadQueue::Crew {
 public:
  Crew(Driver& driver, std::size_t depth, const Bell& bell, ThreadStarter start_thread)
      : driver_(driver), bell_(bell), start_thread_(start_thread), slots_(depth), posted_(depth) {
    threads_.reserve(depth);
  }
  ~Crew();

  std::size_t depth() const { return slots_.size(); }
  std::size_t threads() const { return threads_.size(); }

  void fill(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
    slots_[slot].direction = direction;
    slots_[slot].batch = batch;
  }
  /// Hands the slot to a thread; false: there is none.
  bool post(std::size_t slot);
  /// Carries the slot's transfer out in this thread. Takes no lock.
  void do_at_once(std::size_t slot);
  /// Takes no lock.
  std::optional<Outcome> take(std::size_t slot);
  Outcome wait(std::size_t slot);

 private:
  struct Slot {
    Direction direction = Direction::read;
    std::span<const Transfer> batch;
    Outcome outcome;
    std::atomic<bool> finished = false;  ///< hands the outcome over
  };

  bool provide_thread();
  void carry_out(Slot& slot);
  void work();

  Driver& driver_;
  const Bell bell_;
  const ThreadStarter start_thread_;
  std::vector<Slot> slots_;
  std::vector<std::thread> threads_;  ///< the caller's alone

  std::mutex mutex_;  ///< over what follows
  std::condition_variable work_;
  std::condition_variable done_;
  std::vector<std::size_t> posted_;  ///< a ring of slots, oldest first
  std::size_t first_ = 0;
  std::size_t waiting_ = 0;  ///< in the ring
  std::size_t unfinished_ = 0;
  bool ending_ = false;
};

ThreadQueue::Crew::~Crew() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadQueue::Crew::post(std::size_t slot) {
  if (!provide_thread()) return false;
  {
    const std::lock_guard guard(mutex_);
    posted_[(first_ + waiting_++) % posted_.size()] = slot;
    ++unfinished_;
  }
  work_.notify_one();
  return true;
}

bool ThreadQueue::Crew::provide_thread() {
  {
    const std::lock_guard guard(mutex_);
    if (unfinished_ < threads_.size()) return true;
  }
  if (threads_.size() == slots_.size()) return true;
  const Status made = attempt([&] {
    try {
      threads_.push_back(start_thread_([](void* crew) { static_cast<Crew*>(crew)->work(); }, this));
    } catch (const std::system_error&) {
      return failure(Errc::no_memory, "no thread could be started");
    }
    return Status{};
  });
  return made.ok() || !threads_.empty();
}

void ThreadQueue::Crew::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return waiting_ > 0 || ending_; });
    if (waiting_ == 0) return;
    Slot& slot = slots_[posted_[first_]];
    first_ = (first_ + 1) % posted_.size();
    --waiting_;
    lock.unlock();
    carry_out(slot);
    lock.lock();
    --unfinished_;
    slot.finished.store(true, std::memory_order_release);
    lock.unlock();
    done_.notify_all();
    bell_();
    lock.lock();
  }
}

// An exception would end the process here; drivers report errors as values, but what wraps them in
// tests may run out of memory.
void ThreadQueue::Crew::carry_out(Slot& slot) {
  slot.outcome = {};
  const Status run = attempt([&] {
    slot.outcome = driver_.transfer(slot.direction, slot.batch);
    return Status{};
  });
  slot.outcome.status.keep_first(run);
}

void ThreadQueue::Crew::do_at_once(std::size_t slot) {
  carry_out(slots_[slot]);
  slots_[slot].finished.store(true, std::memory_order_release);
  bell_();
}

std::optional<Outcome> ThreadQueue::Crew::take(std::size_t slot) {
  if (!slots_[slot].finished.load(std::memory_order_acquire)) return std::nullopt;
  slots_[slot].finished.store(false, std::memory_order_relaxed);
  return slots_[slot].outcome;
}

Outcome ThreadQueue::Crew::wait(std::size_t slot) {
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return slots_[slot].finished.load(std::memory_order_relaxed); });
  }
  return *take(slot);
}

ThreadQueue::ThreadQueue(Driver& driver, std::size_t depth, const Bell& bell,
                         ThreadStarter start_thread)
    : crew_(std::make_unique<Crew>(driver, depth, bell, start_thread)), process_(::getpid()) {}

ThreadQueue::~ThreadQueue() {
  // To end it would wait for threads that this process does not have.
  if (is_forked_off()) static_cast<void>(crew_.release());
}

bool ThreadQueue::is_forked_off() const { return process_ != ::getpid(); }

std::size_t ThreadQueue::depth() const { return crew_->depth(); }

std::size_t ThreadQueue::threads() const { return crew_->threads(); }

void ThreadQueue::start(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
  assert(slot < crew_->depth());
  crew_->fill(slot, direction, batch);
  if (is_forked_off() || !crew_->post(slot)) crew_->do_at_once(slot);
}

std::optional<Outcome> ThreadQueue::finished(std::size_t slot) {
  std::optional<Outcome> outcome = crew_->take(slot);
  if (!outcome && is_forked_off()) {
    outcome = {.bytes = 0,
               .status = failure(Errc::internal, "a transfer of the process that forked")};
  }
  return outcome;
}

Outcome ThreadQueue::wait(std::size_t slot) {
  const std::optional<Outcome> outcome = finished(slot);
  return outcome ? *outcome : crew_->wait(slot);
}

std::thread start_quiet_thread(void (*body)(void*), void* context) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto restore = [&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); };
  try {
    std::thread thread(body, context);
    restore();
    return thread;
  } catch (...) {
    restore();
    throw;
  }
}

}  // namespace tamis
