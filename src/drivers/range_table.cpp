#include "drivers/range_table.hpp"

#include <algorithm>
#include <new>

#include "base/checked.hpp"

namespace tamis {

bool is_file_range(const Extent& range) {
  return range.offset >= 0 && range.length >= 0 &&
         checked_add(range.offset, range.length).has_value();
}

bool RangeTable::conflicts(const Extent& range, LockKind kind) const {
  return std::ranges::any_of(held_, [&](const Held& held) {
    const bool both_shared = kind == LockKind::shared && held.kind == LockKind::shared;
    return !both_shared && !intersect(held.range, range).empty();
  });
}

Status RangeTable::acquire(const void* owner, const Extent& range, LockKind kind, LockWait wait) {
  std::unique_lock guard(mutex_);
  if (wait == LockWait::refuse && conflicts(range, kind)) {
    return failure(Errc::internal, "a lock would wait where nobody could end the wait");
  }
  freed_.wait(guard, [&] { return !conflicts(range, kind); });
  try {
    held_.push_back({owner, range, kind});
  } catch (const std::bad_alloc&) {
    return failure(Errc::no_memory, "no memory to note a lock");
  }
  return {};
}

/// The first piece of `range` that is in no held range; empty where there is none.
Extent RangeTable::first_free(const Extent& range) const {
  std::int64_t begin = range.offset;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Held& held : held_) {
      if (!held.range.contains(begin)) continue;
      begin = held.range.end();
      moved = true;
    }
  }
  std::int64_t end = std::max(begin, range.end());
  for (const Held& held : held_) {
    if (held.range.offset > begin) end = std::min(end, held.range.offset);
  }
  return begin < range.end() ? between(begin, end) : Extent{range.end(), 0};
}

Status RangeTable::release(const void* owner, const Extent& range,
                           const std::function<Status(const Extent&)>& on_free) {
  Status status;
  {
    const std::lock_guard guard(mutex_);
    const auto found = std::ranges::find_if(
        held_, [&](const Held& held) { return held.owner == owner && held.range == range; });
    if (found == held_.end()) {
      return failure(Errc::internal, "a range was unlocked that is not locked");
    }
    held_.erase(found);
    Extent piece = on_free ? first_free(range) : Extent{};
    while (!piece.empty()) {
      status.keep_first(on_free(piece));
      piece = first_free(between(piece.end(), range.end()));
    }
  }
  freed_.notify_all();
  return status;
}

void RangeTable::release_all(const void* owner) {
  {
    const std::lock_guard guard(mutex_);
    std::erase_if(held_, [&](const Held& held) { return held.owner == owner; });
  }
  freed_.notify_all();
}

}  // namespace tamis
