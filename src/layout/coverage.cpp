#include "layout/coverage.hpp"

#include <algorithm>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

// Balances are those of a shape at offset 0; g^offset moves one to where it is. A piece that is cut
// into two touching ones has the balance of both, so a stream may be cut anywhere.

struct Part {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

Residue balance_of(const Dataloop::Node* node, const Part& part);

/// Equal iterations, `stride` apart.
struct Iterations {
  std::int64_t stride;
  std::int64_t block;  // bytes of one
  const Dataloop::Node* child;

  Residue balance(const Part& part) const {
    const std::int64_t before = part.from / block;
    const std::int64_t behind = part.to / block;
    const std::int64_t from = part.from - before * block;
    const std::int64_t to = part.to - behind * block;
    if (before == behind) return one(before, {from, to});
    const std::int64_t first_whole = from == 0 ? before : before + 1;
    Residue sum;
    if (from > 0) sum += one(before, {from, block});
    if (to > 0) sum += one(behind, {0, to});
    if (behind > first_whole)
      sum += one(first_whole, {0, block}) * geometric_sum(power_of(stride), behind - first_whole);
    return sum;
  }

 private:
  Residue one(std::int64_t index, const Part& inside) const {
    return power_of(index * stride) * balance_of(child, inside);
  }
};

/// An entry of a list, at offset 0.
struct Entry {
  const Dataloop::Node* node = nullptr;  // null: contiguous
  std::int64_t size = 0;

  Entry() = default;
  Entry(const Dataloop::Node& list, std::size_t i) {
    const bool equal = list.kind == LoopKind::blockindexed;
    if (equal) node = list.child.get();
    if (list.kind == LoopKind::structure) node = list.children[i].get();
    size = equal ? list.block : list.prefix[i + 1] - list.prefix[i];
  }
  bool operator==(const Entry&) const = default;
};

std::size_t entry_at(const Dataloop::Node& list, std::int64_t position) {
  if (list.kind == LoopKind::blockindexed) return static_cast<std::size_t>(position / list.block);
  const auto above = std::upper_bound(list.prefix.begin(), list.prefix.end(), position);
  return static_cast<std::size_t>(above - list.prefix.begin()) - 1;
}

std::int64_t bytes_before_entry(const Dataloop::Node& list, std::size_t i) {
  if (list.kind == LoopKind::blockindexed) return static_cast<std::int64_t>(i) * list.block;
  return list.prefix[i];
}

/// Entries of a list one after the other. Powers go from one to the next, and what was equal in the
/// last one is not computed again.
Residue balance_of_list(const Dataloop::Node& list, const Part& part) {
  Residue sum;
  Residue place(1);
  std::int64_t place_offset = 0;
  Entry known;
  Residue known_balance;
  std::size_t i = entry_at(list, part.from);
  for (std::int64_t begin = bytes_before_entry(list, i); begin < part.to; ++i) {
    const Entry entry(list, i);
    const std::int64_t offset = list.offsets[i];
    place *= power_of(offset - place_offset);
    place_offset = offset;
    const Part inside{std::max<std::int64_t>(part.from - begin, 0),
                      std::min(part.to - begin, entry.size)};
    const bool whole = inside.to - inside.from == entry.size;
    if (!whole || entry != known) {
      known = whole ? entry : Entry();
      known_balance = balance_of(entry.node, inside);
    }
    sum += place * known_balance;
    begin += entry.size;
  }
  return sum;
}

Residue balance_of(const Dataloop::Node* node, const Part& part) {
  if (part.from == part.to) return {};
  if (node == nullptr) return power_of(part.from) - power_of(part.to);
  if (node->kind != LoopKind::vector) return balance_of_list(*node, part);
  return Iterations{node->stride, node->block, node->child.get()}.balance(part);
}

}  // namespace

void Coverage::add(const Coverage& other) {
  bytes += other.bytes;
  balance += other.balance;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

bool Coverage::tiles(const Extent& extent) const {
  if (bytes != std::max<std::int64_t>(extent.length, 0)) return false;
  if (bytes == 0) return true;
  return first == extent.offset && last == extent.end() &&
         balance == power_of(extent.offset) - power_of(extent.end());
}

Coverage cover(const Layout& layout, std::int64_t first, std::int64_t n) {
  if (n <= 0) return {};
  const Extent span = layout.span_of(first, n);
  Coverage coverage{.bytes = n, .balance = {}, .first = span.offset, .last = span.end()};
  if (span.length == n) {
    coverage.balance = power_of(span.offset) - power_of(span.end());
    return coverage;
  }
  const Iterations copies{layout.loop.extent(), layout.loop.size(), layout.loop.root()};
  coverage.balance =
      power_of(layout.displacement + layout.loop.first()) * copies.balance({first, first + n});
  return coverage;
}

}  // namespace tamis
