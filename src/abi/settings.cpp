#include "abi/calls.hpp"
#include "abi/checks.hpp"
#include "abi/info.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "comm/task.hpp"

// The collective calls that change an open file and move no data.

namespace tamis::abi {
namespace {

/// `act(File&)` is a collective Task<Status>.
template <typename Act>
int collective(const char* call, MPI_File fh, Act act) {
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(call);
  return finish(call, fh, *file, complete(act(*file->file), file->file->comm()));
}

Status check_size(const File& file, MPI_Offset size) {
  return check(kResizes, {.amode = file.amode(), .offset = size});
}

}  // namespace

int set_size(MPI_File fh, MPI_Offset size) {
  return collective("MPI_File_set_size", fh,
                    [=](File& file) { return file.set_size(size, check_size(file, size)); });
}

int preallocate(MPI_File fh, MPI_Offset size) {
  return collective("MPI_File_preallocate", fh,
                    [=](File& file) { return file.preallocate(size, check_size(file, size)); });
}

int sync(MPI_File fh) {
  return collective("MPI_File_sync", fh, [](File& file) { return file.sync({}); });
}

int set_atomicity(MPI_File fh, int flag) {
  return collective("MPI_File_set_atomicity", fh,
                    [=](File& file) { return file.set_atomicity(flag != 0, {}); });
}

int set_info(MPI_File fh, MPI_Info info) {
  return collective("MPI_File_set_info", fh, [=](File& file) {
    Status error;
    std::vector<HintText> hints = changed_hints(file, info, error);
    return file.set_info(std::move(hints), error);
  });
}

}  // namespace tamis::abi
