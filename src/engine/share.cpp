#include "engine/share.hpp"

#include <algorithm>

namespace tamis {

bool Share::next(Shipment& shipment) {
  while (left_.bytes > 0 && next_whole(shipment)) {
    const std::int64_t skipped = std::min(left_.first, shipment.bytes);
    shipment.first += skipped;
    shipment.bytes = std::min(shipment.bytes - skipped, left_.bytes);
    left_.first -= skipped;
    left_.bytes -= shipment.bytes;
    if (shipment.bytes > 0) return true;
  }
  return false;
}

bool Share::next_whole(Shipment& shipment) {
  if (portion_.bytes == 0) return false;
  const std::int64_t end = portion_.first + portion_.bytes;
  Extent block;
  while (blocks_.next(block)) {
    const std::int64_t from =
        std::clamp(portion_.file->position_of(block.offset), portion_.first, end);
    const std::int64_t to =
        std::clamp(portion_.file->position_of(block.end()), portion_.first, end);
    const std::int64_t shift = block.offset - place_;
    place_ += block.length;
    if (to == from) continue;
    shipment = {from, to - from, shift};
    return true;
  }
  return false;
}

std::int64_t share_bytes(const Portion& portion, const Layout& realm, const Window& window) {
  Share share(portion, realm, window);
  std::int64_t bytes = 0;
  for (Shipment shipment; share.next(shipment);) bytes += shipment.bytes;
  return bytes;
}

Claim share_claim(const Portion& portion, const Layout& realm, const Window& window) {
  Share share(portion, realm, window);
  Claim claim;
  for (Shipment shipment; share.next(shipment);)
    claim.add({cover(*portion.file, shipment.first, shipment.bytes),
               portion.file->blocks_in(shipment.first, shipment.bytes)});
  return claim;
}

}  // namespace tamis
