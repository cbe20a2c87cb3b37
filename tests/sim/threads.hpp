#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/comm.hpp"

namespace tamis::sim {

/// Ranks that are threads of this process: a Comm with real concurrency, for what the simulated
/// world, one thread, cannot show (locks that wait, races). Messages arrive at once.
class Threads {
 public:
  explicit Threads(std::vector<std::int64_t> node_labels)
      : topology_(Topology::from_labels(node_labels)) {}

  int size() const { return static_cast<int>(topology_.node_of.size()); }
  /// A communicator over all ranks, as `rank` sees it; `channel` tells files apart.
  std::unique_ptr<Comm> comm(int rank, int channel);
  /// Runs `body(rank)` in one thread per rank, to the end of all.
  void run(const std::function<void(int rank)>& body);

 private:
  friend class ThreadComm;
  struct Key {
    int channel, from, to, tag;
    auto operator<=>(const Key&) const = default;
  };

  Topology topology_;
  std::mutex mutex_;
  std::map<Key, std::deque<std::vector<std::byte>>> mail_;
  std::map<std::int64_t, std::shared_ptr<std::vector<std::byte>>> memories_;
};

}  // namespace tamis::sim
