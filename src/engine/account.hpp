#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/tally.hpp"
#include "drivers/driver.hpp"
#include "plan/cost.hpp"
#include "plan/strategy.hpp"

namespace tamis {

/// Nanoseconds of a clock that only goes forward; its zero means nothing.
inline std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The way an access went.
struct Way {
  Direction direction = Direction::read;
  bool collective = false;
  Route route = Route::alone;
  Method method = Method::nothing;  ///< with Route::alone
  bool operator==(const Way&) const = default;
};

/// One stretch of a rank's time: a phase of an access, or all of one.
struct Stretch {
  Phase phase = Phase::wait;
  std::int64_t begin_ns = 0;  ///< by clock_ns()
  std::int64_t length_ns = 0;
  Extent file{};  ///< of a transfer or a lock, from its first to its last byte
  Direction direction = Direction::read;
  bool is_call = false;     ///< a whole access; then its phase means nothing
  bool collective = false;  ///< of a whole access
  std::int64_t bytes = 0;   ///< moved by a transfer or a whole access
};

/// Hears of every stretch, in the order in which they end.
class StretchSink {
 public:
  virtual ~StretchSink() = default;
  virtual void note(const Stretch& stretch) = 0;
};

/// One access in the books.
struct Entry {
  Way way;
  Shape shape;  ///< of the rank's own bytes
  Tally tally;
  std::int64_t begun_ns = 0;
  /// To which the time goes that no Span took: reading the clock is a good part of a small access.
  std::optional<Phase> rest;
  std::int64_t requested_until = -1;  ///< end of the last request to the file system
  StretchSink* sink = nullptr;        ///< null: nobody wants the timeline
};

/// Where the engine notes what an access costs on this rank. The usual one is empty: it notes
/// nothing, and costs the test of a pointer.
class Account {
 public:
  Account() = default;
  explicit Account(Entry& entry) : entry_(&entry) {}

  Way way() const { return entry_ != nullptr ? entry_->way : Way{}; }
  void shaped(const Shape& shape) const {
    if (entry_ != nullptr) entry_->shape = shape;
  }
  void went(Route route, Method method) const {
    if (entry_ == nullptr) return;
    entry_->way.route = route;
    entry_->way.method = method;
  }
  void rest_goes_to(Phase phase) const {
    if (entry_ != nullptr) entry_->rest = phase;
  }
  void count(std::int64_t Tally::*sum, std::int64_t n = 1) const {
    if (entry_ != nullptr) entry_->tally.*sum += n;
  }
  void holds(std::int64_t bytes) const {
    if (entry_ != nullptr && entry_->tally.memory < bytes) entry_->tally.memory = bytes;
  }

  /// Time from its construction to its end goes to a phase.
  class [[nodiscard]] Span {
   public:
    Span(Entry* entry, Phase phase, const Extent& file = {}, Direction direction = Direction::read)
        : entry_(entry) {
      if (entry_ != nullptr) stretch_ = {phase, clock_ns(), 0, file, direction};
    }
    ~Span() {
      if (entry_ == nullptr) return;
      stretch_.length_ns = clock_ns() - stretch_.begin_ns;
      entry_->tally.time(stretch_.phase) += stretch_.length_ns;
      if (entry_->sink != nullptr) entry_->sink->note(stretch_);
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void moved(std::int64_t bytes) { stretch_.bytes = bytes; }

   private:
    Entry* entry_;
    Stretch stretch_;
  };

  /// An exchange is stepped whenever something may have happened. What lies between its steps goes
  /// to Phase::wait.
  class Steps {
   public:
    explicit Steps(Entry* entry) : entry_(entry) {
      if (entry_ != nullptr) rested_since_ns_ = clock_ns();
    }
    void begin() {
      if (entry_ == nullptr) return;
      const Stretch rest{Phase::wait, rested_since_ns_, clock_ns() - rested_since_ns_};
      entry_->tally.time(Phase::wait) += rest.length_ns;
      if (entry_->sink != nullptr && rest.length_ns >= kLeastTold) entry_->sink->note(rest);
    }
    void end() {
      if (entry_ != nullptr) rested_since_ns_ = clock_ns();
    }

   private:
    static constexpr std::int64_t kLeastTold = 1000;  // of a timeline
    Entry* entry_;
    std::int64_t rested_since_ns_ = 0;
  };
  Steps steps() const { return Steps(entry_); }
  Span time(Phase phase) const { return {entry_, phase}; }

  /// Driver::transfer, noted: its time, and each request it makes of the batch.
  Outcome transfer(Driver& driver, Direction direction, std::span<const Transfer> batch) const {
    if (entry_ == nullptr) [[likely]]
      return driver.transfer(direction, batch);
    return transfer_noted(driver, direction, batch);
  }
  /// By clock_ns(); 0 where nothing is noted.
  std::int64_t now() const { return entry_ != nullptr ? clock_ns() : 0; }
  /// A transfer that went on beside other work, noted once it has ended: its requests, and when it
  /// was, but none of the rank's time.
  void transferred(Direction direction, std::span<const Transfer> batch, const Outcome& outcome,
                   std::int64_t begun_ns) const {
    if (entry_ != nullptr) note_transferred(direction, batch, outcome, begun_ns);
  }
  /// A byte-range lock, noted with the time it took to get it.
  RangeLock lock(Driver& driver, const Extent& range, LockKind kind) const {
    if (kind == LockKind::none) return {driver, range, kind};
    const Span span = locking(range);
    return {driver, range, kind};
  }
  /// The same for a lock that is taken while the Span lives.
  Span locking(const Extent& range) const {
    count(&Tally::locks);
    return {entry_, Phase::lock, range};
  }

 private:
  Outcome transfer_noted(Driver& driver, Direction direction,
                         std::span<const Transfer> batch) const;
  void note_transferred(Direction direction, std::span<const Transfer> batch,
                        const Outcome& outcome, std::int64_t begun_ns) const;
  void note_requests(Direction direction, std::span<const Transfer> batch,
                     const Outcome& outcome) const;
  void note_request(Direction direction, const Extent& asked, std::int64_t moved) const;

  Entry* entry_ = nullptr;
};

}  // namespace tamis
