#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "engine/team.hpp"
#include "layout/coverage.hpp"
#include "plan/strategy.hpp"

namespace tamis {

/// How many windows of an aggregator are in flight: one being filled while another is transferred.
inline constexpr std::int64_t kWindowsInFlight = 2;

/// The part of a staging window all ranks of the node see. `opened` and `arrived` only grow, over
/// all operations on the file; ranks know the number of a use because all walk the same windows.
struct alignas(64) WindowState {
  std::atomic<std::uint32_t> declared;    ///< ranks that have said what they will put in next
  std::atomic<std::uint32_t> opened;      ///< uses the aggregator has opened for the ranks
  std::atomic<std::uint32_t> arrived;     ///< ranks that are done with it, summed over uses
  std::atomic<std::int64_t> valid_until;  ///< reads: bytes of the file before this offset are there
  // What the ranks declared for the coming use:
  std::atomic<std::int64_t> bytes;
  std::atomic<std::uint64_t> balance;  ///< a Residue
  std::atomic<std::int64_t> first;
  std::atomic<std::int64_t> last;

  void declare(const Coverage& coverage);
  Coverage collect();  ///< what was declared; begins anew for the next use
};

/// One use of a window: which buffer of which aggregator, for the how many-th time.
struct WindowUse {
  WindowState* state = nullptr;
  std::byte* memory = nullptr;
  std::uint32_t number = 0;  ///< uses of this buffer before this one
};

/// The staging windows of a node's aggregators, in memory its ranks share: ranks pack straight into
/// them and unpack straight out of them.
class Staging {
 public:
  /// Collective; the same result on every rank.
  static Task<Result<std::unique_ptr<Staging>>> create(Team& team, const Circumstances& plan);

  /// Use number `use` (counted over the file's life) of an aggregator of this node.
  WindowUse use(int aggregator, std::int64_t use_number);

  /// Uses of an aggregator's windows so far: where the next operation goes on.
  std::int64_t& uses(int aggregator) { return uses_[static_cast<std::size_t>(aggregator)]; }

 private:
  Staging(const Team& team, const Circumstances& plan);
  Status set_up(std::unique_ptr<Segment> segment, bool first_seat);
  std::int64_t windows_here() const { return aggregators_here_ * kWindowsInFlight; }

  std::int64_t window_bytes_;
  std::int64_t aggregators_here_ = 0;
  std::vector<int> place_;  // per aggregator: its place in the segment, -1: on another node
  std::vector<std::int64_t> uses_;
  std::unique_ptr<Segment> segment_;
  std::byte* windows_ = nullptr;  // behind the states
};

}  // namespace tamis
