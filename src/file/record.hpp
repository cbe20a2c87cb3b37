#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/recorder.hpp"
#include "engine/team.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// One moment by a process's two clocks. Steady clocks of different nodes have nothing in common.
struct Moment {
  std::int64_t steady_ns = 0;  ///< clock_ns()
  std::int64_t wall_ns = 0;    ///< since 1970

  static Moment now();
  /// What makes steady times of `there` ones of here, as exactly as the wall clocks agree.
  std::int64_t shift_of(const Moment& there) const {
    return (there.wall_ns - there.steady_ns) - (wall_ns - steady_ns);
  }
};

/// Whether a rank whose sums these are moved windows for others.
inline bool has_aggregated(const Way& way, const Tally& sums) {
  return way.route == Route::two_phase && sums.windows > 0;
}

/// What the ranks of a file did with it, from its opening to its close.
struct FileRecord {
  std::string name;  ///< as the program gave it
  std::string path;
  unsigned amode = 0;  ///< AccessMode bits
  int ranks = 0;
  int nodes = 0;
  int cores = 0;  ///< of a node
  Hints hints;
  std::map<std::string, std::string> hint_sources;  ///< of those that somebody gave
  Capabilities storage;
  std::string filesystem;  ///< type of the one that holds the file; empty: none, or not known
  std::vector<std::int32_t> aggregators;
  std::int64_t window_bytes = 0;
  std::int64_t opened_ns = 0;  ///< by rank 0's clock_ns()
  std::int64_t closed_ns = 0;
  bool incomplete = false;  ///< a rank's part is missing for lack of memory

  std::vector<std::pair<Way, Tally>> ways;
  std::vector<DistinctAccess> accesses;  ///< rank 0's
  std::int64_t accesses_left_out = 0;    ///< calls of further kinds

  /// Bytes wanted, per direction and row; row i is ranks [i * ranks / rows, (i + 1) * ranks /
  /// rows).
  static constexpr int kMostRows = 64;
  std::vector<Bins> pattern[2];
  Bins times[2]{Bins(Recorder::kFirstTick), Bins(Recorder::kFirstTick)};

  struct Timeline {
    std::int32_t rank = 0;
    std::int64_t lost = 0;
    std::vector<Stretch> stretches;  ///< by clock_ns() of rank 0's node
  };
  std::vector<Timeline> timelines;

  int rows() const { return ranks < kMostRows ? ranks : kMostRows; }
  int row_of(int rank) const {
    return static_cast<int>(static_cast<std::int64_t>(rank) * rows() / ranks);
  }
  /// Adds a rank's books, whose steady times become rank 0's by `shift_ns`.
  void add(int rank, Recorder::Books books, std::int64_t shift_ns);
};

/// Hears what was recorded. It must outlive the files that know it.
class RecordKeeper {
 public:
  virtual ~RecordKeeper() = default;
  /// What this rank would like to have recorded of a file; ranks record what any of them wants.
  virtual RecordWishes wishes(const std::string& name) = 0;
  /// On rank 0 of the file, as it is closed.
  virtual void keep(FileRecord record) = 0;
};

/// Collective: the books of all ranks are added to rank 0's record, one rank after the other, so
/// that memory grows with what is kept only.
Task<Status> gather_books(Team& team, const Recorder& recorder, FileRecord& record);

}  // namespace tamis
