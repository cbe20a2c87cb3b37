#pragma once

#include <cstddef>
#include <cstdint>

#include "base/direction.hpp"
#include "base/status.hpp"
#include "layout/layout.hpp"

namespace tamis {

/// What one rank asks of the file: two layouts, a direction, a range of the view's stream.
/// Nothing on how. The layouts must outlive it.
struct Access {
  Direction direction = Direction::read;
  std::byte* buffer = nullptr;     ///< what memory offset 0 means
  const Layout* memory = nullptr;  ///< its stream is moved from position 0 on
  const Layout* file = nullptr;    ///< the view
  std::int64_t first = 0;          ///< stream position in the view
  std::int64_t bytes = 0;          ///< length of the range
  Status error;                    ///< an error the rank arrived with; bytes is 0 then

  /// The part of the file between its first and its last byte. REQUIRES: bytes > 0, file ordered.
  Extent span() const { return file->span_of(first, bytes); }
};

}  // namespace tamis
