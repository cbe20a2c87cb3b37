#include "engine/pieces.hpp"

namespace tamis {

bool Pieces::next(FilePiece& piece) {
  Extent block;
  while (!blocks_ || !blocks_->next(block)) {
    if (!share_.next(shipment_)) return false;
    blocks_.emplace(file_, shipment_.first, shipment_.bytes);
    position_ = shipment_.first;
  }
  piece = {block, position_, block.offset - shipment_.shift};
  position_ += block.length;
  return true;
}

Outcome transfer_pieces(Batch& batch, const Portion& portion, const Layout& realm,
                        const Window& window, const PieceMemory& memory) {
  Pieces pieces(portion, realm, window);
  for (FilePiece piece; pieces.next(piece);)
    if (!batch.add(piece.file, memory.of(piece, portion))) break;
  return batch.finish();
}

std::int64_t first_beyond(const Portion& portion, const Layout& realm, const Window& window,
                          std::int64_t bytes) {
  Share rest(portion, realm, window, {bytes, 1});
  Shipment lost;
  return rest.next(lost) ? lost.first : -1;
}

}  // namespace tamis
