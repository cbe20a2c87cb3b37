#include <numeric>
#include <utility>

#include "layout/cursor.hpp"
#include "layout/loop_node.hpp"

namespace tamis {
namespace {

// The true extent of a whole dataloop fits in 64 bits, so do those of its parts and its strides.
std::int64_t true_extent(const LoopFacts& facts) { return facts.true_ub - facts.true_lb; }

struct Stride {
  std::int64_t step;
  std::int64_t count;
};

/// A nest of vectors, in whatever order its loops run, does not overlap if every stride, from the
/// smallest on, clears what the smaller ones span: transposed arrays are such nests.
/// True if that is so; `core` gets the shape inside the nest.
bool nest_is_clear(const Shape& shape, Shape& core) {
  std::vector<Stride> strides;
  core = shape;
  while (core.node != nullptr && core.node->kind == LoopKind::vector) {
    const std::int64_t stride = core.node->stride;
    strides.push_back({stride < 0 ? -stride : stride, core.node->count});
    core = core.node->shape_at(0);
  }
  std::sort(strides.begin(), strides.end(),
            [](const Stride& a, const Stride& b) { return a.step < b.step; });
  std::int64_t span = true_extent(core.facts());
  for (const Stride& stride : strides) {
    if (stride.step < span) return false;
    span += stride.step * (stride.count - 1);
  }
  return true;
}

/// Entries of a list as ranges from lowest to highest byte: none meets another.
bool ranges_are_apart(const Dataloop::Node& node) {
  std::vector<Extent> ranges;
  ranges.reserve(node.offsets.size());
  for (std::size_t i = 0; i < node.offsets.size(); ++i) {
    const LoopFacts facts = node.shape_at(i).facts();
    ranges.push_back(between(node.offsets[i] + facts.true_lb, node.offsets[i] + facts.true_ub));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].offset < ranges[i - 1].end()) return false;
  return true;
}

bool any_entry_overlaps(const Dataloop::Node& node) {
  if (node.kind != LoopKind::structure) return overlaps(node.shape_at(0));
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (overlaps(node.shape_at(i))) return true;
  return false;
}

void list_blocks(const Shape& shape, std::int64_t origin, std::vector<Extent>& blocks) {
  if (shape.node == nullptr) {
    blocks.push_back({origin, shape.size});
    return;
  }
  const Dataloop::Node& node = *shape.node;
  for (std::int64_t i = 0; i < node.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t offset = node.kind == LoopKind::vector ? i * node.stride : node.offsets[at];
    list_blocks(node.shape_at(at), origin + offset, blocks);
  }
}

bool blocks_overlap(const Shape& shape) {
  std::vector<Extent> blocks;
  list_blocks(shape, 0, blocks);
  std::sort(blocks.begin(), blocks.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (blocks[i].offset < blocks[i - 1].end()) return true;
  return false;
}

}  // namespace

bool overlaps(const Shape& shape) {
  if (shape.node == nullptr) return false;
  const LoopFacts& facts = shape.node->facts;
  if (facts.ordered) return false;
  if (facts.size > true_extent(facts)) return true;
  if (shape.node->kind == LoopKind::vector) {
    Shape core;
    if (nest_is_clear(shape, core)) return overlaps(core);
  } else if (ranges_are_apart(*shape.node)) {
    return any_entry_overlaps(*shape.node);
  }
  return blocks_overlap(shape);
}

}  // namespace tamis
