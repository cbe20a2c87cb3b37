#include "file/view_rules.hpp"

#include "layout/cursor.hpp"
#include "layout/layout.hpp"

namespace tamis {
namespace {

/// How a rule is named when the etype or the filetype breaks it; all string literals.
struct Notes {
  const char* backwards;
  const char* negative;
  const char* overlapping;
};

constexpr Notes kEtypeNotes = {"the displacements of the etype decrease",
                               "the etype has a negative displacement",
                               "the etype overlaps itself, but the file is open for writing"};
constexpr Notes kFiletypeNotes = {"the displacements of the filetype decrease",
                                  "the filetype has a negative displacement",
                                  "the filetype overlaps itself, but the file is open for writing"};

Status check_displacements(const Dataloop& type, bool writable, const Notes& notes) {
  if (type.size() == 0) return {};
  if (type.true_lb() < 0) return failure(Errc::type, notes.negative);
  if (!type.is_monotonic()) return failure(Errc::type, notes.backwards);
  if (writable && !type.is_ordered() && type.overlaps_itself()) {
    return failure(Errc::type, notes.overlapping);
  }
  return {};
}

/// The filetype is repeated without end, one extent apart. Copies that lie within each other are
/// accepted: an access may stay in the first one, and hosts have been met that tell an extent which
/// is too small (Open MPI 4.1, a struct that ends with a subarray).
Status check_copies(const Dataloop& filetype) {
  if (filetype.size() > 0 && filetype.extent() <= 0) {
    return failure(Errc::type, "the extent of the filetype is not positive");
  }
  return {};
}

/// Blocks of the filetype, as far as they are looked at, are made of whole etypes.
bool blocks_are_whole(const Dataloop& filetype, std::int64_t etype_bytes) {
  constexpr int kRunsLookedAt = 4096;
  const Layout once{.loop = filetype, .displacement = 0, .repeat = 1};
  Cursor cursor(once);
  for (int i = 0; i < kRunsLookedAt && !cursor.at_end(); ++i) {
    const Run run = cursor.next(once.size() - cursor.position());
    const bool touching = run.count > 1 && run.stride == run.block;
    if ((touching ? run.bytes() : run.block) % etype_bytes != 0) return false;
  }
  return true;
}

Status check_made_of(const Dataloop& filetype, const Dataloop& etype) {
  if (filetype.size() == 0) return {};
  if (etype.size() == 0) {
    return failure(Errc::type, "the etype has no data, but the filetype has");
  }
  if (filetype.size() % etype.size() != 0) {
    return failure(Errc::type, "the filetype is not made of whole etypes");
  }
  const bool dense = etype.is_contiguous() && etype.extent() == etype.size();
  if (dense && etype.size() > 1 && !blocks_are_whole(filetype, etype.size())) {
    return failure(Errc::type, "a block of the filetype is not made of whole etypes");
  }
  return {};
}

}  // namespace

Status check_view(const ViewProposal& view) {
  if (view.displacement < 0) return failure(Errc::arg, "the displacement of the view is negative");
  Status status = check_displacements(view.etype, view.writable, kEtypeNotes);
  if (status.ok()) status = check_displacements(view.filetype, view.writable, kFiletypeNotes);
  if (status.ok()) status = check_copies(view.filetype);
  if (status.ok()) status = check_made_of(view.filetype, view.etype);
  return status;
}

}  // namespace tamis
