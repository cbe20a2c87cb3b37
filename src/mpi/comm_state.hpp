#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "base/result.hpp"
#include "comm/comm.hpp"
#include "mpi/mpi.hpp"
#include "mpi/segment_pool.hpp"

namespace tamis {

/// Has `act` called as MPI_Finalize begins, while calls of MPI are still allowed, on this process
/// alone. Later ones are called first. REQUIRES: a communicator has a state.
void at_finalize(void (*act)());

/// What all files on one user communicator share: a private duplicate that returns errors, who
/// shares a node with whom, and the numbers that keep the files' messages apart.
class CommState {
 public:
  /// The state kept on the communicator; made (collectively) and kept there at the first call.
  /// Shared, because it belongs to the communicator's attribute and to every open file, and any of
  /// them may be the last.
  static Result<std::shared_ptr<CommState>> of(MPI_Comm user);

  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;
  ~CommState();

  MPI_Comm handle() const { return duplicate_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const Topology& topology() const { return topology_; }
  /// Cores that the ranks of this node may run on, all of them together; at most 64 are told apart.
  int cores_beside() const { return cores_beside_; }
  SegmentPool& segments() { return *segments_; }

  /// A number no other open file of this communicator has; the same on all ranks. Collective, so
  /// taken in one order. Numbers may come back in any order and at any time: a file is closed over
  /// its own group, while other threads open and close others. They come up again late, so a
  /// stray message finds nobody.
  Result<int> take_channel();
  void return_channel(int channel);

  static constexpr int kTagsPerChannel = 64;

 private:
  CommState() = default;
  Status duplicate(MPI_Comm user);
  Status find_nodes();
  Status count_channels();
  std::uint64_t busy_from(int first);
  Result<int> agree_on_channel();
  int step(int channel, int by) const { return (channel + by) % channel_count_; }

  MPI_Comm duplicate_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  Topology topology_;
  int cores_beside_ = 1;
  std::shared_ptr<SegmentPool> segments_ = std::make_shared<SegmentPool>();
  int channel_count_ = 0;
  int next_ = 0;           // channel to take or to look at first
  bool all_fresh_ = true;  // no channel has come up twice yet
  std::mutex open_mutex_;  // threads close files while another opens one
  std::set<int> open_;     // channels of files that are open on this rank
};

}  // namespace tamis
