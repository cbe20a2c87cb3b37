#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "layout/dataloop.hpp"

// The tree behind a Dataloop. For the layout room only.
namespace tamis {

using NodePtr = std::shared_ptr<const Dataloop::Node>;

/// What is known of a shape without walking it. Offsets are relative to the first stream byte.
struct LoopFacts {
  std::int64_t size = 0;
  std::int64_t true_lb = 0;
  std::int64_t true_ub = 0;
  std::int64_t last_start = 0;  ///< where the last block of the stream starts
  std::int64_t blocks = 0;
  int depth = 0;  ///< loops from here to a contiguous block
  bool ordered = true;
  bool monotonic = true;
};

/// Where the bytes of a dataloop are relative to its first stream byte, which is at 0. Shapes that
/// differ by a displacement only are thereby equal, and the tree needs no loops of one iteration.
struct Shape {
  NodePtr node;           ///< nullptr: one block of `size` bytes
  std::int64_t size = 0;  ///< bytes; 0: nothing

  LoopFacts facts() const;
  bool operator==(const Shape& other) const;
};

/// A shape whose first stream byte is at `offset`.
struct Placed {
  std::int64_t offset = 0;
  Shape shape;
};

/// One loop. count >= 2; the first iteration is at 0.
///   vector        count copies of child, `stride` apart
///   blockindexed  child at each of offsets[]
///   indexed       blocks of prefix[i + 1] - prefix[i] bytes at offsets[i]
///   structure     children[i] at offsets[i]; its stream bytes start at prefix[i]
/// LoopKind::contig is no node: a missing child is a contiguous block.
struct Dataloop::Node {
  LoopKind kind = LoopKind::vector;
  LoopFacts facts;
  std::int64_t count = 0;
  std::int64_t stride = 0;            ///< vector
  std::int64_t block = 0;             ///< vector, blockindexed: size of the child
  NodePtr child;                      ///< vector, blockindexed; nullptr: `block` contiguous bytes
  std::vector<std::int64_t> offsets;  ///< blockindexed, indexed, structure
  std::vector<std::int64_t> prefix;   ///< indexed, structure: count + 1 sums of sizes
  std::vector<NodePtr> children;      ///< structure; nullptr: contiguous bytes

  /// Shape of iteration `i`.
  Shape shape_at(std::size_t i) const {
    if (kind == LoopKind::vector || kind == LoopKind::blockindexed) return {child, block};
    return {kind == LoopKind::structure ? children[i] : nullptr, prefix[i + 1] - prefix[i]};
  }
};

/// Sums and products that remember whether one of them left 64 bits.
class Arithmetic {
 public:
  std::int64_t add(std::int64_t a, std::int64_t b) { return keep(checked_add(a, b)); }
  std::int64_t mul(std::int64_t a, std::int64_t b) { return keep(checked_mul(a, b)); }
  std::int64_t sub(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) return fail();
    return result;
  }
  std::int64_t fail() {
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }

 private:
  std::int64_t keep(std::optional<std::int64_t> value) { return value ? *value : fail(); }
  bool ok_ = true;
};

/// All entries have the same shape, wherever it is. Time proportional to the description.
bool all_same_shape(std::span<const Placed> entries);

// Makers of normal forms. Results are meaningless once `math` is not ok.

/// `count` copies, `stride` apart. REQUIRES: count >= 0.
Shape make_vector(std::int64_t count, std::int64_t stride, const Shape& child, Arithmetic& math);
/// The same shape at each offset.
Placed make_list(std::vector<std::int64_t> offsets, const Shape& child, Arithmetic& math);
/// Contiguous blocks. REQUIRES: lengths >= 0, as many as offsets.
Placed make_runs(std::vector<std::int64_t> offsets, std::vector<std::int64_t> lengths,
                 Arithmetic& math);
/// Any shapes, one after the other.
Placed make_structure(std::vector<Placed> entries, Arithmetic& math);

/// Number of stream bytes of the loop before `offset`. REQUIRES: the loop is ordered.
std::int64_t loop_bytes_before(const Dataloop::Node& root, std::int64_t offset);

/// No two stream bytes share an offset (see Dataloop::overlaps_itself).
bool overlaps(const Shape& shape);

}  // namespace tamis
