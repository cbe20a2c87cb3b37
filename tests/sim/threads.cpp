#include "sim/threads.hpp"

#include <cstring>
#include <thread>

namespace tamis::sim {
namespace {

constexpr std::size_t kPage = 4096;

class SharedVector : public Segment {
 public:
  SharedVector(std::shared_ptr<std::vector<std::byte>> memory, std::int64_t number)
      : memory_(std::move(memory)), number_(number) {}
  std::byte* data() override {  // on a page, as mapped memory is
    const auto address = reinterpret_cast<std::uintptr_t>(memory_->data());
    return memory_->data() + (kPage - address % kPage) % kPage;
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(memory_->size() - kPage); }
  SegmentName name() const override { return {{number_, 0, 0}}; }
  Status reserve(std::int64_t, std::int64_t) override { return {}; }

 private:
  std::shared_ptr<std::vector<std::byte>> memory_;
  std::int64_t number_;
};

}  // namespace

class ThreadComm : public Comm {
 public:
  ThreadComm(Threads& threads, int rank, int channel)
      : threads_(threads), rank_(rank), channel_(channel) {}

  int rank() const override { return rank_; }
  int size() const override { return threads_.size(); }
  const Topology& topology() const override { return threads_.topology_; }

  Ticket send(int to, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard guard(threads_.mutex_);
    threads_.mail_[{channel_, rank_, to, tag}].emplace_back(bytes.begin(), bytes.end());
    return 0;
  }

  Ticket receive(int from, int tag, std::span<std::byte> into) override {
    awaited_.push_back({++last_, {channel_, from, rank_, tag}, into});
    return last_;
  }

  bool done(Ticket& ticket) override {
    const std::lock_guard guard(threads_.mutex_);
    for (auto next = awaited_.begin(); next != awaited_.end();)
      next = take(*next) ? awaited_.erase(next) : std::next(next);
    for (const Awaited& awaited : awaited_)
      if (awaited.ticket == ticket) return false;
    ticket = 0;
    return true;
  }

  Result<std::unique_ptr<Segment>> create_segment(std::int64_t bytes) override {
    const std::lock_guard guard(threads_.mutex_);
    const auto number = static_cast<std::int64_t>(threads_.memories_.size());
    threads_.memories_[number] =
        std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes) + kPage);
    return std::unique_ptr<Segment>(new SharedVector(threads_.memories_[number], number));
  }

  Result<std::unique_ptr<Segment>> attach_segment(const SegmentName& name) override {
    const std::lock_guard guard(threads_.mutex_);
    return std::unique_ptr<Segment>(
        new SharedVector(threads_.memories_.at(name.words[0]), name.words[0]));
  }

  void idle(std::uint32_t) override { std::this_thread::yield(); }
  void ring(Doorbell& doorbell) override { doorbell.fetch_add(2); }

 private:
  struct Awaited {
    Ticket ticket;
    Threads::Key key;
    std::span<std::byte> into;
  };
  /// Receives are matched in the order they were made.
  bool take(const Awaited& awaited) {
    const auto found = threads_.mail_.find(awaited.key);
    if (found == threads_.mail_.end()) return false;
    const std::vector<std::byte>& bytes = found->second.front();
    if (bytes.size() != awaited.into.size()) __builtin_trap();  // sizes are computed alike
    std::memcpy(awaited.into.data(), bytes.data(), bytes.size());
    found->second.pop_front();
    if (found->second.empty()) threads_.mail_.erase(found);
    return true;
  }

  Threads& threads_;
  int rank_;
  int channel_;
  Ticket last_ = 0;
  std::deque<Awaited> awaited_;
};

std::unique_ptr<Comm> Threads::comm(int rank, int channel) {
  return std::make_unique<ThreadComm>(*this, rank, channel);
}

void Threads::run(const std::function<void(int)>& body) {
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < size(); ++rank) ranks.emplace_back(body, rank);
}

}  // namespace tamis::sim
