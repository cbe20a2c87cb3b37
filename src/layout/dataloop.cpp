#include "layout/dataloop.hpp"

#include <set>
#include <unordered_map>
#include <utility>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

constexpr const char* kNegativeCount = "a negative count in a datatype";
constexpr const char* kTooLarge = "a datatype's size, bounds or depth exceed what can be described";

bool any_negative(std::span<const std::int64_t> counts) {
  return std::any_of(counts.begin(), counts.end(), [](std::int64_t n) { return n < 0; });
}

/// Joins blocks of which the second starts where the first one's next copy would be.
void join_copies(std::vector<std::int64_t>& lengths, std::vector<std::int64_t>& displacements,
                 std::int64_t extent) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (kept > 0) {
      const auto span = checked_mul(lengths[kept - 1], extent);
      const auto next = span ? checked_add(displacements[kept - 1], *span) : std::nullopt;
      const auto both = checked_add(lengths[kept - 1], lengths[i]);
      if (next == displacements[i] && both) {
        lengths[kept - 1] = *both;
        continue;
      }
    }
    lengths[kept] = lengths[i];
    displacements[kept++] = displacements[i];
  }
  lengths.resize(kept);
  displacements.resize(kept);
}

std::size_t memory_of(const Dataloop::Node* node, std::set<const Dataloop::Node*>& seen) {
  if (node == nullptr || !seen.insert(node).second) return 0;
  std::size_t bytes = sizeof(Dataloop::Node);
  bytes += (node->offsets.capacity() + node->prefix.capacity()) * sizeof(std::int64_t);
  bytes += node->children.capacity() * sizeof(NodePtr);
  bytes += memory_of(node->child.get(), seen);
  for (const NodePtr& child : node->children) bytes += memory_of(child.get(), seen);
  return bytes;
}

}  // namespace

/// Bounds of a type map being put together. Explicit bounds (markers) prevail over those of data.
struct Dataloop::Bounds {
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  bool any = false;
  bool marked = false;

  /// `count` copies of the child, the first with its origin at `displacement`.
  void add(const Dataloop& child, std::int64_t displacement, std::int64_t count, Arithmetic& math) {
    if (count == 0 || (child.size_ == 0 && !child.resized_)) return;
    if (marked && !child.resized_) return;
    const std::int64_t span = math.mul(count - 1, child.extent());
    const std::int64_t low = math.add(displacement, std::min<std::int64_t>(span, 0));
    const std::int64_t high = math.add(displacement, std::max<std::int64_t>(span, 0));
    const bool replaces = !any || (child.resized_ && !marked);
    const std::int64_t new_lb = math.add(low, child.lb_);
    const std::int64_t new_ub = math.add(high, child.ub_);
    lb = replaces ? new_lb : std::min(lb, new_lb);
    ub = replaces ? new_ub : std::max(ub, new_ub);
    any = true;
    marked = child.resized_;
  }

  Result<Dataloop> finish(Placed data, Arithmetic& math) const {
    (void)math.sub(ub, lb);
    const LoopFacts facts = data.shape.facts();
    const std::int64_t low = math.add(data.offset, facts.true_lb);
    (void)math.sub(math.add(data.offset, facts.true_ub), low);
    if (!math.ok()) return failure(Errc::arg, kTooLarge);
    Dataloop loop;
    loop.size_ = data.shape.size;
    loop.lb_ = lb;
    loop.ub_ = ub;
    loop.first_ = data.shape.size > 0 ? data.offset : 0;
    loop.resized_ = marked;
    loop.root_ = std::move(data.shape.node);
    return loop;
  }
};

Dataloop Dataloop::bytes(std::int64_t n) {
  Dataloop loop;
  loop.size_ = n;
  loop.ub_ = n;
  return loop;
}

Result<Dataloop> Dataloop::contig(std::int64_t count, const Dataloop& child) {
  return vector(1, count, 0, child);
}

Result<Dataloop> Dataloop::vector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                  const Dataloop& child) {
  if (count < 0 || blocklength < 0) return failure(Errc::count, kNegativeCount);
  Arithmetic math;
  Bounds bounds;
  if (count > 0) {
    bounds.add(child, 0, blocklength, math);
    bounds.add(child, math.mul(count - 1, stride), blocklength, math);
  }
  const Shape copy{child.root_, child.size_};
  const Shape block = make_vector(blocklength, child.extent(), copy, math);
  return bounds.finish({child.first_, make_vector(count, stride, block, math)}, math);
}

