#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace tamis {

/// Buffers that are used again: a fresh 4 MiB buffer costs a thousand page faults per access.
/// Keeps at most the buffers that were in use at once. Thread-safe.
class Scratch {
 public:
  /// A buffer on loan; goes back when it dies.
  class Loan {
   public:
    Loan(Scratch& owner, std::unique_ptr<std::byte[]> memory, std::int64_t bytes)
        : owner_(&owner), memory_(std::move(memory)), bytes_(bytes) {}
    Loan(Loan&& other) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (memory_) owner_->give_back(std::move(memory_), bytes_);
    }
    std::byte* data() { return memory_.get(); }
    std::int64_t size() const { return bytes_; }

   private:
    Scratch* owner_;
    std::unique_ptr<std::byte[]> memory_;
    std::int64_t bytes_;
  };

  /// Throws std::bad_alloc where there is no memory.
  Loan take(std::int64_t bytes) {
    {
      const std::lock_guard held(mutex_);
      for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
        if (kept->bytes != bytes) continue;
        Loan loan(*this, std::move(kept->memory), bytes);
        kept_.erase(kept);
        return loan;
      }
      kept_.clear();  // sizes have changed: the old ones will not be asked for again
    }
    return {*this, std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes)),
            bytes};
  }

 private:
  struct Kept {
    std::unique_ptr<std::byte[]> memory;
    std::int64_t bytes;
  };
  void give_back(std::unique_ptr<std::byte[]> memory, std::int64_t bytes) {
    const std::lock_guard held(mutex_);
    try {
      kept_.push_back({std::move(memory), bytes});
    } catch (const std::bad_alloc&) {  // then it is not kept; a Loan's end may not throw
    }
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace tamis
