#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "file/file.hpp"
#include "sim/world.hpp"

namespace tamis::sim {

using Words = std::vector<std::int64_t>;

/// A file view twice: as the library takes it and as the plain list of one tile's byte offsets.
struct TwinView {
  View view;
  Words tile;  ///< offsets of the filetype's bytes, in stream order
  std::int64_t extent = 1;

  std::int64_t offset_of(std::int64_t position) const;
};

/// What one rank does in an operation, and where its bytes are by the oracle.
struct TwinAccess {
  AccessRequest request;
  Words memory;                   ///< buffer index of every byte of the stream
  std::int64_t first = 0;         ///< position in the view's stream
  std::vector<std::byte> before;  ///< the buffer as it was
  std::vector<std::byte> buffer;
};

struct ScenarioOptions {
  int most_ranks = 8;
  int operations = 8;
  double fault_chance = 0;     ///< per scenario: transfers and locks of some rank fail
  double bad_call_chance = 0;  ///< per operation: a rank comes with a wrong argument
};

/// One random run from a seed: a file opened by simulated ranks, then operations with random views,
/// buffers, hints and ways, each compared with a byte-wise model of the file.
class Scenario {
 public:
  Scenario(std::uint64_t seed, const ScenarioOptions& options);

  /// Empty where all went right; else what was wrong.
  std::string run();
  int operations_done() const { return operations_done_; }
  int faults_injected() const;
  std::string describe() const { return description_; }

 private:
  struct Storages;

  std::int64_t draw(std::int64_t low, std::int64_t high);
  bool chance(double probability);
  template <typename T>
  T one_of(std::initializer_list<T> choices);

  void set_up();
  std::vector<HintText> random_hints();
  FaultPlan random_faults();
  std::string open();
  std::string close();
  std::string operate();
  std::string set_views(bool shared_between_ranks);
  std::vector<TwinView> disjoint_views();
  std::vector<TwinView> free_views();
  TwinAccess random_access(int rank, Direction direction, const TwinView& view);
  std::string move(Direction direction, bool collective);
  std::string check_reads(const std::vector<TwinAccess>& accesses,
                          const std::vector<Outcome>& outcomes);
  std::string check_writes(const std::vector<TwinAccess>& accesses,
                           const std::vector<Outcome>& outcomes);
  std::string check_statuses(const std::vector<TwinAccess>& accesses,
                             const std::vector<Outcome>& outcomes, bool collective);
  bool faults_since(std::size_t rank) const;
  std::vector<std::byte> stored();

  ScenarioOptions options_;
  std::mt19937_64 rng_;
  std::uint64_t seed_;
  std::unique_ptr<World> world_;
  MemoryStorage disk_{{.lock_wait = LockWait::refuse}};
  std::vector<std::unique_ptr<FaultInjector>> injectors_;  // per rank
  std::vector<std::unique_ptr<FaultyStorage>> faulty_;
  std::vector<std::unique_ptr<StorageTable>> tables_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<TwinView> views_;
  std::vector<std::size_t> faults_before_;  // injected before the operation, per rank
  std::vector<std::byte> model_;
  std::vector<HintText> hints_;
  int operations_done_ = 0;
  std::string description_;
};

}  // namespace tamis::sim
