#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>

#include "drivers/driver.hpp"
#include "engine/account.hpp"

namespace tamis {

/// Keeps plain writes and read-modify-writes of the same open file apart on one node, so that a
/// sieve never puts old bytes back over what another rank wrote into its holes meanwhile.
/// A plain write costs two atomic operations, no lock, unless somebody is sieving: then it takes
/// the byte-range lock as sievers do. Other opens of the file: see File::claim_rewriting.
class WriteGate {
 public:
  using Word = std::atomic<std::uint32_t>;
  /// One word per rank of the node and one for the node, in memory all of them see.
  struct Words {
    Word* sievers = nullptr;
    Word* mine = nullptr;      ///< plain writes this rank is in the middle of
    bool can_lock = true;      ///< the storage has byte-range locks, and hints allow them
    bool always_lock = false;  ///< sievers may be on other nodes, where these words are not seen
  };

  /// A plain write: while this lives no siever on the node starts, or `range` is locked.
  class Plain {
   public:
    Plain(const Words& words, Driver& driver, const Extent& range, Account account)
        : mine_(words.mine) {
      if (!words.always_lock) {
        mine_->fetch_add(1);
        if (words.sievers->load() == 0) return;
        mine_->fetch_sub(1);
      }
      mine_ = nullptr;
      if (!words.can_lock) return;
      const auto span = account.locking(range);
      lock_.emplace(driver, range, LockKind::exclusive);
    }
    ~Plain() { release(); }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    Status status() const { return lock_ ? lock_->status() : Status{}; }
    /// Ends the write; status() then also tells of a lock that could not be given back.
    void release() {
      if (lock_) lock_->release();
      if (mine_ != nullptr) mine_->fetch_sub(1);
      mine_ = nullptr;
    }

   private:
    Word* mine_;
    std::optional<RangeLock> lock_;
  };

  /// A sieving write: from construction on no plain write goes on without the lock.
  class Sieving {
   public:
    /// `plain`: the word of every rank of the node. Waits for plain writes that have begun.
    Sieving(const Words& words, std::span<Word* const> plain) : words_(words) {
      words_.sievers->fetch_add(1);
      for (const Word* word : plain)
        while (word->load() != 0) std::this_thread::yield();
    }
    ~Sieving() { words_.sievers->fetch_sub(1); }
    Sieving(const Sieving&) = delete;
    Sieving& operator=(const Sieving&) = delete;

   private:
    Words words_;
  };
};

}  // namespace tamis
