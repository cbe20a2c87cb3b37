#include "drivers/posix/ring_queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/attempt.hpp"
#include "drivers/queue/thread_queue.hpp"
#include "drivers/range_table.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // no slot's mark
constexpr std::int64_t kLargestMove = 1 << 30;     // a length has 32 bits there

}  // namespace

/// What the caller and the thread share. Stays behind in a child process.
class RingQueue::Core {
 public:
  Core(Driver& driver, int fd, const QueueOptions& options, std::unique_ptr<Ring> ring)
      : driver_(driver),
        fd_(fd),
        bell_(options.bell),
        ring_(std::move(ring)),
        slots_(options.depth) {}
  ~Core();

  std::size_t depth() const { return slots_.size(); }
  void fill(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
    slots_[slot].direction = direction;
    slots_[slot].batch = batch;
  }
  /// Hands the slot to the kernel; false: it cannot be.
  bool submit(std::size_t slot);
  void do_at_once(std::size_t slot) { finish(slots_[slot], 0); }
  std::optional<Outcome> take(std::size_t slot);
  Outcome wait(std::size_t slot);

 private:
  enum State : int { kFree, kStarted, kFinished };
  struct Slot {
    Direction direction = Direction::read;
    std::span<const Transfer> batch;
    Outcome outcome;
    std::atomic<int> state = kFree;  ///< hands the slot to the thread and its outcome back
  };

  bool provide_thread();
  static bool is_one_call(std::span<const Transfer> batch);
  void finish(Slot& slot, std::int64_t moved);
  void work();

  Driver& driver_;
  const int fd_;
  const Bell bell_;
  const std::unique_ptr<Ring> ring_;
  std::vector<Slot> slots_;
  std::atomic<std::size_t> under_way_ = 0;
  std::thread thread_;
};

// The thread ends once it was told to and nothing is under way any more.
RingQueue::Core::~Core() {
  if (!thread_.joinable()) return;
  while (!ring_->submit_nothing(kEnd)) std::this_thread::yield();
  thread_.join();
}

bool RingQueue::Core::provide_thread() {
  if (thread_.joinable()) return true;
  const Status made = attempt([&] {
    try {
      thread_ = start_quiet_thread([](void* core) { static_cast<Core*>(core)->work(); }, this);
    } catch (const std::system_error&) {
      return failure(Errc::no_memory, "no thread could be started");
    }
    return Status{};
  });
  return made.ok();
}

bool RingQueue::Core::is_one_call(std::span<const Transfer> batch) {
  return batch.size() == 1 && is_file_range(batch[0].file) && batch[0].file.length > 0 &&
         batch[0].file.length <= kLargestMove;
}

bool RingQueue::Core::submit(std::size_t number) {
  if (!provide_thread()) return false;
  Slot& slot = slots_[number];
  ++under_way_;
  slot.state.store(kStarted, std::memory_order_release);
  const bool taken = is_one_call(slot.batch)
                         ? ring_->submit_move(fd_, slot.direction, slot.batch[0], number)
                         : ring_->submit_nothing(number);
  if (!taken) --under_way_;
  return taken;
}

void RingQueue::Core::work() {
  for (bool told_to_end = false; !told_to_end || under_way_ > 0;) {
    const Ring::Completion completion = ring_->take();
    if (completion.mark == kEnd) {
      told_to_end = true;
      continue;
    }
    Slot& slot = slots_[completion.mark];
    static_cast<void>(slot.state.load(std::memory_order_acquire));  // what start() wrote
    --under_way_;
    finish(slot, std::max(completion.result, 0));
  }
}

/// The first `moved` bytes of the batch, which is one piece unless it is 0, are where they belong.
/// An error is met again by the plain call, which knows what it means.
void RingQueue::Core::finish(Slot& slot, std::int64_t moved) {
  slot.outcome = {.bytes = moved, .status = {}};
  if (moved == 0) {
    slot.outcome = driver_.transfer(slot.direction, slot.batch);
  } else if (moved < slot.batch[0].file.length) {
    const auto [file, memory] = slot.batch[0];
    const Transfer rest{between(file.offset + moved, file.end()), memory + moved};
    slot.outcome = driver_.transfer(slot.direction, {&rest, 1});
    slot.outcome.bytes += moved;
  }
  slot.state.store(kFinished, std::memory_order_release);
  slot.state.notify_all();
  bell_();
}

std::optional<Outcome> RingQueue::Core::take(std::size_t number) {
  Slot& slot = slots_[number];
  if (slot.state.load(std::memory_order_acquire) != kFinished) return std::nullopt;
  slot.state.store(kFree, std::memory_order_relaxed);
  return slot.outcome;
}

Outcome RingQueue::Core::wait(std::size_t number) {
  slots_[number].state.wait(kStarted, std::memory_order_acquire);
  return *take(number);
}

Result<std::unique_ptr<TransferQueue>> RingQueue::make(const SystemCalls& calls, Driver& driver,
                                                       int fd, const QueueOptions& options) {
  // One entry more: the word to end.
  Result<std::unique_ptr<Ring>> ring = Ring::make(calls, static_cast<unsigned>(options.depth) + 1);
  if (!ring.ok()) return ring.status();
  return attempt([&]() -> Result<std::unique_ptr<TransferQueue>> {
    auto core = std::make_unique<Core>(driver, fd, options, std::move(*ring));
    return std::unique_ptr<TransferQueue>(new RingQueue(std::move(core)));
  });
}

RingQueue::RingQueue(std::unique_ptr<Core> core) : core_(std::move(core)), process_(::getpid()) {}

RingQueue::~RingQueue() {
  if (is_forked_off()) static_cast<void>(core_.release());  // neither ring nor thread are here
}

bool RingQueue::is_forked_off() const { return process_ != ::getpid(); }

std::size_t RingQueue::depth() const { return core_->depth(); }

void RingQueue::start(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
  assert(slot < core_->depth());
  core_->fill(slot, direction, batch);
  if (is_forked_off() || !core_->submit(slot)) core_->do_at_once(slot);
}

std::optional<Outcome> RingQueue::finished(std::size_t slot) {
  std::optional<Outcome> outcome = core_->take(slot);
  if (!outcome && is_forked_off()) {
    outcome = {.bytes = 0,
               .status = failure(Errc::internal, "a transfer of the process that forked")};
  }
  return outcome;
}

Outcome RingQueue::wait(std::size_t slot) {
  const std::optional<Outcome> outcome = finished(slot);
  return outcome ? *outcome : core_->wait(slot);
}

}  // namespace tamis
