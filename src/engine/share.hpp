#pragma once

#include <limits>

#include "layout/coverage.hpp"
#include "layout/cursor.hpp"
#include "plan/realms.hpp"

namespace tamis {

/// What a rank accesses: a range of its view's stream.
struct Portion {
  const Layout* file = nullptr;  ///< ordered
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};

/// Some of a share's bytes, counted from its first one.
struct Part {
  std::int64_t first = 0;
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
};

/// A stretch of a rank's stream that lies in one block of a window.
struct Shipment {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  std::int64_t shift = 0;  ///< how far its place in the file is beyond its place in the window
};

/// What a rank has in a window, or a part of it: shipments, ascending, found by two searches for
/// each block of the window. Takes no memory, and walks neither the rank's pieces nor other
/// windows.
class Share {
 public:
  /// `window` is one of the realm's.
  Share(const Portion& portion, Layout realm, const Window& window, const Part& part = {})
      : portion_(portion),
        realm_(std::move(realm)),
        blocks_(realm_, window.first, window.bytes),
        left_(part) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// The next shipment, never empty; false where there is none.
  bool next(Shipment& shipment);

 private:
  bool next_whole(Shipment& shipment);

  Portion portion_;
  Layout realm_;
  Blocks blocks_;
  Part left_;               // to be skipped, then to be told
  std::int64_t place_ = 0;  // of the next block in the window's memory
};

/// How much a rank has in a window.
std::int64_t share_bytes(const Portion& portion, const Layout& realm, const Window& window);
/// Where in the file it is, and in about how many pieces.
struct Claim {
  Coverage coverage;
  std::int64_t pieces = 0;

  void add(const Claim& other) {
    coverage.add(other.coverage);
    pieces += other.pieces;
  }
};
Claim share_claim(const Portion& portion, const Layout& realm, const Window& window);

}  // namespace tamis
