#include "abi/access_mode.hpp"
#include "abi/calls.hpp"
#include "abi/info.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "abi/view_types.hpp"
#include "base/attempt.hpp"
#include "comm/task.hpp"
#include "file/hint_sources.hpp"
#include "mpi/host.hpp"
#include "mpi/mpi_comm.hpp"

namespace tamis::abi {
namespace {

/// What this rank asks for; where a check fails it still takes part in the opening.
OpenRequest describe(const char* filename, int amode, MPI_Info info) {
  OpenRequest request;
  const Result<unsigned> mode = access_mode(amode);
  request.error = mode.status();
  if (mode.ok()) request.amode = *mode;
  if (filename == nullptr) {
    request.error.keep_first(failure(Errc::arg, "the file name is a null pointer"));
    return request;
  }
  request.name = filename;
  if (request.name.empty()) {
    request.error.keep_first(failure(Errc::bad_file, "the file name is empty"));
  }
  request.hints = hint_texts(request.name, texts_of(info));
  return request;
}

/// A handle whose file is still to be opened.
Result<MPI_File> new_handle(const Comm& comm, int amode) {
  auto entry = std::make_unique<OpenFile>();
  entry->comm = host_handle(comm);
  entry->amode = amode;
  return library().files.insert(std::move(entry));
}

Result<MPI_File> open_file(MPI_Comm user, const char* filename, int amode, MPI_Info info) {
  Result<std::unique_ptr<Comm>> made = make_comm(user);
  if (!made.ok()) return made.status();
  Comm& comm = **made;
  OpenRequest request;
  request.error = attempt([&] {
    request = describe(filename, amode, info);
    return request.error;
  });
  if (comm.size() > 1 && Storages::is_process_local(request.name))
    request.error.keep_first(
        failure(Errc::unsupported_operation, "files in memory are seen by one process only"));
  request.keeper = &library().ledger;
  // The handle comes first: once the file is open on all ranks, nothing may fail on one.
  const Result<MPI_File> handle = attempt([&] { return new_handle(comm, amode); });
  request.error.keep_first(handle.status());
  Result<std::unique_ptr<File>> opened =
      complete(File::open(std::move(*made), std::move(request), library().storages), comm);
  if (!opened.ok()) {
    if (handle.ok()) library().files.remove(*handle);
    return opened.status();
  }
  OpenFile& entry = *library().files.find(*handle);
  entry.file = std::move(*opened);
  library().handlers.inherit(entry.errors);
  return handle;
}

}  // namespace

int open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  constexpr const char* kCall = "MPI_File_open";
  if (fh == nullptr) return finish_globally(kCall, failure(Errc::arg, "no place for the handle"));
  *fh = MPI_FILE_NULL;
  const Result<MPI_File> opened = open_file(comm, filename, amode, info);
  if (opened.ok()) *fh = *opened;
  return finish_globally(kCall, opened.status(), filename == nullptr ? "" : filename);
}

int close(MPI_File* fh) {
  constexpr const char* kCall = "MPI_File_close";
  OpenFile* file = fh == nullptr ? nullptr : library().files.find(*fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  const Status status = complete(file->file->close(), file->file->comm());
  // The handle is still good while the error handler runs, and gone afterwards in any case.
  const int code = finish(kCall, *fh, *file, status);
  const std::unique_ptr<OpenFile> ended = library().files.remove(*fh);
  library().handlers.release(ended->errors);
  free_type(ended->etype);
  free_type(ended->filetype);
  *fh = MPI_FILE_NULL;
  return code;
}

int delete_file(const char* filename, MPI_Info) {
  constexpr const char* kCall = "MPI_File_delete";
  if (filename == nullptr) {
    return finish_globally(kCall, failure(Errc::arg, "the file name is a null pointer"));
  }
  std::string path;
  const Result<Storage*> storage = library().storages.find(filename, path);
  const Status status = storage.ok() ? (*storage)->remove(path) : storage.status();
  return finish_globally(kCall, status, filename);
}

}  // namespace tamis::abi
