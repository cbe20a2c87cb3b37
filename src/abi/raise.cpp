#include "abi/raise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "abi/calls.hpp"
#include "abi/library.hpp"
#include "abi/say.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

/// "MPI_File_read_at: NO_SUCH_FILE: ... (file /a/b)", short enough for MPI_Error_string. Of a long
/// file name the end is kept.
std::string message(const char* call, const Status& status, std::string_view file_name) {
  std::string text = fmt::format("{}: {}", call, status.to_string());
  constexpr std::size_t kRoom = MPI_MAX_ERROR_STRING - 1;
  constexpr std::string_view kShortened = "...";
  if (text.size() + 16 < kRoom && !file_name.empty()) {
    const std::size_t room = kRoom - text.size() - 16;
    const bool is_long = file_name.size() > room;
    if (is_long) file_name.remove_prefix(file_name.size() - room);
    text += fmt::format(" (file {}{})", is_long ? kShortened : "", file_name);
  }
  text.resize(std::min(text.size(), kRoom));
  return text;
}

void abort_program(const Reaction& reaction, MPI_Comm comm, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  (void)error_string(code, text.data(), &length);
  say(text.data());
  const bool group_only = reaction.kind == Reaction::Kind::abort_group;
  (void)host().Abort(group_only ? comm : MPI_COMM_WORLD, code);
}

/// Lets the handler react; the code as it left it.
int react(const Reaction& reaction, MPI_File handle, MPI_Comm comm, int code) {
  switch (reaction.kind) {
    case Reaction::Kind::give_back:
      break;
    case Reaction::Kind::abort_all:
    case Reaction::Kind::abort_group:
      abort_program(reaction, comm, code);
      break;
    case Reaction::Kind::c_function:
      reinterpret_cast<MPI_File_errhandler_function*>(reaction.function)(&handle, &code);
      break;
    case Reaction::Kind::fortran: {
      MPI_Fint file = to_integer(handle);
      MPI_Fint fortran_code = code;
      reinterpret_cast<FortranHandler*>(reaction.function)(&file, &fortran_code);
      return fortran_code;
    }
    case Reaction::Kind::with_state:
      reinterpret_cast<void (*)(MPI_File, int, void*)>(reaction.function)(handle, code,
                                                                          reaction.state);
      break;
  }
  return code;
}

}  // namespace

int finish(const char* call, MPI_File handle, OpenFile& file, const Status& status) {
  if (status.ok()) return MPI_SUCCESS;
  Library& lib = library();
  const int code = lib.codes.code_for(status.code, message(call, status, file.file->name()));
  return react(lib.handlers.reaction(file.errors), handle, file.comm, code);
}

int finish_globally(const char* call, const Status& status, std::string_view file_name) {
  if (status.ok()) return MPI_SUCCESS;
  Library& lib = library();
  const int code = lib.codes.code_for(status.code, message(call, status, file_name));
  return react(lib.handlers.reaction(lib.handlers.of_null()), MPI_FILE_NULL, MPI_COMM_SELF, code);
}

int finish_bad_handle(const char* call) {
  return finish_globally(call, failure(Errc::bad_handle, "not the handle of an open file"));
}

void call_handler(MPI_File handle, OpenFile* file, int code) {
  ErrorHandlers& handlers = library().handlers;
  const Reaction reaction = handlers.reaction(file != nullptr ? file->errors : handlers.of_null());
  (void)react(reaction, handle, file != nullptr ? file->comm : MPI_COMM_SELF, code);
}

}  // namespace tamis::abi
