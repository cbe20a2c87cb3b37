#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/direction.hpp"

namespace tamis {

/// Where an access spends its time.
enum class Phase : std::uint8_t {
  survey,    ///< ranks tell each other what they are about to do, and wait until all have
  announce,  ///< owners on other nodes learn of views
  pack,      ///< bytes are copied between the user's memory and buffers
  wait,      ///< for other ranks, while windows are exchanged: nothing could be done meanwhile
  transfer,  ///< requests to the file system
  lock,      ///< byte-range locks, waiting for them included
  agree,     ///< ranks tell each other how it ended, and wait until all have
};
inline constexpr std::size_t kPhases = 7;
const char* name(Phase phase);

/// What accesses came to on one rank, or on many. Bytes, nanoseconds and numbers, all of them sums
/// but for the last ones.
struct Tally {
  /// Requests of less than 16 bytes, of 16 to 31, ... of a MiB and more.
  static constexpr std::size_t kSizes = 18;

  std::int64_t calls = 0;
  std::int64_t errors = 0;
  std::int64_t bytes_wanted = 0;
  std::int64_t bytes_moved = 0;
  std::int64_t pieces = 0;  ///< contiguous ones in the file, of the bytes wanted
  std::int64_t reads = 0;   ///< requests to the file system
  std::int64_t bytes_read = 0;
  std::int64_t writes = 0;
  std::int64_t bytes_written = 0;
  std::int64_t lists = 0;            ///< batches handed to the driver; each may be many requests
  std::int64_t bytes_resent = 0;     ///< put into or taken out of other ranks' windows
  std::int64_t bytes_messages = 0;   ///< of those, sent between nodes
  std::int64_t bytes_announced = 0;  ///< descriptions of views
  std::int64_t windows = 0;          ///< of sieves and of collective accesses
  std::int64_t aggregators = 0;      ///< ranks that moved windows for others; known once gathered
  std::int64_t windows_listed = 0;   ///< of collective accesses, moved piece by piece
  std::int64_t rewrites = 0;         ///< windows that were read, changed and written back
  std::int64_t bytes_rewritten = 0;  ///< read for that
  std::int64_t gaps = 0;             ///< requests that began beyond the end of the last one of the
                                     ///< same access
  std::int64_t bytes_gaps = 0;       ///< left out by them
  std::int64_t locks = 0;
  std::int64_t total_ns = 0;
  std::array<std::array<std::int64_t, kSizes>, 2> request_sizes{};  ///< of each direction
  std::array<std::int64_t, kPhases> phase_ns{};
  std::int64_t slowest_ns = 0;  ///< the greatest total of a rank
  std::int64_t memory = 0;      ///< the most buffer memory a rank held

  void add(const Tally& other);
  /// A request for `asked` bytes that moved `moved` of them.
  void count_request(Direction direction, std::int64_t asked, std::int64_t moved);
  std::span<const std::int64_t, kSizes> sizes(Direction direction) const {
    return request_sizes[static_cast<std::size_t>(direction)];
  }
  std::int64_t& time(Phase phase) { return phase_ns[static_cast<std::size_t>(phase)]; }
  std::int64_t time(Phase phase) const { return phase_ns[static_cast<std::size_t>(phase)]; }
};

/// The sums by name, in the order in which they are printed.
struct TallyField {
  const char* name;
  std::int64_t Tally::*sum;
};
std::span<const TallyField> tally_fields();

}  // namespace tamis
