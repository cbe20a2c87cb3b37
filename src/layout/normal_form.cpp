#include <limits>
#include <utility>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

Shape finish(Dataloop::Node node, Arithmetic& math) {
  if (node.facts.depth > kMaxLoopDepth) math.fail();
  const std::int64_t size = node.facts.size;
  return {std::make_shared<const Dataloop::Node>(std::move(node)), size};
}

LoopFacts vector_facts(std::int64_t count, std::int64_t stride, const LoopFacts& child,
                       Arithmetic& math) {
  const std::int64_t last = math.mul(count - 1, stride);
  return {.size = math.mul(count, child.size),
          .true_lb = math.add(child.true_lb, std::min<std::int64_t>(last, 0)),
          .true_ub = math.add(child.true_ub, std::max<std::int64_t>(last, 0)),
          .last_start = math.add(child.last_start, last),
          .blocks = math.mul(count, child.blocks),
          .depth = child.depth + 1,
          .ordered = child.ordered && stride >= child.true_ub,
          .monotonic = child.monotonic && stride >= child.last_start};
}

/// Facts of a list of shapes, put together entry by entry.
class ListFacts {
 public:
  void add(std::int64_t offset, const LoopFacts& child, Arithmetic& math) {
    if (total_.size > 0) {
      total_.ordered = total_.ordered && offset >= end_;
      total_.monotonic = total_.monotonic && offset >= total_.last_start;
    }
    total_.ordered = total_.ordered && child.ordered;
    total_.monotonic = total_.monotonic && child.monotonic;
    end_ = math.add(offset, child.true_ub);
    total_.true_lb = std::min(total_.true_lb, math.add(offset, child.true_lb));
    total_.true_ub = std::max(total_.true_ub, end_);
    total_.last_start = math.add(offset, child.last_start);
    total_.size = math.add(total_.size, child.size);
    total_.blocks = math.add(total_.blocks, child.blocks);
    total_.depth = std::max(total_.depth, child.depth + 1);
  }
  const LoopFacts& total() const { return total_; }

 private:
  LoopFacts total_;
  std::int64_t end_ = 0;
};

/// Facts of the same shape at each of some offsets, of which the first is 0: the same as ListFacts
/// of them, in a few steps for each.
LoopFacts equal_facts(const std::vector<std::int64_t>& offsets, const LoopFacts& child,
                      Arithmetic& math) {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  __int128 least_gap = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    lowest = std::min(lowest, offsets[i]);
    highest = std::max(highest, offsets[i]);
    least_gap = std::min(least_gap, static_cast<__int128>(offsets[i]) - offsets[i - 1]);
  }
  const auto count = static_cast<std::int64_t>(offsets.size());
  return {.size = math.mul(count, child.size),
          .true_lb = math.add(lowest, child.true_lb),
          .true_ub = math.add(highest, child.true_ub),
          .last_start = math.add(offsets.back(), child.last_start),
          .blocks = math.mul(count, child.blocks),
          .depth = child.depth + 1,
          .ordered = child.ordered && least_gap >= child.true_ub,
          .monotonic = child.monotonic && least_gap >= child.last_start};
}

/// Makes offsets relative to the first one, which is returned.
std::int64_t rebase(std::vector<std::int64_t>& offsets, Arithmetic& math) {
  const std::int64_t first = offsets.front();
  for (std::int64_t& offset : offsets) offset = math.sub(offset, first);
  return first;
}

bool constant_stride(const std::vector<std::int64_t>& offsets) {
  const std::int64_t stride = offsets[1];  // offsets[0] is 0
  for (std::size_t i = 2; i < offsets.size(); ++i)
    if (checked_add(offsets[i - 1], stride) != offsets[i]) return false;
  return true;
}

/// A list of equal shapes of which no two touch. REQUIRES: offsets not empty.
Placed equal_list(std::vector<std::int64_t> offsets, const Shape& child, Arithmetic& math) {
  const std::int64_t first = rebase(offsets, math);
  if (offsets.size() == 1) return {first, child};
  const LoopFacts facts = equal_facts(offsets, child.facts(), math);
  if (!math.ok()) return {};
  if (constant_stride(offsets)) {
    const auto count = static_cast<std::int64_t>(offsets.size());
    return {first, make_vector(count, offsets[1], child, math)};
  }
  Dataloop::Node node;
  node.kind = LoopKind::blockindexed;
  node.facts = facts;
  node.count = static_cast<std::int64_t>(offsets.size());
  node.block = child.size;
  node.child = child.node;
  offsets.shrink_to_fit();
  node.offsets = std::move(offsets);
  return {first, finish(std::move(node), math)};
}

/// Contiguous blocks of different lengths of which no two touch.
Placed indexed_list(std::vector<std::int64_t> offsets, const std::vector<std::int64_t>& lengths,
                    Arithmetic& math) {
  const std::int64_t first = rebase(offsets, math);
  ListFacts facts;
  std::vector<std::int64_t> prefix{0};
  prefix.reserve(lengths.size() + 1);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    facts.add(offsets[i], Shape{nullptr, lengths[i]}.facts(), math);
    prefix.push_back(facts.total().size);
  }
  if (!math.ok()) return {};
  Dataloop::Node node;
  node.kind = LoopKind::indexed;
  node.facts = facts.total();
  node.count = static_cast<std::int64_t>(offsets.size());
  offsets.shrink_to_fit();
  node.offsets = std::move(offsets);
  node.prefix = std::move(prefix);
  return {first, finish(std::move(node), math)};
}

