#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/cursor.hpp"

namespace tamis {

/// The joint walk that moves bytes: the next `n` stream bytes of `from` go to the next `n` stream
/// bytes of `to`. A byte at offset o of a layout lies at base + o. Both cursors advance by n.
/// Kernels serve the common shapes (small fixed blocks at a stride, contiguous against strided,
/// equal blocks, index lists) without a memcpy call per tiny piece.
/// REQUIRES: both have n bytes left; the memories do not overlap.
/// HOT PATH: allocates nothing. Benchmark: bench_pack.
void copy_stream(Cursor& to, std::byte* to_base, Cursor& from, const std::byte* from_base,
                 std::int64_t n);

/// Puts 0xff into the next `n` stream bytes of a layout in memory. REQUIRES: it has n bytes left.
/// HOT PATH: allocates nothing.
void mark_stream(Cursor& to, std::byte* to_base, std::int64_t n);

}  // namespace tamis
