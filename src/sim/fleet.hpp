#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "file/file.hpp"
#include "sim/clocked_world.hpp"
#include "sim/counted_storage.hpp"
#include "sim/machine.hpp"
#include "sim/one_storage.hpp"
#include "sim/workloads.hpp"

namespace tamis::sim {

/// What one call of all ranks took.
struct Cost {
  double ns = 0;              ///< by the clocks
  double cpu_busiest_ns = 0;  ///< of this machine, in the code of the busiest rank timed
  double cpu_mean_ns = 0;
  Traffic mean;  ///< per rank, rounded
  Traffic most;  ///< of each figure the largest any rank has
  std::int64_t steps = 0;
  std::int64_t requests = 0;  ///< at servers, both directions
  std::int64_t moved = 0;     ///< bytes there
  bool ok = true;             ///< all ranks moved all they wanted
  Status error;               ///< of the first rank that did not
};

/// Ranks by the clock around one counted file, with the library's own file on each.
class Fleet {
 public:
  Fleet(const Machine& machine, int ranks);
  ~Fleet();

  int size() const { return world_.size(); }
  ClockedWorld& world() { return world_; }
  CountedStorage& storage() { return storage_; }

  Cost open(const std::vector<HintText>& hints);
  using Parts = std::function<Part(int rank)>;
  Cost set_view(const Parts& parts);
  /// All ranks move the next bytes of their views; `together`: collectively.
  Cost move(Direction direction, const Parts& parts, std::int64_t done, bool together);
  Cost close();

 private:
  template <typename T>
  Cost all(const std::function<Task<T>(File&, int rank)>& call, std::vector<T>& results);
  Cost cost(bool ok) const;
  AccessRequest request(Direction direction, const Part& part, std::int64_t done);

  ClockedWorld world_;
  CountedStorage storage_;
  OneStorage table_;
  std::vector<std::byte> buffer_;  // of all ranks: what is in it matters to nobody
  std::vector<std::unique_ptr<File>> files_;
};

}  // namespace tamis::sim
