#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "engine/share.hpp"
#include "engine/team.hpp"
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
  std::atomic<std::int32_t> kept_at;      ///< write-behind: the place of the window; -1: none
  std::atomic<Method> method;             ///< how this use is moved, once it is opened
  std::atomic<std::int64_t> valid_until;  ///< reads: what lies before it in the realm is there
  // What the ranks declared for the coming use:
  std::atomic<std::int64_t> bytes;
  std::atomic<std::uint64_t> balance;  ///< a Residue
  std::atomic<std::int64_t> first;
  std::atomic<std::int64_t> last;
  std::atomic<std::int64_t> pieces;

  void declare(const Claim& claim);
  Claim collect();  ///< what was declared; begins anew for the next use
};

/// One use of a window: which buffer of which aggregator, for the how many-th time.
struct WindowUse {
  WindowState* state = nullptr;
  std::byte* memory = nullptr;
  std::uint32_t number = 0;  ///< uses of this buffer before this one
};

/// A parcel: some bytes of what a node's ranks have in a window of another node's aggregator, on
/// their way between them. `opened` only grows; `moved` begins anew with each use.
struct alignas(64) ParcelState {
  std::atomic<std::uint32_t> opened;  ///< uses its carrier has opened for the ranks
  std::atomic<std::int64_t> moved;    ///< bytes the ranks have put in or taken out
};
struct ParcelUse {
  ParcelState* state = nullptr;
  std::byte* message = nullptr;  ///< head and bytes
  std::uint32_t number = 0;      ///< uses of this buffer before this one
};

/// A message between nodes: the position in the realm's stream up to which its bytes are there (of
/// reads), then bytes of the shares of the node's ranks in a window: one share after the other, by
/// seat, each in stream order, cut into parcels.
inline constexpr std::size_t kMessageHead = sizeof(std::int64_t);

/// How many parcels of a carrier, and windows told beforehand, are in flight.
inline constexpr std::int64_t kParcelsInFlight = 2;
inline constexpr std::int64_t kToldAhead = 4;

/// How much each rank of a node has in one window of another node's aggregator. The last to say it
/// adds up, so that nobody else has to. The counters only grow.
struct TellState {
  std::atomic<std::uint32_t> told;   ///< ranks that have said it
  std::atomic<std::uint32_t> added;  ///< uses that were added up
  std::atomic<std::uint32_t> heard;  ///< readers that know it: all ranks, and the carrier
  std::atomic<std::int64_t> total;   ///< bytes of all ranks
};
struct TellUse {
  TellState* state = nullptr;
  std::atomic<std::int64_t>* bytes = nullptr;  ///< by seat: its own; once added up, those before it
  std::uint32_t number = 0;

  /// Every rank once. True for the last one, after whom all may read the sums.
  bool tell(int seat, int seats, std::int64_t own) const;
  bool is_added() const { return state->added.load() == number + 1; }
};

/// The staging memory that a node's ranks share: windows of its aggregators, into which ranks pack
/// and out of which they unpack, and parcels to and from other nodes.
class Staging {
 public:
  /// Collective; the same result on every rank.
  static Task<Result<std::unique_ptr<Staging>>> create(Team& team, const Circumstances& plan);

  /// Use number `use` (counted over the file's life) of an aggregator of this node.
  WindowUse use(int aggregator, std::int64_t use_number);

  /// Uses of an aggregator's windows so far: where the next operation goes on.
  std::int64_t& uses(int aggregator) { return uses_[static_cast<std::size_t>(aggregator)]; }

  // The same for parcels, by the carrier's seat, and for windows told beforehand.
  ParcelUse parcel(int carrier, std::int64_t use_number);
  std::int64_t& parcels(int carrier) { return parcels_[static_cast<std::size_t>(carrier)]; }
  TellUse tell(std::int64_t use_number);
  std::int64_t& tells() { return tells_; }
  /// Most bytes of a parcel.
  std::int64_t parcel_bytes() const { return parcel_bytes_; }

 private:
  Staging(const Team& team, const Circumstances& plan);
  Status set_up(std::unique_ptr<Segment> segment, bool first_seat);
  void set_up_states();
  std::int64_t windows_here() const { return aggregators_here_ * kWindowsInFlight; }
  std::int64_t parcels_here() const { return std::ssize(parcels_) * kParcelsInFlight; }
  std::byte* at(std::int64_t offset) { return segment_->data() + offset; }

  // The parts of the segment, one after the other.
  struct Places {
    std::int64_t parcel_states = 0;  // behind those of windows
    std::int64_t tells = 0;
    std::int64_t windows = 0;
    std::int64_t parcels = 0;
    std::int64_t end = 0;
  };
  Places places() const;
  std::int64_t tell_stride() const;
  std::int64_t parcel_stride() const;

  std::int64_t window_bytes_;
  std::int64_t parcel_bytes_;
  std::int64_t aggregators_here_ = 0;
  std::vector<int> place_;  // per aggregator: its place in the segment, -1: on another node
  std::vector<std::int64_t> uses_;
  std::vector<std::int64_t> parcels_;  // per seat; empty where there is one node
  std::int64_t tells_ = 0;
  std::unique_ptr<Segment> segment_;
  Places places_;
};

}  // namespace tamis
