#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/recorder.hpp"
#include "engine/team.hpp"
#include "plan/hints.hpp"

namespace tamis {

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

  /// Bytes wanted, per direction and row; row i is ranks [i * ranks / rows, (i + 1) * ranks /
  /// rows).
  static constexpr int kMostRows = 64;
  std::vector<Bins> pattern[2];
  Bins times[2]{Bins(Recorder::kFirstTick), Bins(Recorder::kFirstTick)};

  struct Timeline {
    std::int32_t rank = 0;
    std::int64_t lost = 0;
    std::vector<Stretch> stretches;  ///< by clock_ns() of the rank's node
  };
  std::vector<Timeline> timelines;

  int rows() const { return ranks < kMostRows ? ranks : kMostRows; }
  int row_of(int rank) const {
    return static_cast<int>(static_cast<std::int64_t>(rank) * rows() / ranks);
  }
  /// Adds a rank's books.
  void add(int rank, const Recorder::Books& books);
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
