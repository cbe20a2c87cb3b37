#include "abi/access_mode.hpp"
#include "abi/calls.hpp"
#include "abi/info.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "abi/view_types.hpp"
#include "comm/task.hpp"
#include "file/hint_sources.hpp"
#include "mpi/host.hpp"
#include "mpi/mpi_comm.hpp"

namespace tamis::abi {
namespace {

Status check_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return failure(Errc::comm, "the communicator is null");
  int joins_two_groups = 0;
  if (host().Comm_test_inter(comm, &joins_two_groups) != MPI_SUCCESS) {
    return failure(Errc::comm, "not a communicator");
  }
  if (joins_two_groups != 0) return failure(Errc::comm, "an intercommunicator cannot open a file");
  return {};
}

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

Result<MPI_File> open_file(MPI_Comm user, const char* filename, int amode, MPI_Info info) {
  Result<std::unique_ptr<Comm>> made = make_comm(user);
  if (!made.ok()) return made.status();
  Comm& comm = **made;
  OpenRequest request = describe(filename, amode, info);
  if (comm.size() > 1 && Storages::is_process_local(request.name))
    request.error.keep_first(
        failure(Errc::unsupported_operation, "files in memory are seen by one process only"));
  auto open_file = std::make_unique<OpenFile>();
  open_file->comm = host_handle(comm);
  open_file->amode = amode;
  Result<std::unique_ptr<File>> opened =
      complete(File::open(std::move(*made), std::move(request), library().storages), comm);
  if (!opened.ok()) return opened.status();
  open_file->file = std::move(*opened);
  library().handlers.inherit(open_file->errors);
  return library().files.insert(std::move(open_file));
}

}  // namespace

int open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  constexpr const char* kCall = "MPI_File_open";
  if (fh == nullptr) return finish_globally(kCall, failure(Errc::arg, "no place for the handle"));
  *fh = MPI_FILE_NULL;
  const Status usable = check_communicator(comm);
  if (!usable.ok()) return finish_globally(kCall, usable);
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