Result<Dataloop> Dataloop::blockindexed(std::int64_t blocklength,
                                        std::span<const std::int64_t> displacements,
                                        const Dataloop& child) {
  if (blocklength < 0) return failure(Errc::count, kNegativeCount);
  const bool dense = child.root_ == nullptr && child.extent() == child.size_;
  if (!dense || displacements.empty())
    return indexed_blocks(std::vector<std::int64_t>(displacements.size(), blocklength),
                          {displacements.begin(), displacements.end()}, child);
  // Among equal blocks the lowest and the highest one decide the bounds.
  Arithmetic math;
  Bounds bounds;
  const auto [lowest, highest] = std::ranges::minmax(displacements);
  bounds.add(child, lowest, blocklength, math);
  bounds.add(child, highest, blocklength, math);
  std::vector<std::int64_t> offsets(displacements.begin(), displacements.end());
  for (std::int64_t& offset : offsets) offset = math.add(offset, child.first_);
  const Shape block{nullptr, math.mul(blocklength, child.size_)};
  if (!math.ok()) return failure(Errc::arg, kTooLarge);
  return bounds.finish(make_list(std::move(offsets), block, math), math);
}

Result<Dataloop> Dataloop::indexed(std::span<const std::int64_t> blocklengths,
                                   std::span<const std::int64_t> displacements,
                                   const Dataloop& child) {
  if (blocklengths.size() != displacements.size())
    return failure(Errc::arg, "as many block lengths as displacements are needed");
  if (any_negative(blocklengths)) return failure(Errc::count, kNegativeCount);
  return indexed_blocks({blocklengths.begin(), blocklengths.end()},
                        {displacements.begin(), displacements.end()}, child);
}

Result<Dataloop> Dataloop::indexed_blocks(std::vector<std::int64_t> blocklengths,
                                          std::vector<std::int64_t> displacements,
                                          const Dataloop& child) {
  Arithmetic math;
  Bounds bounds;
  for (std::size_t i = 0; i < displacements.size(); ++i)
    bounds.add(child, displacements[i], blocklengths[i], math);
  join_copies(blocklengths, displacements, child.extent());
  const Shape copy{child.root_, child.size_};
  const bool dense = child.root_ == nullptr && child.extent() == child.size_;
  std::vector<std::int64_t> offsets = std::move(displacements);
  for (std::int64_t& offset : offsets) offset = math.add(offset, child.first_);
  if (dense) {
    for (std::int64_t& length : blocklengths) length = math.mul(length, child.size_);
    if (!math.ok()) return failure(Errc::arg, kTooLarge);
    return bounds.finish(make_runs(std::move(offsets), std::move(blocklengths), math), math);
  }
  std::unordered_map<std::int64_t, Shape> blocks;  // equal block lengths share one tree
  std::vector<Placed> entries;
  entries.reserve(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto [block, is_new] = blocks.try_emplace(blocklengths[i]);
    if (is_new) block->second = make_vector(blocklengths[i], child.extent(), copy, math);
    entries.push_back({offsets[i], block->second});
  }
  if (!math.ok()) return failure(Errc::arg, kTooLarge);
  return bounds.finish(make_structure(std::move(entries), math), math);
}

Result<Dataloop> Dataloop::structure(std::span<const std::int64_t> blocklengths,
                                     std::span<const std::int64_t> displacements,
                                     std::span<const Dataloop> children) {
  const std::size_t count = children.size();
  if (blocklengths.size() != count || displacements.size() != count)
    return failure(Errc::arg, "as many block lengths and displacements as types are needed");
  if (any_negative(blocklengths)) return failure(Errc::count, kNegativeCount);
  Arithmetic math;
  Bounds bounds;
  std::vector<Placed> entries;
  entries.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Dataloop& child = children[i];
    bounds.add(child, displacements[i], blocklengths[i], math);
    if (child.size_ == 0 || blocklengths[i] == 0) continue;
    const Shape copy{child.root_, child.size_};
    entries.push_back({math.add(displacements[i], child.first_),
                       make_vector(blocklengths[i], child.extent(), copy, math)});
  }
  if (!math.ok()) return failure(Errc::arg, kTooLarge);
  return bounds.finish(make_structure(std::move(entries), math), math);
}

Result<Dataloop> Dataloop::resized(std::int64_t lb, std::int64_t extent, const Dataloop& child) {
  const auto ub = checked_add(lb, extent);
  if (!ub) return failure(Errc::arg, kTooLarge);
  Dataloop loop = child;
  loop.lb_ = lb;
  loop.ub_ = *ub;
  loop.resized_ = true;
  return loop;
}

std::int64_t Dataloop::true_lb() const { return root_ ? first_ + root_->facts.true_lb : first_; }

std::int64_t Dataloop::true_ub() const { return first_ + (root_ ? root_->facts.true_ub : size_); }

bool Dataloop::is_monotonic() const { return root_ == nullptr || root_->facts.monotonic; }
bool Dataloop::is_ordered() const { return root_ == nullptr || root_->facts.ordered; }
bool Dataloop::overlaps_itself() const { return overlaps({root_, size_}); }
std::int64_t Dataloop::blocks() const { return Shape{root_, size_}.facts().blocks; }

std::size_t Dataloop::memory() const {
  std::set<const Node*> seen;
  return memory_of(root_.get(), seen);
}

bool Dataloop::operator==(const Dataloop& other) const {
  return lb_ == other.lb_ && ub_ == other.ub_ && first_ == other.first_ &&
         resized_ == other.resized_ && Shape{root_, size_} == Shape{other.root_, other.size_};
}

}  // namespace tamis
