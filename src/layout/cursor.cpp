#include "layout/cursor.hpp"

#include <algorithm>

#include "layout/loop_node.hpp"

namespace tamis {
namespace {

bool has_lengths(const Dataloop::Node& node) {
  return node.kind == LoopKind::indexed || node.kind == LoopKind::structure;
}

/// How many of `count` blocks fit into `limit`, which holds one; seldom by a division.
std::int64_t fitting(std::int64_t count, std::int64_t block, std::int64_t limit) {
  const bool small = ((count | block) >> 31) == 0;
  if (small && count * block <= limit) return count;
  return std::min(count, limit / block);
}

}  // namespace

std::int64_t Cursor::Frame::offset() const {
  return origin + (list ? list->offsets[static_cast<std::size_t>(index)] : index * stride);
}

std::int64_t Cursor::Frame::bytes() const {
  if (list == nullptr || !has_lengths(*list)) return block;
  const auto i = static_cast<std::size_t>(index);
  return list->prefix[i + 1] - list->prefix[i];
}

const Dataloop::Node* Cursor::Frame::inside() const {
  if (list == nullptr || list->kind != LoopKind::structure) return child;
  return list->children[static_cast<std::size_t>(index)].get();
}

std::int64_t Cursor::Frame::enter(std::int64_t rest) {
  if (list != nullptr && has_lengths(*list)) {
    const auto above = std::upper_bound(list->prefix.begin(), list->prefix.end(), rest);
    index = above - list->prefix.begin() - 1;
    return rest - list->prefix[static_cast<std::size_t>(index)];
  }
  index = rest < block ? 0 : rest / block;
  return rest - index * block;
}

std::int64_t Cursor::Frame::step() const {
  if (list == nullptr) return stride;
  const auto i = static_cast<std::size_t>(index);
  return list->offsets[i + 1] - list->offsets[i];
}

std::size_t Cursor::Frame::take_blocks(std::span<Extent> blocks, std::int64_t limit) const {
  const std::int64_t most = std::min(checked_cast<std::int64_t>(blocks.size()), count - index);
  const std::int64_t* offsets = list->offsets.data() + index;
  const std::int64_t base = origin;
  std::int64_t n = 0;
  if (!has_lengths(*list)) {
    const std::int64_t length = block;
    const std::int64_t fit = limit < length ? 0 : fitting(most, length, limit);
    for (; n < fit; ++n) blocks[static_cast<std::size_t>(n)] = {base + offsets[n], length};
    return static_cast<std::size_t>(n);
  }
  const std::int64_t* ends = list->prefix.data() + index;
  const std::int64_t contiguous = list->kind == LoopKind::structure ? 1 : most;
  for (; n < contiguous && ends[n + 1] - ends[0] <= limit; ++n)
    blocks[static_cast<std::size_t>(n)] = {base + offsets[n], ends[n + 1] - ends[n]};
  return static_cast<std::size_t>(n);
}

/// How many of the next `most` iterations, which exist, are equal blocks at a constant stride.
std::int64_t Cursor::Frame::regular(std::int64_t most) const {
  if (list == nullptr || most == 1) return most;
  if (list->kind == LoopKind::structure) return 1;
  const std::int64_t* offsets = list->offsets.data() + index;
  const std::int64_t* ends = has_lengths(*list) ? list->prefix.data() + index : nullptr;
  const std::int64_t length = bytes();
  std::int64_t n = 1;
  while (n < most && (ends == nullptr || ends[n + 1] - ends[n] == length) &&
         (n == 1 || offsets[n] - offsets[n - 1] == offsets[1] - offsets[0]))
    ++n;
  return n;
}

/// The loop over the copies. A root vector that goes on into the next copy is taken into it.
Cursor::Frame Cursor::copies() const {
  const Dataloop& loop = layout_->loop;
  const Dataloop::Node* root = loop.root();
  Frame frame{.list = nullptr,
              .child = root,
              .origin = layout_->displacement + loop.first(),
              .index = 0,
              .count = layout_->repeat,
              .stride = loop.extent(),
              .block = loop.size()};
  if (layout_->is_contiguous()) {
    frame.count = 1;
    frame.block = size_;
  } else if (root != nullptr && root->kind == LoopKind::vector &&
             (frame.count == 1 || checked_mul(root->count, root->stride) == loop.extent())) {
    frame.child = root->child.get();
    frame.count = checked_mul(frame.count, root->count).value_or(Layout::kEndless);
    frame.stride = root->stride;
    frame.block = root->block;
  }
  return frame;
}

void Cursor::push(const Dataloop::Node& node, std::int64_t origin) {
  frames_[depth_++] = {.list = node.kind == LoopKind::vector ? nullptr : &node,
                       .child = node.child.get(),
                       .origin = origin,
                       .index = 0,
                       .count = node.count,
                       .stride = node.stride,
                       .block = node.block};
}

void Cursor::seek(std::int64_t position) {
  position_ = position;
  within_ = 0;
  depth_ = 0;
  if (position == size_) return;
  frames_[depth_++] = copies();
  std::int64_t rest = top().enter(position);
  while (const Dataloop::Node* inside = top().inside()) {
    push(*inside, top().offset());
    rest = top().enter(rest);
  }
  within_ = rest;
}

/// From the first byte of the current iteration down to its first block.
void Cursor::descend() {
  Frame* frame = &top();
  while (const Dataloop::Node* inside = frame->inside()) {
    push(*inside, frame->offset());
    ++frame;
  }
}

/// Passes whole blocks of the innermost loop. REQUIRES: it has as many left.
void Cursor::advance(std::int64_t iterations) {
  within_ = 0;
  Frame* const outermost = frames_.data();
  Frame* frame = outermost + (depth_ - 1);
  frame->index += iterations;
  while (frame->index == frame->count) {
    if (frame == outermost) {
      depth_ = 0;
      return;
    }
    --frame;
    ++frame->index;
  }
  depth_ = static_cast<std::size_t>(frame - outermost) + 1;
  descend();
}

Run Cursor::next(std::int64_t limit) {
  const Frame& frame = top();
  limit = std::min(limit, size_ - position_);
  const std::int64_t block = frame.bytes();
  const std::int64_t start = frame.offset();
  if (within_ != 0 || limit < block) {
    const Run run{.offset = start + within_, .block = std::min(limit, block - within_)};
    position_ += run.block;
    within_ += run.block;
    if (within_ == block) advance(1);
    return run;
  }
  const std::int64_t count = frame.regular(fitting(frame.count - frame.index, block, limit));
  const Run run{start, block, count > 1 ? frame.step() : 0, count};
  position_ += run.bytes();
  advance(run.count);
  return run;
}

std::size_t Cursor::next_blocks(std::span<Extent> blocks, std::int64_t limit) {
  limit = std::min(limit, size_ - position_);
  const std::size_t whole = within_ == 0 ? top().take_blocks(blocks, limit) : 0;
  if (whole == 0) {
    const Run part = next(std::min(limit, top().bytes()));
    blocks[0] = {part.offset, part.block};
    return 1;
  }
  for (const Extent& block : blocks.first(whole)) position_ += block.length;
  advance(static_cast<std::int64_t>(whole));
  return whole;
}

}  // namespace tamis
