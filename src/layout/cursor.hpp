#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/extent.hpp"
#include "layout/layout.hpp"

namespace tamis {

/// A position in a layout's stream. Starts anywhere in O(depth * log), goes on from there in
/// constant time per run, and never allocates.
/// The layout must outlive the cursor. Offsets met must fit in 64 bits (Layout::offset_of, which
/// saturates, tells beforehand).
class Cursor {
 public:
  explicit Cursor(const Layout& layout, std::int64_t position = 0)
      : layout_(&layout), size_(layout.size()) {
    seek(position);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// Stream position of the next byte.
  std::int64_t position() const { return position_; }
  bool at_end() const { return position_ == size_; }  ///< true once position() == layout.size()

  /// Moves to a stream position. REQUIRES: 0 <= position <= size().
  void seek(std::int64_t position);

  /// The next bytes of the stream as one strided run of at most `limit` bytes, as long as can be
  /// told without looking beyond the innermost loop; advances past it.
  /// A block that does not fit into `limit`, or was entered in the middle, comes alone (count 1).
  /// Strides are positive where the layout is ordered; otherwise they may be anything.
  /// REQUIRES: limit >= 1 and not at_end().
  Run next(std::int64_t limit);

  /// The innermost loop is a list, whose runs are short. REQUIRES: not at_end().
  bool in_list() const { return top().list != nullptr; }
  /// Like next(), but block by block and many at once: fills the front of `blocks` and returns how
  /// many. REQUIRES: blocks not empty, limit >= 1 and in_list().
  std::size_t next_blocks(std::span<Extent> blocks, std::int64_t limit);

 private:
  // A loop that is being walked. The outermost frame stands for the copies of the dataloop.
  struct Frame {
    const Dataloop::Node* list;   // blockindexed, indexed, structure; nullptr: at a stride
    const Dataloop::Node* child;  // of every iteration but in structures; nullptr: contiguous
    std::int64_t origin;          // offset of the first iteration
    std::int64_t index;
    std::int64_t count;
    std::int64_t stride;
    std::int64_t block;  // bytes per iteration where they are equal

    std::int64_t offset() const;  // of the current iteration
    std::int64_t bytes() const;   // of the current iteration
    const Dataloop::Node* inside() const;
    std::int64_t enter(std::int64_t rest);  // to the iteration with byte `rest`; what is left of it
    std::int64_t regular(std::int64_t most) const;
    std::int64_t step() const;  // from this iteration to the next one, which exists
    // Whole blocks of an innermost list from the current one on; returns how many.
    std::size_t take_blocks(std::span<Extent> blocks, std::int64_t limit) const;
  };
  static constexpr std::size_t kMostFrames = kMaxLoopDepth + 1;

  Frame& top() { return frames_[depth_ - 1]; }
  const Frame& top() const { return frames_[depth_ - 1]; }
  Frame copies() const;
  void push(const Dataloop::Node& node, std::int64_t origin);
  void descend();
  void advance(std::int64_t iterations);

  const Layout* layout_;
  std::int64_t size_;
  std::int64_t position_ = 0;
  std::int64_t within_ = 0;                // bytes of the current block already passed
  std::size_t depth_ = 0;                  // frames in use; 0 at the end
  std::array<Frame, kMostFrames> frames_;  // the rest is never touched
};

/// The blocks of stream bytes [first, first + n) of a layout, one after the other. The layout must
/// outlive it.
class Blocks {
 public:
  Blocks(const Layout& layout, std::int64_t first, std::int64_t n)
      : cursor_(layout, n > 0 ? first : 0), left_(n) {
    run_.count = 0;
  }

  /// The next block; false where there is none.
  bool next(Extent& block) {
    if (run_.count == 0) {
      if (left_ <= 0) return false;
      run_ = cursor_.next(left_);
      left_ -= run_.bytes();
    }
    block = {run_.offset, run_.block};
    run_.offset += run_.count > 1 ? run_.stride : 0;
    --run_.count;
    return true;
  }

 private:
  Cursor cursor_;
  Run run_;
  std::int64_t left_;
};

}  // namespace tamis
