#include <fmt/format.h>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

constexpr std::size_t kEntriesShown = 3;
constexpr int kLevelsShown = 5;

std::string text_of(const Shape& shape, int levels);

/// "3 of 100" entries of a list: "0, 8, 24, ...".
template <typename Entry>
std::string shortened(std::size_t count, const Entry& entry) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kEntriesShown); ++i)
    text += (i > 0 ? ", " : "") + entry(i);
  return count > kEntriesShown ? text + ", ..." : text;
}

std::string list_text(const Dataloop::Node& node, int levels) {
  const std::size_t count = node.offsets.size();
  const auto offset = [&](std::size_t i) { return fmt::format("{}", node.offsets[i]); };
  const auto block = [&](std::size_t i) {
    return fmt::format("{} at {}", node.prefix[i + 1] - node.prefix[i], node.offsets[i]);
  };
  const auto part = [&](std::size_t i) {
    return fmt::format("{} at {}", text_of(node.shape_at(i), levels - 1), node.offsets[i]);
  };
  if (node.kind == LoopKind::blockindexed)
    return fmt::format("blockindexed({}, at [{}], {})", count, shortened(count, offset),
                       text_of(node.shape_at(0), levels - 1));
  if (node.kind == LoopKind::indexed)
    return fmt::format("indexed({}, [{}])", count, shortened(count, block));
  return fmt::format("struct({}, [{}])", count, shortened(count, part));
}

std::string text_of(const Shape& shape, int levels) {
  if (shape.node == nullptr) return fmt::format("contig({})", shape.size);
  if (levels == 0) return "...";
  if (shape.node->kind != LoopKind::vector) return list_text(*shape.node, levels);
  return fmt::format("vector({}, stride {}, {})", shape.node->count, shape.node->stride,
                     text_of(shape.node->shape_at(0), levels - 1));
}

}  // namespace

std::string Dataloop::to_string() const {
  std::string text = text_of({root_, size_}, kLevelsShown);
  if (first_ != 0) text += fmt::format(" at {}", first_);
  if (resized_) text += fmt::format(" resized(lb {}, extent {})", lb_, extent());
  return text;
}

}  // namespace tamis
