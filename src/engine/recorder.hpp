#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/account.hpp"
#include "engine/bins.hpp"

namespace tamis {

/// What is to be recorded of a file.
struct RecordWishes {
  bool counters = false;   ///< tallies, the pattern, distinct accesses
  bool timeline = false;   ///< stretches of time
  bool decisions = false;  ///< told to `say` when a distinct access is met first
  std::size_t most_stretches = 0;
  std::function<void(const std::string&)> say;

  bool any() const { return counters || timeline || decisions; }
};

/// A kind of access a rank has made, and what was decided.
struct DistinctAccess {
  Way way;
  std::int64_t bytes = 0;  ///< of one call
  std::int64_t pieces = 0;
  std::int64_t span = 0;
  std::int64_t calls = 0;
  std::string text;
};

/// Everything one rank remembers of its accesses to an open file; bounded, whatever is done to the
/// file. Any thread may use it.
class Recorder final : public StretchSink {
 public:
  explicit Recorder(RecordWishes wishes) : wishes_(std::move(wishes)), opened_ns_(clock_ns()) {}

  /// An entry for a new access.
  Entry begin(Direction direction, bool collective);
  /// The access is over.
  void post(Entry& entry, const Access& access, const Outcome& outcome);
  /// Such an access was decided on before; counts it.
  bool knows(const Way& way, const Shape& shape);
  /// What was decided for an access that it does not know.
  void learn(const Way& way, const Shape& shape, const std::string& text);
  void note(const Stretch& stretch) override;

  struct Books {
    std::vector<std::pair<Way, Tally>> ways;
    std::vector<DistinctAccess> accesses;
    std::vector<Stretch> stretches;
    std::int64_t stretches_lost = 0;
    Bins offsets[2];  ///< bytes wanted by file offset, per direction
    Bins times[2]{Bins(kFirstTick), Bins(kFirstTick)};  ///< bytes moved by time since the opening
  };
  /// All that was counted so far.
  Tally total() const;
  /// A copy of the books as they stand.
  Books books() const;
  std::int64_t opened_ns() const { return opened_ns_; }

  static constexpr std::size_t kMostDistinct = 32;
  static constexpr int kFirstTick = 16;  // log2 of nanoseconds

 private:
  Tally& tally_of(const Way& way);
  bool count(const Way& way, const Shape& shape);

  RecordWishes wishes_;
  std::int64_t opened_ns_;
  mutable std::mutex mutex_;
  Books books_;
  std::size_t met_last_ = 0;  // among the distinct accesses
};

}  // namespace tamis
