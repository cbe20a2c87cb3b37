#include "sim/shared_memory.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace tamis::sim {

struct SharedMemories::Memory {
  explicit Memory(std::int64_t bytes)
      : data(new (std::align_val_t{4096}) std::byte[static_cast<std::size_t>(bytes)]),
        size(bytes) {}
  ~Memory() { ::operator delete[](data, std::align_val_t{4096}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data;
  std::int64_t size;
};

class SharedMemories::Held : public Segment {
 public:
  Held(std::shared_ptr<Memory> memory, std::int64_t number)
      : memory_(std::move(memory)), number_(number) {}
  std::byte* data() override { return memory_->data; }
  std::int64_t size() const override { return memory_->size; }
  SegmentName name() const override { return {{number_, 0, 0}}; }
  Status reserve(std::int64_t, std::int64_t) override { return {}; }

 private:
  std::shared_ptr<Memory> memory_;
  std::int64_t number_;
};

std::unique_ptr<Segment> SharedMemories::create(std::int64_t bytes) {
  constexpr std::int64_t kMemory = std::int64_t{1} << 36;  // of a simulated node
  if (bytes > kMemory) throw std::bad_alloc();
  auto memory = std::make_shared<Memory>(bytes);
  constexpr int kRubbish = 0xa5;
  if (leftover_ == Leftover::rubbish)
    std::memset(memory->data, kRubbish, static_cast<std::size_t>(bytes));
  const std::int64_t number = next_++;
  memories_[number] = memory;
  return std::make_unique<Held>(std::move(memory), number);
}

std::unique_ptr<Segment> SharedMemories::attach(const SegmentName& name) {
  const auto found = memories_.find(name.words[0]);
  std::shared_ptr<Memory> memory = found == memories_.end() ? nullptr : found->second.lock();
  if (memory == nullptr) return nullptr;
  return std::make_unique<Held>(std::move(memory), name.words[0]);
}

int SharedMemories::alive() const {
  int alive = 0;
  for (const auto& [number, memory] : memories_) alive += memory.expired() ? 0 : 1;
  return alive;
}

}  // namespace tamis::sim
