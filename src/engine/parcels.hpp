#pragma once

#include "engine/exchange_parts.hpp"

namespace tamis {

/// A parcel as an aggregator sees it.
struct Parcel {
  const RemoteNode* node = nullptr;
  int carrier = 0;  ///< rank that carries it
  Part part;        ///< of the shares of the node's ranks in the window, one after the other
};

/// All parcels of a window of this rank's realm, node by node, as their carriers cut them.
class Exchange::Parcels {
 public:
  Parcels(const Run& run, int realm, const Layout& layout, const Window& window);
  bool next(Parcel& parcel);

 private:
  const Run& run_;
  int realm_;
  const Layout& layout_;
  Window window_;
  Extent span_;  // of the window in the file
  std::size_t node_ = 0;
  Part left_{0, 0};  // of the node before node_
};

/// Bytes of a remote rank in a window that spans `span` of the file.
std::int64_t remote_bytes(const RemoteAccess& remote, const Layout& realm, const Window& window,
                          const Extent& span);

/// Copies a parcel between a window's memory and a message; `to_window` says which way.
void copy_parcel(const Parcel& parcel, const Layout& realm, const Window& window,
                 const WindowMemory& memory, std::byte* bytes, bool to_window);

}  // namespace tamis
