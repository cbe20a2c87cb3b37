#include "abi/checks.hpp"
#include "abi/entry.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "base/attempt.hpp"
#include "comm/task.hpp"
#include "tamis/realms.h"

namespace tamis::abi {
namespace {

Result<std::vector<Layout>> realms_of(OpenFile& file, int count, const MPI_Offset* displacements,
                                      const MPI_Datatype* filetypes) {
  if (count < 0) return failure(Errc::arg, "the number of realms is negative");
  if (count > 0 && (displacements == nullptr || filetypes == nullptr))
    return failure(Errc::arg, "the realms are a null pointer");
  std::vector<Layout> realms;
  for (int i = 0; i < count; ++i) {
    const Result<const Dataloop*> type = checked_type(file, filetypes[i]);
    if (!type.ok()) return type.status();
    realms.push_back({**type, displacements[i], Layout::kEndless});
  }
  return realms;
}

int file_set_realms(MPI_File fh, int count, const MPI_Offset* displacements,
                    const MPI_Datatype* filetypes) {
  constexpr const char* kCall = "tamis_file_set_realms";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  Result<std::vector<Layout>> realms =
      attempt([&] { return realms_of(*file, count, displacements, filetypes); });
  const Status error = realms.status();
  std::vector<Layout> wanted;
  if (error.ok()) wanted = std::move(*realms);
  return finish(kCall, fh, *file,
                complete(file->file->set_realms(std::move(wanted), error), file->file->comm()));
}

}  // namespace
}  // namespace tamis::abi

TAMIS_EXPORT int tamis_file_set_realms(MPI_File file, int count, const MPI_Offset displacements[],
                                       const MPI_Datatype filetypes[]) {
  return tamis::abi::guard(
      [&] { return tamis::abi::file_set_realms(file, count, displacements, filetypes); });
}
