#include "layout/pack.hpp"

#include <algorithm>
#include <cstring>

namespace tamis {
namespace {

/// Equal blocks at strides on both sides. Blocks of one side may lie back to back.
struct Blocks {
  std::byte* to;
  const std::byte* from;
  std::int64_t to_stride;
  std::int64_t from_stride;
  std::int64_t block;
  std::int64_t count;
};

/// Blocks of exactly Bytes: constant sizes become plain loads and stores.
template <std::size_t Bytes>
void move_fixed(const Blocks& b) {
  std::byte* to = b.to;
  const std::byte* from = b.from;
  for (std::int64_t i = 0; i < b.count; ++i, to += b.to_stride, from += b.from_stride)
    std::memcpy(to, from, Bytes);
}

/// Blocks of Bytes to 2 * Bytes: two moves that may overlap.
template <std::size_t Bytes>
void move_twice(const Blocks& b) {
  struct Half {
    std::byte bytes[Bytes];
  };
  const auto tail = b.block - static_cast<std::int64_t>(Bytes);
  std::byte* to = b.to;
  const std::byte* from = b.from;
  for (std::int64_t i = 0; i < b.count; ++i, to += b.to_stride, from += b.from_stride) {
    Half low;
    Half high;
    std::memcpy(&low, from, Bytes);
    std::memcpy(&high, from + tail, Bytes);
    std::memcpy(to, &low, Bytes);
    std::memcpy(to + tail, &high, Bytes);
  }
}

void move_large(const Blocks& b) {
  for (std::int64_t i = 0; i < b.count; ++i)
    std::memcpy(b.to + i * b.to_stride, b.from + i * b.from_stride,
                static_cast<std::size_t>(b.block));
}

void move_blocks(const Blocks& b) {
  switch (b.block) {
    case 1:
      return move_fixed<1>(b);
    case 2:
      return move_fixed<2>(b);
    case 4:
      return move_fixed<4>(b);
    case 8:
      return move_fixed<8>(b);
    case 16:
      return move_fixed<16>(b);
    case 32:
      return move_fixed<32>(b);
    case 64:
      return move_fixed<64>(b);
    default:
      break;
  }
  if (b.block < 4) return move_twice<2>(b);
  if (b.block < 8) return move_twice<4>(b);
  if (b.block < 16) return move_twice<8>(b);
  if (b.block < 32) return move_twice<16>(b);
  if (b.block < 64) return move_twice<32>(b);
  if (b.block < 128) return move_twice<64>(b);
  move_large(b);
}

/// What is left of the run a cursor gave, and the stream bytes it will give after it.
template <typename Byte>
class Walk {
 public:
  Walk(Cursor& cursor, Byte* base, std::int64_t n) : cursor_(cursor), base_(base), left_(n) {}

  /// Makes sure that there is a run. REQUIRES: bytes are left.
  void refill() {
    if (count_ > 0) return;
    const Run run = cursor_.next(left_);
    left_ -= run.bytes();
    at_ = base_ + run.offset;
    block_ = run.block;
    stride_ = run.stride;
    count_ = run.count;
  }
  void pass_blocks(std::int64_t n) {
    count_ -= n;
    if (count_ > 0) at_ += n * stride_;
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

 private:
  Cursor& cursor_;
  Byte* base_;
  std::int64_t left_;
  Byte* at_ = nullptr;  // start of the current block
  std::int64_t block_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t count_ = 0;
  std::int64_t within_ = 0;
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
    std::memcpy(to.at(), from.at(), static_cast<std::size_t>(block));
    to.pass_bytes(block);
    from.pass_bytes(block);
  }
  return n * block;
}

}  // namespace

void copy_stream(Cursor& to, std::byte* to_base, Cursor& from, const std::byte* from_base,
                 std::int64_t n) {
  Walk<std::byte> target(to, to_base, n);
  Walk<const std::byte> source(from, from_base, n);
  while (n > 0) {
    target.refill();
    source.refill();
    n -= move_common(target, source);
  }
}

}  // namespace tamis
