#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "file/file.hpp"
#include "sim/one_storage.hpp"
#include "sim/rival.hpp"
#include "sim/world.hpp"

namespace tamis::sim {

/// Simulated ranks around one disk, for tests that say each step. A hang fails the test at hand.
class Crew {
 public:
  using Plans = std::vector<FaultPlan>;  ///< per rank; ranks beyond its end meet no faults

  explicit Crew(std::vector<std::int64_t> node_labels, Plans plans = {},
                MemoryOptions options = {.lock_wait = LockWait::refuse});

  int size() const { return world_.size(); }
  File& file(int rank) { return *files_[static_cast<std::size_t>(rank)]; }
  World& world() { return world_; }
  int open_drivers() const { return rivalled_.open_drivers(); }

  /// Per rank how the open ended; the files are there where it was ok on all.
  std::vector<Status> open(const std::function<OpenRequest(int rank)>& request);
  std::vector<Status> open(unsigned amode, const std::vector<HintText>& hints = {});

  /// One collective call per rank.
  template <typename T>
  std::vector<T> all(const std::function<Task<T>(File&, int rank)>& call) {
    std::vector<Task<T>> tasks;
    for (int rank = 0; rank < size(); ++rank) tasks.push_back(call(file(rank), rank));
    std::vector<T> results;
    if (!world_.run(std::move(tasks), results)) throw std::runtime_error("ranks hang");
    return results;
  }
  std::vector<Status> each(const std::function<Task<Status>(File&, int rank)>& call) {
    return all<Status>(call);
  }
  std::vector<Status> close();

  bool exists();
  std::vector<std::byte> stored();
  void store(const std::vector<std::byte>& bytes);

 private:
  World world_;
  MemoryStorage disk_;
  Rival idle_rival_;
  RivalledStorage rivalled_;
  std::vector<std::unique_ptr<FaultInjector>> injectors_;
  std::vector<std::unique_ptr<FaultyStorage>> faulty_;
  std::vector<std::unique_ptr<OneStorage>> tables_;
  std::vector<std::unique_ptr<File>> files_;
};

/// A view of every `parts`-th block of `block` bytes, from number `part` on.
View strided_view(std::int64_t part, std::int64_t parts, std::int64_t block);

/// Moves `bytes` at an explicit offset.
AccessRequest request_at(Direction direction, std::int64_t offset, std::vector<std::byte>& bytes);

std::vector<std::byte> filled(std::size_t bytes, int value);

}  // namespace tamis::sim
