#include "mpi/mpi_comm.hpp"

#include <algorithm>
#include <thread>

#include "base/checked.hpp"
#include "mpi/comm_state.hpp"
#include "mpi/error_class.hpp"
#include "mpi/futex.hpp"
#include "mpi/host.hpp"
#include "mpi/mailbox.hpp"

namespace tamis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kAsleep = 1;  // bit 0 of a doorbell
constexpr std::uint32_t kRing = 2;

/// Tells the core that this is a spin, so that its other thread gets the units.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class MpiComm final : public Comm {
 public:
  MpiComm(std::shared_ptr<CommState> state, int channel)
      : state_(std::move(state)),
        channel_(channel),
        messages_(state_->handle(), channel * CommState::kTagsPerChannel),
        spin_(state_->cores_beside() >= std::ssize(state_->topology().ranks_beside(state_->rank()))
                  ? kLongSpin
                  : kShortSpin) {}
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;
  ~MpiComm() override { state_->return_channel(channel_); }

  int rank() const override { return state_->rank(); }
  int size() const override { return state_->size(); }
  const Topology& topology() const override { return state_->topology(); }
  Status health() const override { return messages_.health(); }
  MPI_Comm handle() const { return state_->handle(); }

  Ticket send(int to, int tag, std::span<const std::byte> bytes) override {
    return messages_.send(to, tag, bytes);
  }
  Ticket receive(int from, int tag, std::span<std::byte> into) override {
    return messages_.receive(from, tag, into);
  }
  bool done(Ticket& ticket) override {
    if (!messages_.done(ticket)) return false;
    fruitless_ = 0;
    return true;
  }

  Result<std::unique_ptr<Segment>> create_segment(std::int64_t bytes) override {
    return state_->segments().create(bytes);
  }
  Result<std::unique_ptr<Segment>> attach_segment(const SegmentName& name) override {
    return state_->segments().attach(name);
  }

  void idle(std::uint32_t seen) override;
  void ring(Doorbell& doorbell) override;

 private:
  // Long enough for another core to answer from its cache, and no longer than a context switch.
  static constexpr int kLongSpin = 2000;
  static constexpr int kShortSpin = 50;
  static constexpr int kYields = 100;
  // Waiting for messages: polls that only yield, before those that sleep in between.
  static constexpr int kEagerPolls = 1000;
  static constexpr std::chrono::nanoseconds kNap = 50us;
  // Waiting for the doorbell: how long until the host MPI gets a chance again, at first and at
  // most.
  static constexpr std::chrono::nanoseconds kFirstSleep = 1ms;
  static constexpr int kMaxDoublings = 4;

  bool rung(std::uint32_t seen) const {
    return doorbell_ != nullptr && ((doorbell_->load() ^ seen) & ~kAsleep) != 0;
  }
  bool rings_within_spin(std::uint32_t seen) const;
  bool rings_while_asleep(std::uint32_t seen, std::chrono::nanoseconds at_most);
  void wait_for_doorbell(std::uint32_t seen);
  void wait_for_messages(std::uint32_t seen);

  std::shared_ptr<CommState> state_;
  int channel_;
  Mailbox messages_;
  int spin_;
  int fruitless_ = 0;  // idle calls since something happened
};

void MpiComm::idle(std::uint32_t seen) {
  if (rung(seen)) {
    fruitless_ = 0;
    return;
  }
  if (doorbell_ != nullptr && !messages_.pending())
    wait_for_doorbell(seen);
  else
    wait_for_messages(seen);
}

void MpiComm::wait_for_doorbell(std::uint32_t seen) {
  const auto patience = kFirstSleep * (1 << std::min(fruitless_, kMaxDoublings));
  if (rings_within_spin(seen) || rings_while_asleep(seen, patience)) {
    fruitless_ = 0;
    return;
  }
  ++fruitless_;
  // The user's own messages may need this rank too (a large send started before a collective):
  // without a look into the host from time to time, their receiver and we would wait for ever.
  messages_.poke();
}

void MpiComm::wait_for_messages(std::uint32_t seen) {
  ++fruitless_;
  messages_.poke();
  if (fruitless_ <= kEagerPolls) {
    std::this_thread::yield();
  } else if (doorbell_ != nullptr) {
    rings_while_asleep(seen, kNap);
  } else {
    std::this_thread::sleep_for(kNap);
  }
}

bool MpiComm::rings_within_spin(std::uint32_t seen) const {
  for (int i = 0; i < spin_; ++i) {
    if (rung(seen)) return true;
    relax();
  }
  // The one waited for may be waiting for this core: handing it over takes a fraction of what going
  // to sleep and being woken takes.
  for (int i = 0; i < kYields; ++i) {
    std::this_thread::yield();
    if (rung(seen)) return true;
  }
  return false;
}

bool MpiComm::rings_while_asleep(std::uint32_t seen, std::chrono::nanoseconds at_most) {
  // Who rings after this line sees the bit and wakes us; who rang before it, we see.
  doorbell_->fetch_or(kAsleep);
  if (!rung(seen)) futex_wait(*doorbell_, seen | kAsleep, at_most);
  doorbell_->fetch_and(~kAsleep);
  return rung(seen);
}

void MpiComm::ring(Doorbell& doorbell) {
  if ((doorbell.fetch_add(kRing) & kAsleep) == 0) return;
  // The first to find the rank asleep wakes it; taking the bit away spares the others the call.
  doorbell.fetch_and(~kAsleep);
  futex_wake(doorbell);
}

}  // namespace

Result<std::unique_ptr<Comm>> make_comm(MPI_Comm user) {
  Result<std::shared_ptr<CommState>> state = CommState::of(user);
  if (!state.ok()) return state.status();
  const Result<int> channel = (*state)->take_channel();
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Comm>(std::make_unique<MpiComm>(std::move(*state), *channel));
}

MPI_Comm host_handle(const Comm& comm) { return static_cast<const MpiComm&>(comm).handle(); }

}  // namespace tamis
