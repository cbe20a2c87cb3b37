#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

// The hand-written answers to the entry points that tools/gen_abi.py generates. Each returns an MPI
// error code, after the error handler of the file (or of MPI_FILE_NULL) was invoked.
// REQUIRES: find_host() has succeeded; guard() in abi/entry.hpp sees to that.

#if defined(OPEN_MPI) && MPI_VERSION < 4
using MPI_Datarep_conversion_function_c = int(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset,
                                              void*);
#endif

namespace tamis::abi {

/// The blocking data accesses (MPI 4.1, table 14.1). An enumerator is a set of bits, see
/// TransferBit.
enum class TransferKind : std::uint8_t {
  read = 0,
  write = 1,
  read_at = 2,
  write_at = 3,
  read_all = 4,
  write_all = 5,
  read_at_all = 6,
  write_at_all = 7,
};
enum TransferBit : std::uint8_t { kWriteBit = 1, kExplicitBit = 2, kCollectiveBit = 4 };

constexpr bool has(TransferKind kind, TransferBit bit) {
  return (static_cast<unsigned>(kind) & bit) != 0;
}

/// One data access as the program called it.
struct Call {
  const char* name;
  TransferKind kind;
  MPI_File file;
  std::int64_t offset = 0;
  const void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  MPI_Status* status;
};

/// A call that is ours but not supported, and what it would have given back.
struct Refusal {
  const char* name;
  MPI_File file;
  MPI_Status* status = nullptr;
  MPI_Request* request = nullptr;
};

int transfer(const Call& call);
int refuse(const Refusal& refusal);
/// The same for a function that concerns no file.
int refuse_globally(const char* name);

int open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh);
int close(MPI_File* fh);
int delete_file(const char* filename, MPI_Info info);

int set_size(MPI_File fh, MPI_Offset size);
int preallocate(MPI_File fh, MPI_Offset size);
int sync(MPI_File fh);
int set_atomicity(MPI_File fh, int flag);
int set_info(MPI_File fh, MPI_Info info);
int set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
             const char* datarep, MPI_Info info);

int get_size(MPI_File fh, MPI_Offset* size);
int get_group(MPI_File fh, MPI_Group* group);
int get_amode(MPI_File fh, int* amode);
int get_info(MPI_File fh, MPI_Info* info_used);
int get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
             char* datarep);
int get_atomicity(MPI_File fh, int* flag);
/// The extent goes to `extent`, an MPI_Aint or an MPI_Count.
int get_extent(MPI_File fh, MPI_Datatype datatype, std::int64_t* extent);
template <typename Integer>
int get_type_extent(MPI_File fh, MPI_Datatype datatype, Integer* extent) {
  std::int64_t bytes = 0;
  const int code = get_extent(fh, datatype, extent == nullptr ? nullptr : &bytes);
  if (code == MPI_SUCCESS) *extent = bytes;
  return code;
}

int seek(MPI_File fh, MPI_Offset offset, int whence);
int get_position(MPI_File fh, MPI_Offset* offset);
int get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp);

int create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler);
int create_errhandler_x(void (*function)(MPI_File, int, void*), void (*free_state)(void*),
                        void* extra_state, MPI_Errhandler* errhandler);
int set_errhandler(MPI_File fh, MPI_Errhandler errhandler);
int get_errhandler(MPI_File fh, MPI_Errhandler* errhandler);
int call_errhandler(MPI_File fh, int errorcode);
int free_errhandler(MPI_Errhandler* errhandler);
int error_string(int errorcode, char* string, int* length);

/// An error handler as Fortran's bindings pass it.
using FortranHandler = void(MPI_Fint* file, MPI_Fint* code);
/// `code` may be a null pointer (mpi_f08 without ierror).
void create_fortran_errhandler(FortranHandler* function, MPI_Fint* errhandler, MPI_Fint* code);

/// Handles as integers: small numbers, 0 is MPI_FILE_NULL and whatever is no open file.
int to_integer(MPI_File file);
MPI_File from_integer(int file);

}  // namespace tamis::abi
