#include "engine/read_ahead.hpp"

#include <algorithm>
#include <limits>

#include "base/attempt.hpp"
#include "layout/pack.hpp"

namespace tamis {

/// Without memory nothing is read ahead; the program's read goes on as it would.
bool ReadAhead::take_memory() {
  if (memory_ != nullptr) return true;
  return attempt([&] {
           memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
           return Status{};
         })
      .ok();
}

Access ReadAhead::wide(const Access& access, const Layout& flat) const {
  Access wide = access;
  wide.buffer = memory_.get();
  wide.memory = &flat;
  wide.bytes = std::min(bytes_, access.file->size() - access.first);
  const std::int64_t last = access.file->offset_of(access.first + wide.bytes - 1);
  // Much more than was asked for, or nothing; and not beyond what offsets can say.
  const bool useful = access.bytes <= wide.bytes / 2;
  if (!useful || last == std::numeric_limits<std::int64_t>::max()) wide.bytes = 0;
  return wide;
}

void ReadAhead::give(const Access& access) const {
  const Layout flat = Layout::contiguous(bytes_);
  Cursor held(flat, access.first - first_);
  Cursor memory(*access.memory);
  copy_stream(memory, access.buffer, held, memory_.get(), access.bytes);
}

}  // namespace tamis
