#include <set>
#include <utility>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

// Pairs found equal, so that shared subtrees are compared once and not once per path to them.
using KnownEqual = std::set<std::pair<const Dataloop::Node*, const Dataloop::Node*>>;

bool equal(const Dataloop::Node* a, const Dataloop::Node* b, KnownEqual& known) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->count != b->count) return false;
  if (a->facts.size != b->facts.size || a->facts.depth != b->facts.depth) return false;
  if (a->facts.blocks != b->facts.blocks || a->facts.true_ub != b->facts.true_ub) return false;
  if (known.contains({a, b})) return true;
  if (a->stride != b->stride || a->block != b->block) return false;
  if (a->offsets != b->offsets || a->prefix != b->prefix) return false;
  if (!equal(a->child.get(), b->child.get(), known)) return false;
  for (std::size_t i = 0; i < a->children.size(); ++i)
    if (!equal(a->children[i].get(), b->children[i].get(), known)) return false;
  known.insert({a, b});
  return true;
}

}  // namespace

LoopFacts Shape::facts() const {
  if (node) return node->facts;
  return {.size = size, .true_ub = size, .blocks = size > 0 ? 1 : 0};
}

bool Shape::operator==(const Shape& other) const {
  if (size != other.size) return false;
  KnownEqual known;
  return equal(node.get(), other.node.get(), known);
}

bool all_same_shape(std::span<const Placed> entries) {
  KnownEqual known;
  for (const Placed& entry : entries) {
    const Shape& first = entries.front().shape;
    if (entry.shape.size != first.size) return false;
    if (!equal(entry.shape.node.get(), first.node.get(), known)) return false;
  }
  return true;
}

std::int64_t loop_bytes_before(const Dataloop::Node& root, std::int64_t offset) {
  const Dataloop::Node* node = &root;
  std::int64_t size = root.facts.size;
  std::int64_t before = 0;
  // Ordered shapes have their lowest byte first, at 0; so iteration i is the one that decides
  // where i is the last that starts at or before `offset`.
  while (offset > 0 && node != nullptr) {
    if (offset >= node->facts.true_ub) return before + size;
    std::size_t i = 0;
    if (node->kind == LoopKind::vector) {
      const std::int64_t index = std::min(offset / node->stride, node->count - 1);
      before += index * node->block;
      offset -= index * node->stride;
    } else {
      const auto above = std::upper_bound(node->offsets.begin(), node->offsets.end(), offset);
      i = static_cast<std::size_t>(above - node->offsets.begin()) - 1;
      before += node->kind == LoopKind::blockindexed ? static_cast<std::int64_t>(i) * node->block
                                                     : node->prefix[i];
      offset -= node->offsets[i];
    }
    switch (node->kind) {
      case LoopKind::indexed:
        size = node->prefix[i + 1] - node->prefix[i];
        node = nullptr;
        break;
      case LoopKind::structure:
        size = node->prefix[i + 1] - node->prefix[i];
        node = node->children[i].get();
        break;
      default:
        size = node->block;
        node = node->child.get();
    }
  }
  return before + std::clamp<std::int64_t>(offset, 0, size);
}

}  // namespace tamis
