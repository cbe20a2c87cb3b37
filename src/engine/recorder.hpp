#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/account.hpp"
#include "engine/bins.hpp"

namespace tamis {

/// How many stretches may be kept yet, in all files that share it. Any thread may use it.
class StretchBudget {
 public:
  explicit StretchBudget(std::int64_t most) : left_(most) {}
  /// Room for one more; false: there is none.
  bool take() { return left_.fetch_sub(1, std::memory_order_relaxed) > 0; }

 private:
  std::atomic<std::int64_t> left_;
};

/// What is to be recorded of a file.
struct RecordWishes {
  bool counters = false;               ///< tallies, the pattern, distinct accesses
  bool timeline = false;               ///< stretches of time
  bool decisions = false;              ///< told to `say` when a distinct access is met first
  StretchBudget* stretches = nullptr;  ///< must outlive the recorder; null: none is kept
  std::function<void(const std::string&)> say;

  bool any() const { return counters || timeline || decisions; }
};

/// A kind of access a rank has made, and what was decided.
struct DistinctAccess {
  Way way;
  std::int64_t bytes = 0;  ///< of one call
  std::int64_t pieces = 0;
  std::int64_t span = 0;
  std::int64_t memory_pieces = 0;
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
  /// What accesses before left to do is done; it is no call.
  void post_late(Entry& entry);
  /// Such an access was decided on before; counts it.
  bool knows(const Way& way, const Shape& shape);
  /// What was decided for an access that it does not know.
  void learn(const Way& way, const Shape& shape, const std::string& text);
  /// Hints or the mode have changed: what comes now is decided anew, and told again.
  void forget_decisions();
  void note(const Stretch& stretch) override;

  struct Books {
    std::vector<std::pair<Way, Tally>> ways;
    std::vector<DistinctAccess> accesses;
    std::int64_t accesses_left_out = 0;  ///< calls of further kinds
    std::vector<Stretch> stretches;
    std::int64_t stretches_lost = 0;
    Bins offsets[2];  ///< bytes wanted by file offset, per direction
    Bins times[2]{Bins(kFirstTick), Bins(kFirstTick)};  ///< bytes moved by time since the opening
  };
  /// All that was counted so far. Ways stay in their places.
  std::vector<std::pair<Way, Tally>> ways() const;
  /// A copy of the books as they stand.
  Books books() const;
  std::int64_t opened_ns() const { return opened_ns_; }

  static constexpr std::size_t kMostDistinct = 32;
  static constexpr int kFirstTick = 16;  // log2 of nanoseconds

 private:
  Tally& tally_of(const Way& way);
  /// One more call of a kind that is known; false where it is not.
  bool count(const Way& way, const Shape& shape);
  void keep(const Stretch& stretch);

  RecordWishes wishes_;
  std::int64_t opened_ns_;
  mutable std::mutex mutex_;
  Books books_;
  std::size_t met_last_ = 0;    // among the distinct accesses
  std::size_t known_from_ = 0;  // those before were decided in other circumstances
};

}  // namespace tamis
