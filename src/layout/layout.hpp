#pragma once

#include <cstdint>
#include <limits>

#include "layout/dataloop.hpp"
#include "layout/extent.hpp"

namespace tamis {

/// Where bytes are: copies of a dataloop, one extent apart, from a displacement on. One type for a
/// user's buffer (repeat = count) and for a file view (repeat = endless).
struct Layout {
  static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

  Dataloop loop;
  std::int64_t displacement = 0;  ///< offset of the first copy's origin
  std::int64_t repeat = 1;        ///< number of copies; kEndless for a view

  /// `n` bytes from `offset` on; n may be kEndless.
  static Layout contiguous(std::int64_t n, std::int64_t offset = 0);

  /// Bytes in the stream; kEndless for an endless layout with data, and where the number would not
  /// fit in 64 bits.
  std::int64_t size() const;
  /// One block from begin to end, copies included (so seeking is an addition).
  bool is_contiguous() const {
    return loop.is_contiguous() &&
           (repeat <= 1 || loop.size() == 0 || loop.extent() == loop.size());
  }
  /// Offsets strictly increase along the stream, copies included. Only ordered layouts can be
  /// searched by offset, exchanged with others and sieved.
  bool is_ordered() const;
  /// Offset of a byte of the stream. REQUIRES: 0 <= position < size(). O(depth * log).
  /// The largest 64-bit number where the offset is beyond it.
  std::int64_t offset_of(std::int64_t position) const {
    if (!is_contiguous()) return offset_in_loop(position);
    std::int64_t offset = 0;
    const bool too_far = __builtin_add_overflow(displacement, loop.first(), &offset) ||
                         __builtin_add_overflow(offset, position, &offset);
    return too_far ? std::numeric_limits<std::int64_t>::max() : offset;
  }
  /// Number of stream bytes that lie before `offset`. REQUIRES: is_ordered(). O(depth * log).
  std::int64_t position_of(std::int64_t offset) const;
  /// Smallest extent that holds stream bytes [first, first + n). REQUIRES: is_ordered(), n > 0.
  Extent span_of(std::int64_t first, std::int64_t n) const;
  /// About how many blocks the stream bytes [first, first + n) make: an estimate for cost models,
  /// exact for regular layouts, never walks.
  std::int64_t blocks_in(std::int64_t first, std::int64_t n) const;

 private:
  std::int64_t offset_in_loop(std::int64_t position) const;
};

}  // namespace tamis
