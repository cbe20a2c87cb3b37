#pragma once

#include <string_view>

#include "abi/open_file.hpp"
#include "base/status.hpp"

namespace tamis::abi {

/// Ends a call: MPI_SUCCESS where `status` is ok; otherwise makes an error code with a message,
/// calls the error handler once and gives back the code as the handler left it. `call` is the MPI
/// name.
int finish(const char* call, MPI_File handle, OpenFile& file, const Status& status);

/// The same for errors that belong to no open file: they go to the handler of MPI_FILE_NULL.
int finish_globally(const char* call, const Status& status, std::string_view file_name = {});

/// For a handle that is none of an open file.
int finish_bad_handle(const char* call);

/// Calls the handler as MPI_File_call_errhandler does: with a code of the program's.
void call_handler(MPI_File handle, OpenFile* file, int code);

}  // namespace tamis::abi
