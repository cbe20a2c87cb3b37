#pragma once

#include <atomic>
#include <memory>

#include "abi/error_handlers.hpp"
#include "file/file.hpp"
#include "mpi/mpi.hpp"

namespace tamis::abi {

/// What stands behind an MPI_File: the file, and what only MPI's own words can say of it.
struct OpenFile {
  std::unique_ptr<File> file;
  MPI_Comm comm = MPI_COMM_NULL;  ///< for its group
  int amode = 0;                  ///< as the program gave it, in the host's numbers
  MPI_Datatype etype = MPI_BYTE;  ///< duplicates of the view's types; predefined ones themselves
  MPI_Datatype filetype = MPI_BYTE;
  ErrorHandlers::Holding errors;
  /// A predefined datatype seen last: needs no check. Null type: none yet.
  std::atomic<MPI_Datatype> familiar_type = MPI_DATATYPE_NULL;
};

}  // namespace tamis::abi
