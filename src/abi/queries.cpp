#include <optional>

#include "abi/calls.hpp"
#include "abi/checks.hpp"
#include "abi/info.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

// The calls that concern the calling rank only and move no data.

namespace tamis::abi {
namespace {

/// Puts what `ask(OpenFile&)` gives, a Result, into `place`.
template <typename Value, typename Ask>
int query(const char* call, MPI_File fh, Value* place, Ask ask) {
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(call);
  if (place == nullptr) {
    return finish(call, fh, *file, failure(Errc::arg, "the result has no place: null pointer"));
  }
  const auto answer = ask(*file);
  if (answer.ok()) *place = *answer;
  return finish(call, fh, *file, answer.status());
}

Result<MPI_Group> group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  const int code = host().Comm_group(comm, &group);
  if (code != MPI_SUCCESS) return host_status(code, "the communicator's group cannot be had");
  return group;
}

/// Errc::arg where `whence` is none of the three.
Result<Whence> whence_of(int whence) {
  switch (whence) {
    case MPI_SEEK_SET:
      return Whence::set;
    case MPI_SEEK_CUR:
      return Whence::current;
    case MPI_SEEK_END:
      return Whence::end;
    default:
      return failure(Errc::arg, "whence is not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
  }
}

}  // namespace

int get_size(MPI_File fh, MPI_Offset* size) {
  return query("MPI_File_get_size", fh, size, [](OpenFile& f) { return f.file->size(); });
}

int get_group(MPI_File fh, MPI_Group* group) {
  return query("MPI_File_get_group", fh, group, [](OpenFile& f) { return group_of(f.comm); });
}

int get_amode(MPI_File fh, int* amode) {
  return query("MPI_File_get_amode", fh, amode, [](OpenFile& f) { return Result<int>(f.amode); });
}

int get_info(MPI_File fh, MPI_Info* info_used) {
  return query("MPI_File_get_info", fh, info_used,
               [](OpenFile& f) { return make_info(to_texts(f.file->hints())); });
}

int get_atomicity(MPI_File fh, int* flag) {
  return query("MPI_File_get_atomicity", fh, flag,
               [](OpenFile& f) { return Result<int>(f.file->atomic() ? 1 : 0); });
}

int seek(MPI_File fh, MPI_Offset offset, int whence) {
  constexpr const char* kCall = "MPI_File_seek";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  const Result<Whence> from = whence_of(whence);
  Status status = check(kPointer, {.amode = file->file->amode()});
  status.keep_first(from.status());
  if (status.ok()) status = file->file->seek(offset, *from).status();
  return finish(kCall, fh, *file, status);
}

int get_position(MPI_File fh, MPI_Offset* offset) {
  return query("MPI_File_get_position", fh, offset, [](OpenFile& f) -> Result<std::int64_t> {
    const Status status = check(kPointer, {.amode = f.file->amode()});
    if (!status.ok()) return status;
    return f.file->position();
  });
}

int get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  return query("MPI_File_get_byte_offset", fh, disp, [=](OpenFile& f) -> Result<std::int64_t> {
    const Status status = check(kLocates, {.offset = offset});
    if (!status.ok()) return status;
    return f.file->byte_offset(offset);
  });
}

int to_integer(MPI_File file) { return library().files.to_integer(file); }

MPI_File from_integer(int file) {
  // The program may convert handles before anything else; MPI_FILE_NULL is a data object of a host.
  if (find_host() == nullptr) return nullptr;
  return library().files.from_integer(file);
}

}  // namespace tamis::abi
