#include "layout/move_blocks.hpp"

namespace tamis {
namespace {

/// Blocks of exactly Bytes: constant sizes become plain loads and stores.
template <std::size_t Bytes>
void move_fixed(const BlockMove& b) {
  std::byte* to = b.to;
  const std::byte* from = b.from;
  for (std::int64_t i = 0; i < b.count; ++i, to += b.to_stride, from += b.from_stride)
    std::memcpy(to, from, Bytes);
}

template <std::size_t Bytes>
void move_twice(const BlockMove& b) {
  std::byte* to = b.to;
  const std::byte* from = b.from;
  for (std::int64_t i = 0; i < b.count; ++i, to += b.to_stride, from += b.from_stride)
    move_ends<Bytes>(to, from, b.block);
}

void move_large(const BlockMove& b) {
  for (std::int64_t i = 0; i < b.count; ++i)
    std::memcpy(b.to + i * b.to_stride, b.from + i * b.from_stride,
                static_cast<std::size_t>(b.block));
}

}  // namespace

void move_blocks(const BlockMove& b) {
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
  if (b.block <= kMostInline) return move_twice<64>(b);
  move_large(b);
}

}  // namespace tamis
