#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "layout/dataloop.hpp"

namespace tamis {

/// What a rank wants to make its view of the file (MPI 4.1, section 14.3).
struct ViewProposal {
  std::int64_t displacement = 0;  ///< bytes
  Dataloop etype;
  Dataloop filetype;
  bool writable = true;  ///< the file is open for writing
};

/// Holds a view against the rules for etypes and filetypes (sections 14.1.1 and 14.3); the note of
/// the Status names the one that is broken. Errc::arg for the displacement, Errc::type otherwise.
///
/// Checked: no negative displacement; displacements of etype and filetype monotonically
/// nondecreasing; no overlap, neither in a type nor between the filetype's copies, when writing;
/// copies of the filetype that go forward; an etype with data unless the filetype has none (the
/// caller then counts bytes instead of etypes); a filetype of whole etypes.
/// The last rule is told by sizes, and for contiguous etypes by the blocks of the filetype, the
/// first few thousand of which are looked at: a type that breaks it only behind them, or only in
/// the alignment of its holes, is taken as it is, which harms nothing as accesses count in bytes.
Status check_view(const ViewProposal& view);

}  // namespace tamis
