#include "layout/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "layout/move_blocks.hpp"

namespace tamis {
namespace {

/// A block, and those of a list that follow it.
template <typename Byte>
struct Pieces {
  Byte* base;
  Byte* at;           // the unread rest of the block
  std::int64_t left;  // bytes of it, at least one
  const Extent* next;
  const Extent* end;

  /// Passes bytes of the block; false where it was the last one and is used up.
  bool pass(std::int64_t bytes) {
    at += bytes;
    left -= bytes;
    if (left > 0) return true;
    if (next == end) return false;
    at = base + next->offset;
    left = next->length;
    ++next;
    return true;
  }
};

/// What is left of the run or the blocks a cursor gave, and the stream bytes it will give after
/// them.
template <typename Byte>
class Walk {
 public:
  Walk(Cursor& cursor, Byte* base, std::int64_t n) : cursor_(cursor), base_(base), left_(n) {}

  /// Makes sure that there is a run. REQUIRES: bytes are left.
  void refill() {
    if (count_ > 0) return;
    if (cursor_.in_list()) [[unlikely]]
      return list();
    const Run run = cursor_.next(left_);
    left_ -= run.bytes();
    at_ = base_ + run.offset;
    block_ = run.block;
    stride_ = run.stride;
    count_ = run.count;
  }
  void pass_blocks(std::int64_t n) {
    count_ -= n;
    if (count_ > 0)
      at_ += n * stride_;
    else if (next_ != end_) [[unlikely]]
      take_listed();
  }
  /// Passes bytes of the current block, at most all of them.
  void pass_bytes(std::int64_t n) {
    within_ += n;
    if (within_ < block_) return;
    within_ = 0;
    pass_blocks(1);
  }
  Byte* at() const { return at_ + within_; }
  std::int64_t in_block() const { return block_ - within_; }
  bool at_block_start() const { return within_ == 0; }
  std::int64_t stride() const { return stride_; }
  std::int64_t count() const { return count_; }
  /// More blocks of a list follow the current one.
  bool listed() const { return next_ != end_; }

  Pieces<Byte> pieces() const { return {base_, at(), in_block(), next_, end_}; }
  /// Goes on where a walk through pieces() has stopped.
  void resume(const Pieces<Byte>& pieces) {
    next_ = pieces.next;
    at_ = pieces.at;
    block_ = pieces.left;
    within_ = 0;
    count_ = pieces.left > 0 ? 1 : 0;
  }

 private:
  void list() {
    const std::size_t n = cursor_.next_blocks(listed_, left_);
    next_ = listed_.data();
    end_ = next_ + n;
    for (const Extent& block : std::span(listed_).first(n)) left_ -= block.length;
    take_listed();
  }
  void take_listed() {
    at_ = base_ + next_->offset;
    block_ = next_->length;
    count_ = 1;
    ++next_;
  }

  Cursor& cursor_;
  Byte* base_;
  std::int64_t left_;
  Byte* at_ = nullptr;  // start of the current block
  std::int64_t block_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t count_ = 0;  // 1 with blocks of a list
  std::int64_t within_ = 0;
  const Extent* next_ = nullptr;  // blocks that follow the current one
  const Extent* end_ = nullptr;
  std::array<Extent, 64> listed_;  // of a list; never touched otherwise
};

/// Moves as much as the two runs have in common by one kernel; returns the bytes moved.
/// A block that is longer than the other side's is, for those, contiguous memory.
std::int64_t move_common(Walk<std::byte>& to, Walk<const std::byte>& from) {
  const std::int64_t to_bytes = to.in_block();
  const std::int64_t from_bytes = from.in_block();
  if (to_bytes == from_bytes && to.at_block_start() && from.at_block_start()) {
    const std::int64_t n = std::min(to.count(), from.count());
    move_blocks({to.at(), from.at(), to.stride(), from.stride(), to_bytes, n});
    to.pass_blocks(n);
    from.pass_blocks(n);
    return n * to_bytes;
  }
  const std::int64_t block = std::min(to_bytes, from_bytes);
  std::int64_t n = 1;
  if (from_bytes < to_bytes && from.at_block_start() && from.count() > 1) {
    n = std::min(from.count(), to_bytes / block);
    move_blocks({to.at(), from.at(), block, from.stride(), block, n});
    from.pass_blocks(n);
    to.pass_bytes(n * block);
  } else if (to_bytes < from_bytes && to.at_block_start() && to.count() > 1) {
    n = std::min(to.count(), from_bytes / block);
    move_blocks({to.at(), from.at(), to.stride(), block, block, n});
    to.pass_blocks(n);
    from.pass_bytes(n * block);
  } else {
    move_piece(to.at(), from.at(), block);
    to.pass_bytes(block);
    from.pass_bytes(block);
  }
  return n * block;
}

/// The same where one side is a list, piece by piece. REQUIRES: no side is at equal blocks.
std::int64_t move_listed(Walk<std::byte>& to, Walk<const std::byte>& from) {
  Pieces<std::byte> target = to.pieces();
  Pieces<const std::byte> source = from.pieces();
  std::int64_t moved = 0;
  for (bool more = true; more;) {
    const std::int64_t bytes = std::min(target.left, source.left);
    move_piece(target.at, source.at, bytes);
    moved += bytes;
    const bool more_target = target.pass(bytes);
    const bool more_source = source.pass(bytes);
    more = more_target && more_source;
  }
  to.resume(target);
  from.resume(source);
  return moved;
}

constexpr auto kMarks = [] {
  std::array<std::byte, 128> all{};
  for (std::byte& mark : all) mark = std::byte{0xff};
  return all;
}();

}  // namespace

void copy_stream(Cursor& to, std::byte* to_base, Cursor& from, const std::byte* from_base,
                 std::int64_t n) {
  Walk<std::byte> target(to, to_base, n);
  Walk<const std::byte> source(from, from_base, n);
  while (n > 0) {
    target.refill();
    source.refill();
    if ((target.listed() || source.listed()) && target.count() == 1 && source.count() == 1)
        [[unlikely]]
      n -= move_listed(target, source);
    else
      n -= move_common(target, source);
  }
}

void mark_stream(Cursor& to, std::byte* to_base, std::int64_t n) {
  while (n > 0) {
    const Run run = to.next(n);
    n -= run.bytes();
    std::byte* const begin = to_base + run.offset;
    // Every block is the same as the one before: its source stands still.
    if (run.block < std::ssize(kMarks)) {
      move_blocks({begin, kMarks.data(), run.stride, 0, run.block, run.count});
      continue;
    }
    for (std::int64_t i = 0; i < run.count; ++i)
      std::memset(begin + i * run.stride, 0xff, static_cast<std::size_t>(run.block));
  }
}

}  // namespace tamis
