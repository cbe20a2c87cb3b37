#include "engine/parcels.hpp"

#include <algorithm>

#include "layout/pack.hpp"

namespace tamis {
namespace {

/// Between a window's memory and part of a rank's share in it, packed.
void copy_part(const Portion& portion, const Layout& realm, const Window& window, const Part& part,
               const WindowMemory& memory, std::byte* packed, bool to_window) {
  Layout shifted = *portion.file;
  Share share(portion, realm, window, part);
  for (Shipment shipment; share.next(shipment); packed += shipment.bytes) {
    shifted.displacement = portion.file->displacement - shipment.shift;
    const Layout flat = Layout::contiguous(shipment.bytes);
    Cursor inside(shifted, shipment.first);
    Cursor outside(flat);
    if (to_window)
      copy_stream(inside, memory.bytes, outside, packed, shipment.bytes);
    else
      copy_stream(outside, packed, inside, memory.bytes, shipment.bytes);
    mark_shipment(shifted, shipment, memory.marks);
  }
}

}  // namespace

Exchange::Parcels::Parcels(const Run& run, int realm, const Layout& layout, const Window& window)
    : run_(run),
      realm_(realm),
      layout_(layout),
      window_(window),
      span_(layout.span_of(window.first, window.bytes)) {}

bool Exchange::Parcels::next(Parcel& parcel) {
  const auto& nodes = run_.views.remote();
  while (left_.bytes == 0) {
    if (node_ == nodes.size()) return false;
    left_ = {0, 0};
    for (const RemoteAccess& remote : nodes[node_].ranks)
      left_.bytes += remote_bytes(remote, layout_, window_, span_);
    ++node_;
  }
  const RemoteNode& node = nodes[node_ - 1];
  const auto& ranks = run_.team.topology().nodes[static_cast<std::size_t>(node.node)];
  const std::int64_t bytes = std::min(left_.bytes, run_.staging.parcel_bytes());
  parcel = {&node, ranks[carrier_seat(realm_, ranks.size())], {left_.first, bytes}};
  left_ = {left_.first + bytes, left_.bytes - bytes};
  return true;
}

std::int64_t remote_bytes(const RemoteAccess& remote, const Layout& realm, const Window& window,
                          const Extent& span) {
  if (intersect(remote.span, span).empty()) return 0;
  return share_bytes(remote.portion(), realm, window);
}

void copy_parcel(const Parcel& parcel, const Layout& realm, const Window& window,
                 const WindowMemory& memory, std::byte* bytes, bool to_window) {
  const Extent span = realm.span_of(window.first, window.bytes);
  const std::int64_t end = parcel.part.first + parcel.part.bytes;
  std::int64_t before = 0;  // bytes of the ranks before
  for (const RemoteAccess& remote : parcel.node->ranks) {
    if (before >= end) return;
    const std::int64_t own = remote_bytes(remote, realm, window, span);
    const std::int64_t from = std::max(parcel.part.first, before);
    const std::int64_t upto = std::min(end, before + own);
    if (from < upto)
      copy_part(remote.portion(), realm, window, {from - before, upto - from}, memory,
                bytes + (from - parcel.part.first), to_window);
    before += own;
  }
}

}  // namespace tamis
