#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tamis {

/// The five kinds of a dataloop node (Ross, Miller, Gropp 2003; used for I/O in Ching et al. 2003).
enum class LoopKind : std::uint8_t { contig, vector, blockindexed, indexed, structure };

/// Deeper nests are refused: recursion over trees stays bounded, and so do the decoder and the
/// place a cursor takes.
inline constexpr int kMaxLoopDepth = 64;

/// A datatype as a normalised, immutable, compact tree of loops over bytes.
///
/// Offsets are in bytes, relative to the datatype's origin, and may be negative. The *stream* of a
/// dataloop is its data bytes in type-map order, numbered from 0 to size() - 1. `lb`/`ub` are the
/// MPI bounds (they decide how copies are placed), `true_lb`/`true_ub` those of the data itself.
///
/// Normal form: no loop of one iteration, no child of size 0, nested contiguous loops and vectors
/// collapsed, touching blocks merged, index lists with a constant stride turned into vectors.
/// Nests deeper than kMaxLoopDepth loops in normal form are refused (Errc::arg).
/// Memory is proportional to the description that was given, never to the number of pieces.
/// A cheap value: copies share the tree. A dataloop of contiguous bytes has no tree.
class Dataloop {
 public:
  struct Node;

  Dataloop() = default;  ///< no bytes, extent 0

  /// `n` contiguous bytes at the origin. REQUIRES: n >= 0.
  static Dataloop bytes(std::int64_t n);

  // Builders mirror the MPI constructors (MPI 4.1, section 5.1). Displacements and strides in
  // bytes; bounds follow section 5.1.7 without the alignment padding of structs (see resized()).
  // They fail with Errc::count where a count is negative and with Errc::arg where sizes, bounds or
  // displacements leave 64 bits.
  static Result<Dataloop> contig(std::int64_t count, const Dataloop& child);
  static Result<Dataloop> vector(std::int64_t count, std::int64_t blocklength, std::int64_t stride,
                                 const Dataloop& child);
  static Result<Dataloop> blockindexed(std::int64_t blocklength,
                                       std::span<const std::int64_t> displacements,
                                       const Dataloop& child);
  static Result<Dataloop> indexed(std::span<const std::int64_t> blocklengths,
                                  std::span<const std::int64_t> displacements,
                                  const Dataloop& child);
  static Result<Dataloop> structure(std::span<const std::int64_t> blocklengths,
                                    std::span<const std::int64_t> displacements,
                                    std::span<const Dataloop> children);
  /// Same data, other bounds (MPI_Type_create_resized).
  static Result<Dataloop> resized(std::int64_t lb, std::int64_t extent, const Dataloop& child);

  std::int64_t size() const { return size_; }
  std::int64_t lb() const { return lb_; }
  std::int64_t ub() const { return ub_; }
  std::int64_t extent() const { return ub_ - lb_; }
  std::int64_t true_lb() const;
  std::int64_t true_ub() const;

  /// The data is one block of size() bytes (at true_lb()).
  bool is_contiguous() const { return root_ == nullptr; }
  /// Starts of blocks never decrease along the stream: what a filetype must be (section 14.3).
  bool is_monotonic() const;
  /// Monotonic and without overlap: offsets strictly increase along the stream.
  bool is_ordered() const;
  /// No two bytes of the stream share an offset. Exact for ordered loops; for others found out by
  /// walking the description's blocks (sorted), bounded by `blocks()`.
  bool overlaps_itself() const;
  /// Number of contiguous blocks met along the stream (blocks that touch across loop iterations
  /// may be counted apart).
  std::int64_t blocks() const;
  /// Bytes of memory held by the description.
  std::size_t memory() const;
  /// "vector(1000, stride 16, contig(8))", for explain and messages; long lists are shortened.
  std::string to_string() const;

  /// Versioned wire form, independent of the machine (little-endian).
  void encode(std::vector<std::byte>& out) const;
  /// Reads what encode wrote. Survives hostile bytes: bounded depth and memory (proportional to
  /// `bytes`), every invariant of the normal form that others rely on is checked.
  static Result<Dataloop> decode(std::span<const std::byte> bytes);

  /// The root of the tree; nullptr where the data is one block of size() bytes at first().
  const Node* root() const { return root_.get(); }
  /// Offset of the first byte of the stream; the tree is relative to it.
  std::int64_t first() const { return first_; }
  bool operator==(const Dataloop& other) const;  ///< same normal form and bounds

 private:
  struct Bounds;
  static Result<Dataloop> indexed_blocks(std::vector<std::int64_t> blocklengths,
                                         std::vector<std::int64_t> displacements,
                                         const Dataloop& child);

  std::int64_t size_ = 0;
  std::int64_t lb_ = 0;
  std::int64_t ub_ = 0;
  std::int64_t first_ = 0;
  bool resized_ = false;  // bounds were set explicitly: they prevail over those of the data
  std::shared_ptr<const Node> root_;  // shared: a type cache, views and operations hold one tree
};

}  // namespace tamis
