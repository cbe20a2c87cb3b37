#pragma once

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "drivers/faulty/faulty.hpp"
#include "drivers/memory/memory.hpp"
#include "file/file.hpp"
#include "sim/rival.hpp"
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

  /// Bytes the rank may move: none where it was called wrongly.
  std::int64_t wanted() const {
    return request.error.ok() ? static_cast<std::int64_t>(memory.size()) : 0;
  }
};

struct ScenarioOptions {
  int least_ranks = 1;
  int most_ranks = 8;
  int operations = 8;
  double fault_chance = 0;     ///< per scenario: calls of some ranks' drivers fail
  double bad_call_chance = 0;  ///< per operation: some ranks come with a wrong argument
  bool clustered = false;      ///< views are dense here and nearly empty there, and go in windows
  double short_reads = 0;      ///< per read of a driver: it meets an early end of the file; the
                               ///< scenario then only reads
  std::int64_t capacity = std::numeric_limits<std::int64_t>::max();  ///< of the disk, bytes
};

/// One random run from a seed: a file opened by simulated ranks, then operations with random views,
/// buffers, hints and ways, each compared with a byte-wise model of the file, while a rival writes
/// into the holes.
class Scenario {
 public:
  Scenario(std::uint64_t seed, const ScenarioOptions& options);

  /// Empty where all went right; else what was wrong.
  std::string run();
  int operations_done() const { return operations_done_; }
  int faults_injected() const;
  int rival_writes() const { return rival_writes_; }
  /// Of collective accesses, where counted: what aggregators did with windows.
  const Tally& in_windows() const { return in_windows_; }

 private:
  using Outcomes = std::vector<Outcome>;
  using Accesses = std::vector<TwinAccess>;

  std::int64_t draw(std::int64_t low, std::int64_t high);
  bool chance(double probability);
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + draw(0, static_cast<std::int64_t>(choices.size()) - 1));
  }

  // What happens, by chance (scenario_random.cpp).
  std::vector<HintText> random_hints();
  std::vector<HintText> random_open_hints();
  FaultPlan random_faults();
  std::vector<TwinView> disjoint_views();
  std::vector<TwinView> free_views();
  std::vector<Layout> random_realms();
  TwinAccess random_access(int rank, Direction direction);
  std::vector<Status> random_mistakes();

  // Carrying it out (scenario.cpp).
  void set_up();
  void fill_disk();
  std::string open();
  std::string close();
  void count_windows();
  std::string operate();
  std::string set_views(bool disjoint);
  std::string set_atomicity();
  std::string set_realms();
  std::string manage();
  std::string move(Direction direction, bool collective);
  template <typename Call>
  std::string together(const char* what, const std::vector<Status>& mistakes, Call call,
                       bool disagree = false);
  std::vector<std::byte> stored();

  // Was it right? (scenario_checks.cpp)
  bool faults_since(std::size_t rank) const;
  bool fails_alone(std::size_t rank, const TwinAccess& access) const;
  std::string check_collective(const char* what, const std::vector<Status>& results,
                               const std::vector<Status>& mistakes, bool disagree) const;
  std::string check_statuses(const Accesses& accesses, const Outcomes& outcomes,
                             bool collective) const;
  std::string check_code(std::size_t rank, const TwinAccess& access, const Outcome& outcome) const;
  std::string check_read(std::size_t rank, const TwinAccess& access, const Outcome& outcome) const;
  std::string check_reads(const Accesses& accesses, const Outcomes& outcomes) const;
  std::string check_writes(const Accesses& accesses, const Outcomes& outcomes);
  std::string check_pointers(const Accesses& accesses) const;
  void put(std::vector<std::byte>& bytes, std::size_t rank, const TwinAccess& access,
           std::int64_t count) const;
  void take_over_rival();

  ScenarioOptions options_;
  std::mt19937_64 rng_;
  std::uint64_t seed_;
  std::unique_ptr<World> world_;
  MemoryStorage disk_;
  Rival rival_;
  RivalledStorage rivalled_;
  bool has_rival_ = false;
  std::vector<std::unique_ptr<FaultInjector>> injectors_;  // per rank
  std::vector<std::unique_ptr<FaultyStorage>> faulty_;
  std::vector<std::unique_ptr<StorageTable>> tables_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<TwinView> views_;
  bool atomic_ = false;
  std::vector<std::size_t> faults_before_;  // injected before the operation, per rank
  std::vector<std::byte> model_;
  int operations_done_ = 0;
  int rival_writes_ = 0;
  Tally in_windows_;
  std::string description_;
};

}  // namespace tamis::sim
