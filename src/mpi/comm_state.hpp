#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "comm/comm.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

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

  /// A number no other open file of this communicator has. All ranks take and return in the same
  /// order, hence get the same; numbers come back late, so a stray message finds nobody.
  Result<int> take_channel();
  void return_channel(int channel);

  static constexpr int kTagsPerChannel = 64;

 private:
  CommState() = default;
  Status duplicate(MPI_Comm user);
  Status find_nodes();
  Status count_channels();

  MPI_Comm duplicate_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  Topology topology_;
  std::mutex channels_;      // threads may open and close files at once
  std::vector<bool> taken_;  // channels, grown up to max_channels_
  std::size_t next_ = 0;
  std::size_t max_channels_ = 0;
};

}  // namespace tamis
