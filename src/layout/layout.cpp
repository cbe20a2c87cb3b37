#include "layout/layout.hpp"

#include <algorithm>

#include "layout/cursor.hpp"
#include "layout/loop_node.hpp"

namespace tamis {
namespace {

using Wide = __int128;  // products and sums of offsets that may leave 64 bits

std::int64_t saturate(Wide value) {
  constexpr Wide low = std::numeric_limits<std::int64_t>::min();
  constexpr Wide high = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, low, high));
}

/// Number of the block (along the stream) that holds stream byte `position` of the shape.
/// In structures, whose parts differ, interpolated.
std::int64_t block_at(const Dataloop::Node* node, std::int64_t position) {
  std::int64_t before = 0;
  while (node != nullptr) {
    if (node->kind == LoopKind::structure)
      return before +
             static_cast<std::int64_t>(Wide{position} * node->facts.blocks / node->facts.size);
    if (node->kind == LoopKind::indexed) {
      const auto above = std::upper_bound(node->prefix.begin(), node->prefix.end(), position);
      return before + (above - node->prefix.begin()) - 1;
    }
    const std::int64_t child_blocks = node->child ? node->child->facts.blocks : 1;
    before += position / node->block * child_blocks;
    position %= node->block;
    node = node->child.get();
  }
  return before;
}

}  // namespace

Layout Layout::contiguous(std::int64_t n, std::int64_t offset) {
  return {.loop = Dataloop::bytes(n), .displacement = offset, .repeat = 1};
}

std::int64_t Layout::size() const {
  if (loop.size() == 0) return 0;
  return saturate(Wide{loop.size()} * repeat);
}

bool Layout::is_ordered() const {
  if (size() == 0) return true;
  if (!loop.is_ordered()) return false;
  // Gaps between copies: an ordered dataloop has its lowest byte first and its highest last.
  return repeat <= 1 || loop.extent() >= loop.true_ub() - loop.true_lb();
}

std::int64_t Layout::offset_in_loop(std::int64_t position) const {
  const std::int64_t copy = repeat == 1 ? 0 : position / loop.size();
  std::int64_t rest = position - copy * loop.size();
  Wide offset = Wide{displacement} + loop.first() + Wide{copy} * loop.extent();
  const Dataloop::Node* node = loop.root();
  while (node != nullptr) {
    if (node->kind == LoopKind::vector) {
      offset += Wide{rest / node->block} * node->stride;
      rest %= node->block;
      node = node->child.get();
    } else if (node->kind == LoopKind::blockindexed) {
      offset += node->offsets[static_cast<std::size_t>(rest / node->block)];
      rest %= node->block;
      node = node->child.get();
    } else {
      const auto above = std::upper_bound(node->prefix.begin(), node->prefix.end(), rest);
      const auto i = static_cast<std::size_t>(above - node->prefix.begin()) - 1;
      offset += node->offsets[i];
      rest -= node->prefix[i];
      node = node->shape_at(i).node.get();
    }
  }
  return saturate(offset + rest);
}

std::int64_t Layout::position_of(std::int64_t offset) const {
  if (size() == 0) return 0;
  const std::int64_t relative = saturate(Wide{offset} - displacement - loop.first());
  if (relative <= 0) return 0;
  const std::int64_t copy = repeat == 1 ? 0 : std::min(relative / loop.extent(), repeat - 1);
  const std::int64_t inside = relative - copy * loop.extent();
  const Dataloop::Node* root = loop.root();
  const std::int64_t before =
      root == nullptr ? std::min(inside, loop.size()) : loop_bytes_before(*root, inside);
  return saturate(Wide{copy} * loop.size() + before);
}

Extent Layout::span_of(std::int64_t first, std::int64_t n) const {
  return between(offset_of(first), offset_of(first + n - 1) + 1);
}

std::int64_t Layout::blocks_in(std::int64_t first, std::int64_t n) const {
  if (n <= 0) return 0;
  if (is_contiguous()) return 1;
  const auto block = [this](std::int64_t position) {
    const std::int64_t copy = position / loop.size();
    return Wide{copy} * loop.blocks() + block_at(loop.root(), position % loop.size());
  };
  return saturate(block(first + n - 1) - block(first) + 1);
}

}  // namespace tamis
