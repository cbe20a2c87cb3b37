#include "drivers/memory/memory_file.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace tamis {

MemoryFile::Page& MemoryFile::page_at(std::int64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

Outcome MemoryFile::transfer(Direction direction, const Transfer& transfer) {
  const std::lock_guard guard(mutex_);
  return direction == Direction::read ? read(transfer) : write(transfer);
}

Outcome MemoryFile::read(const Transfer& transfer) const {
  const Extent there = intersect(transfer.file, {0, size_});
  std::int64_t done = 0;
  while (done < there.length) {
    const std::int64_t offset = there.offset + done;
    const std::int64_t within = offset % kPageBytes;
    const std::int64_t bytes = std::min(there.length - done, kPageBytes - within);
    const auto page = pages_.find(offset / kPageBytes);
    if (page == pages_.end() || !page->second) {
      std::memset(transfer.memory + done, 0, static_cast<std::size_t>(bytes));
    } else {
      std::memcpy(transfer.memory + done, page->second->data() + within,
                  static_cast<std::size_t>(bytes));
    }
    done += bytes;
  }
  return {.bytes = done, .status = {}};
}

Outcome MemoryFile::write(const Transfer& transfer) {
  const Extent room = intersect(transfer.file, {0, options_.capacity});
  Outcome outcome;
  try {
    while (outcome.bytes < room.length) {
      const std::int64_t offset = room.offset + outcome.bytes;
      const std::int64_t within = offset % kPageBytes;
      const std::int64_t bytes = std::min(room.length - outcome.bytes, kPageBytes - within);
      std::memcpy(page_at(offset / kPageBytes).data() + within, transfer.memory + outcome.bytes,
                  static_cast<std::size_t>(bytes));
      outcome.bytes += bytes;
      size_ = std::max(size_, offset + bytes);
    }
  } catch (const std::bad_alloc&) {
    outcome.status = {.code = Errc::no_memory, .offset = room.offset + outcome.bytes};
    return outcome;
  }
  if (outcome.bytes < transfer.file.length) {
    outcome.status = {.code = Errc::no_space,
                      .offset = transfer.file.offset + outcome.bytes,
                      .note = "the capacity of the memory storage is used up"};
  }
  return outcome;
}

std::int64_t MemoryFile::size() {
  const std::lock_guard guard(mutex_);
  return size_;
}

void MemoryFile::resize(std::int64_t bytes) {
  const std::lock_guard guard(mutex_);
  if (bytes < size_) {
    const std::int64_t last = bytes / kPageBytes;
    pages_.erase(pages_.upper_bound(last), pages_.end());
    if (const auto page = pages_.find(last); page != pages_.end() && page->second) {
      std::fill(page->second->begin() + bytes % kPageBytes, page->second->end(), std::byte{0});
    }
  }
  size_ = bytes;
}

Status MemoryFile::preallocate(std::int64_t bytes) {
  if (bytes > options_.capacity) {
    return {.code = Errc::no_space,
            .offset = options_.capacity,
            .note = "the capacity of the memory storage is used up"};
  }
  const std::lock_guard guard(mutex_);
  size_ = std::max(size_, bytes);
  return {};
}

}  // namespace tamis
