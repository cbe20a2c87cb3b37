#pragma once

#include <cstdint>
#include <span>

#include "layout/layout.hpp"
#include "plan/realm_kind.hpp"
#include "plan/spread.hpp"

namespace tamis {

/// Part of a realm: `bytes` bytes of its stream from `first` on. In memory they stand one after the
/// other, wherever they are in the file.
struct Window {
  std::int64_t first = 0;
  std::int64_t bytes = 0;

  std::int64_t end() const { return first + bytes; }
  bool empty() const { return bytes <= 0; }
  bool operator==(const Window&) const = default;
};

/// Which aggregator owns which bytes of the file. A realm is a dataloop at a displacement (Coloma
/// et al. 2006); together the realms hold every byte of the region once. Takes no memory, however
/// many there are.
class FileRealms {
 public:
  FileRealms() = default;
  // REQUIRE: !region.empty(), count >= 1, alignment >= 1.

  /// Borders are multiples of the alignment; no realm but the last is smaller than `least_bytes`,
  /// so there may be fewer than `count`.
  static FileRealms even(const Extent& region, int count, std::int64_t alignment,
                         std::int64_t least_bytes);
  /// The same where `wanted` says how much is wanted where: some may be empty.
  static FileRealms balanced(const Extent& region, int count, std::int64_t alignment,
                             const Spread& wanted);
  /// Realm i has every count-th block of the file from the i-th on; some may be empty. `kind` is
  /// cyclic or persistent. REQUIRES: block >= 1.
  static FileRealms cyclic(const Extent& region, int count, std::int64_t block,
                           RealmKind kind = RealmKind::cyclic);
  /// Realms as they are, which must outlive the result. REQUIRES: they are ordered, endless, and
  /// hold every byte of the region once.
  static FileRealms given(const Extent& region, std::span<const Layout> layouts);

  RealmKind kind() const { return kind_; }
  int count() const { return count_; }
  /// Bytes of the unit in which the file is dealt out; of the longest one where each realm has its
  /// own.
  std::int64_t block() const { return block_; }
  /// All of realm `index` in the file, ascending, also beyond the region.
  Layout layout(int index) const;
  /// What of it is in the region; may be empty but for even realms.
  Window in_region(int index) const;
  /// From its first to its last byte in the region.
  Extent span(int index) const;

  // Windows lie on a grid of `window_bytes` over the realm's stream; the first and the last may be
  // shorter.

  /// Windows the longest realm needs.
  std::int64_t rounds(std::int64_t window_bytes) const;
  /// Windows of all realms together.
  std::int64_t total_windows(std::int64_t window_bytes) const;
  /// Windows of one realm; those with numbers beyond are empty.
  std::int64_t windows(int index, std::int64_t window_bytes) const;
  Window window(int index, std::int64_t round, std::int64_t window_bytes) const;

 private:
  std::int64_t begin_of(int index) const;
  std::int64_t border(int index) const;

  RealmKind kind_ = RealmKind::even;
  Extent region_;
  std::int64_t origin_ = 0;  ///< even: region's begin, rounded down to the alignment
  std::int64_t alignment_ = 1;
  std::int64_t block_ = 1;
  int count_ = 0;
  Spread wanted_;                  ///< balanced
  std::span<const Layout> given_;  ///< given
};

}  // namespace tamis
