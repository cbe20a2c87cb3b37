#pragma once

#include <optional>

#include "engine/batch.hpp"
#include "engine/share.hpp"

namespace tamis {

/// A stretch of a rank's stream that is contiguous in the file.
struct FilePiece {
  Extent file;
  std::int64_t position = 0;  ///< in the stream
  std::int64_t place = 0;     ///< in the window's memory
};

/// What a rank has in a window, piece by piece, ascending. Takes no memory.
class Pieces {
 public:
  /// `window` is one of the realm's.
  Pieces(const Portion& portion, Layout realm, const Window& window)
      : file_(*portion.file), share_(portion, std::move(realm), window) {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  bool next(FilePiece& piece);

 private:
  const Layout& file_;
  Share share_;
  Shipment shipment_;
  std::optional<Blocks> blocks_;  // of the shipment
  std::int64_t position_ = 0;
};

/// Where a rank's bytes are in memory.
struct PieceMemory {
  std::byte* window = nullptr;  ///< in their places in the window
  std::byte* stream = nullptr;  ///< not null: one after the other instead, from the portion's first

  std::byte* of(const FilePiece& piece, const Portion& portion) const {
    return stream != nullptr ? stream + (piece.position - portion.first) : window + piece.place;
  }
};

/// List I/O of what a rank has in a window: pieces are moved one by one, and nothing between them.
/// Outcome::bytes counts the leading ones. Allocates nothing.
Outcome transfer_pieces(Batch& batch, const Portion& portion, const Layout& realm,
                        const Window& window, const PieceMemory& memory);

/// The position in a rank's stream of what it has in a window beyond `bytes` leading ones; -1:
/// there is nothing.
std::int64_t first_beyond(const Portion& portion, const Layout& realm, const Window& window,
                          std::int64_t bytes);

}  // namespace tamis