/// Drops empty blocks and joins those that touch, in place.
void join_touching(std::vector<std::int64_t>& offsets, std::vector<std::int64_t>& lengths,
                   Arithmetic& math) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (kept > 0 && math.add(offsets[kept - 1], lengths[kept - 1]) == offsets[i]) {
      lengths[kept - 1] = math.add(lengths[kept - 1], lengths[i]);
      continue;
    }
    offsets[kept] = offsets[i];
    lengths[kept++] = lengths[i];
  }
  offsets.resize(kept);
  lengths.resize(kept);
}

/// Drops empty entries and joins contiguous ones that touch, in place.
void join_touching(std::vector<Placed>& entries, Arithmetic& math) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].shape.size == 0) continue;
    if (kept > 0) {
      Placed& last = entries[kept - 1];
      const bool plain = last.shape.node == nullptr && entries[i].shape.node == nullptr;
      if (plain && math.add(last.offset, last.shape.size) == entries[i].offset) {
        last.shape.size = math.add(last.shape.size, entries[i].shape.size);
        continue;
      }
    }
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
}

std::vector<std::int64_t> offsets_of(const std::vector<Placed>& entries) {
  std::vector<std::int64_t> offsets;
  offsets.reserve(entries.size());
  for (const Placed& entry : entries) offsets.push_back(entry.offset);
  return offsets;
}

Placed structure_node(const std::vector<Placed>& entries, Arithmetic& math) {
  Dataloop::Node node;
  node.kind = LoopKind::structure;
  node.count = static_cast<std::int64_t>(entries.size());
  node.offsets = offsets_of(entries);
  node.prefix.reserve(entries.size() + 1);
  node.children.reserve(entries.size());
  const std::int64_t first = rebase(node.offsets, math);
  ListFacts facts;
  node.prefix.push_back(0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    facts.add(node.offsets[i], entries[i].shape.facts(), math);
    node.prefix.push_back(facts.total().size);
    node.children.push_back(entries[i].shape.node);
  }
  node.facts = facts.total();
  return {first, finish(std::move(node), math)};
}

}  // namespace

Shape make_vector(std::int64_t count, std::int64_t stride, const Shape& child, Arithmetic& math) {
  if (count == 0 || child.size == 0) return {};
  if (count == 1) return child;
  if (child.node == nullptr && stride == child.size) return {nullptr, math.mul(count, child.size)};
  if (child.node != nullptr && child.node->kind == LoopKind::vector) {
    const Dataloop::Node& inner = *child.node;
    if (checked_mul(inner.count, inner.stride) == stride) {
      const std::int64_t both = math.mul(count, inner.count);
      return make_vector(both, inner.stride, inner.shape_at(0), math);
    }
  }
  Dataloop::Node node;
  node.facts = vector_facts(count, stride, child.facts(), math);
  node.count = count;
  node.stride = stride;
  node.block = child.size;
  node.child = child.node;
  return finish(std::move(node), math);
}

Placed make_list(std::vector<std::int64_t> offsets, const Shape& child, Arithmetic& math) {
  if (offsets.empty() || child.size == 0) return {};
  if (child.node != nullptr) return equal_list(std::move(offsets), child, math);
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (checked_add(offsets[i - 1], child.size) != offsets[i]) continue;
    std::vector<std::int64_t> lengths(offsets.size(), child.size);
    return make_runs(std::move(offsets), std::move(lengths), math);
  }
  return equal_list(std::move(offsets), child, math);
}

Placed make_runs(std::vector<std::int64_t> offsets, std::vector<std::int64_t> lengths,
                 Arithmetic& math) {
  join_touching(offsets, lengths, math);
  if (offsets.empty() || !math.ok()) return {};
  const std::int64_t first = lengths.front();
  const bool equal =
      std::all_of(lengths.begin(), lengths.end(), [first](std::int64_t n) { return n == first; });
  if (equal) return equal_list(std::move(offsets), {nullptr, first}, math);
  return indexed_list(std::move(offsets), lengths, math);
}

Placed make_structure(std::vector<Placed> entries, Arithmetic& math) {
  join_touching(entries, math);
  if (entries.empty() || !math.ok()) return {};
  if (entries.size() == 1) return std::move(entries.front());
  if (all_same_shape(entries)) return make_list(offsets_of(entries), entries.front().shape, math);
  const bool plain = std::none_of(entries.begin(), entries.end(),
                                  [](const Placed& entry) { return entry.shape.node != nullptr; });
  if (!plain) return structure_node(entries, math);
  std::vector<std::int64_t> lengths;
  for (const Placed& entry : entries) lengths.push_back(entry.shape.size);
  return make_runs(offsets_of(entries), std::move(lengths), math);
}

}  // namespace tamis
