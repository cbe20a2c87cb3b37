#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// The innermost loops of copy_stream. For the layout room only.
namespace tamis {

/// Equal blocks at strides on both sides. Blocks of one side may lie back to back.
struct BlockMove {
  std::byte* to;
  const std::byte* from;
  std::int64_t to_stride;
  std::int64_t from_stride;
  std::int64_t block;
  std::int64_t count;
};

void move_blocks(const BlockMove& move);

/// Sizes up to which a piece is moved without a call.
inline constexpr std::int64_t kMostInline = 128;

/// Bytes to 2 * Bytes by two moves that may overlap. Copies of whole words stay in registers.
template <std::size_t Bytes>
void move_ends(std::byte* to, const std::byte* from, std::int64_t bytes) {
  using Word = std::uint64_t __attribute__((vector_size(16)));
  constexpr std::size_t kWords = Bytes / sizeof(Word);
  const auto tail = bytes - static_cast<std::int64_t>(Bytes);
  if constexpr (kWords > 0) {
    Word low[kWords];
    Word high[kWords];
    for (std::size_t i = 0; i < kWords; ++i) {
      std::memcpy(&low[i], from + i * sizeof(Word), sizeof(Word));
      std::memcpy(&high[i], from + tail + i * sizeof(Word), sizeof(Word));
    }
    for (std::size_t i = 0; i < kWords; ++i) {
      std::memcpy(to + i * sizeof(Word), &low[i], sizeof(Word));
      std::memcpy(to + tail + i * sizeof(Word), &high[i], sizeof(Word));
    }
  } else {
    std::byte low[Bytes];
    std::byte high[Bytes];
    std::memcpy(low, from, Bytes);
    std::memcpy(high, from + tail, Bytes);
    std::memcpy(to, low, Bytes);
    std::memcpy(to + tail, high, Bytes);
  }
}

/// One piece of any size. REQUIRES: bytes >= 1.
inline void move_piece(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > kMostInline)
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  else if (bytes > 64)
    move_ends<64>(to, from, bytes);
  else if (bytes > 32)
    move_ends<32>(to, from, bytes);
  else if (bytes > 16)
    move_ends<16>(to, from, bytes);
  else if (bytes > 8)
    move_ends<8>(to, from, bytes);
  else if (bytes > 4)
    move_ends<4>(to, from, bytes);
  else if (bytes > 2)
    move_ends<2>(to, from, bytes);
  else
    move_ends<1>(to, from, bytes);
}

}  // namespace tamis
