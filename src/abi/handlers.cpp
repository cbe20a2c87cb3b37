#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "abi/calls.hpp"
#include "abi/entry.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

/// nullptr for MPI_FILE_NULL; false where the handle is neither that nor of an open file.
bool find_holder(MPI_File fh, OpenFile*& file) {
  file = library().files.find(fh);
  return file != nullptr || fh == MPI_FILE_NULL;
}

ErrorHandlers::Holding& holding_of(OpenFile* file) {
  return file != nullptr ? file->errors : library().handlers.of_null();
}

int finish_for(const char* call, MPI_File fh, OpenFile* file, const Status& status) {
  return file != nullptr ? finish(call, fh, *file, status) : finish_globally(call, status);
}

template <typename Function>
Reaction reaction_of(Reaction::Kind kind, Function* function, void* state = nullptr) {
  return {.kind = kind, .function = reinterpret_cast<void (*)()>(function), .state = state};
}

/// The handle as Fortran knows it. Hosts whose handles are integers have no function for it.
template <typename Handle>
MPI_Fint fortran_handle(Handle handle) {
  if constexpr (std::is_integral_v<Handle>) {
    return handle;
  } else {
    return host().Errhandler_c2f(handle);
  }
}

}  // namespace

int create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  return library().handlers.create(reaction_of(Reaction::Kind::c_function, function), nullptr,
                                   errhandler);
}

int create_errhandler_x(void (*function)(MPI_File, int, void*), void (*free_state)(void*),
                        void* extra_state, MPI_Errhandler* errhandler) {
  return library().handlers.create(reaction_of(Reaction::Kind::with_state, function, extra_state),
                                   free_state, errhandler);
}

void create_fortran_errhandler(FortranHandler* function, MPI_Fint* errhandler, MPI_Fint* code) {
  const int result = guard([&] {
    MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
    const int created =
        library().handlers.create(reaction_of(Reaction::Kind::fortran, function), nullptr, &handle);
    if (created == MPI_SUCCESS) *errhandler = fortran_handle(handle);
    return created;
  });
  if (code != nullptr) *code = result;
}

int set_errhandler(MPI_File fh, MPI_Errhandler errhandler) {
  constexpr const char* kCall = "MPI_File_set_errhandler";
  OpenFile* file = nullptr;
  if (!find_holder(fh, file)) return finish_bad_handle(kCall);
  const bool is_set = library().handlers.set(holding_of(file), errhandler);
  return finish_for(kCall, fh, file,
                    is_set ? Status{} : failure(Errc::arg, "not an error handler for files"));
}

int get_errhandler(MPI_File fh, MPI_Errhandler* errhandler) {
  constexpr const char* kCall = "MPI_File_get_errhandler";
  OpenFile* file = nullptr;
  if (!find_holder(fh, file)) return finish_bad_handle(kCall);
  if (errhandler == nullptr) {
    return finish_for(kCall, fh, file, failure(Errc::arg, "the result has no place: null pointer"));
  }
  *errhandler = library().handlers.hand_out(holding_of(file));
  return MPI_SUCCESS;
}

int call_errhandler(MPI_File fh, int errorcode) {
  OpenFile* file = nullptr;
  if (!find_holder(fh, file)) return finish_bad_handle("MPI_File_call_errhandler");
  call_handler(fh, file, errorcode);
  return MPI_SUCCESS;
}

int free_errhandler(MPI_Errhandler* errhandler) { return library().handlers.free(errhandler); }

int error_string(int errorcode, char* string, int* length) {
  const std::optional<std::string> message = library().codes.message_of(errorcode);
  if (!message || string == nullptr || length == nullptr) {
    return host().Error_string(errorcode, string, length);
  }
  *length = static_cast<int>(message->copy(string, MPI_MAX_ERROR_STRING - 1));
  string[*length] = '\0';
  return MPI_SUCCESS;
}

}  // namespace tamis::abi
