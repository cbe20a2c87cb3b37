#include "mpi/error_class.hpp"

#include "mpi/host.hpp"

namespace tamis {
namespace {

struct Pair {
  Errc code;
  int host;
};

constexpr Pair kPairs[] = {
    {Errc::ok, MPI_SUCCESS},
    {Errc::arg, MPI_ERR_ARG},
    {Errc::count, MPI_ERR_COUNT},
    {Errc::type, MPI_ERR_TYPE},
    {Errc::buffer, MPI_ERR_BUFFER},
    {Errc::comm, MPI_ERR_COMM},
    {Errc::info, MPI_ERR_INFO},
    {Errc::amode, MPI_ERR_AMODE},
    {Errc::bad_handle, MPI_ERR_FILE},
    {Errc::not_same, MPI_ERR_NOT_SAME},
    {Errc::unsupported_datarep, MPI_ERR_UNSUPPORTED_DATAREP},
    {Errc::unsupported_operation, MPI_ERR_UNSUPPORTED_OPERATION},
    {Errc::bad_file, MPI_ERR_BAD_FILE},
    {Errc::no_such_file, MPI_ERR_NO_SUCH_FILE},
    {Errc::file_exists, MPI_ERR_FILE_EXISTS},
    {Errc::file_in_use, MPI_ERR_FILE_IN_USE},
    {Errc::read_only, MPI_ERR_READ_ONLY},
    {Errc::access, MPI_ERR_ACCESS},
    {Errc::no_memory, MPI_ERR_NO_MEM},
    {Errc::quota, MPI_ERR_QUOTA},
    {Errc::no_space, MPI_ERR_NO_SPACE},
    {Errc::io, MPI_ERR_IO},
    {Errc::internal, MPI_ERR_INTERN},
};
static_assert(std::size(kPairs) == static_cast<std::size_t>(Errc::internal) + 1);

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kPairs); ++i) {
    if (static_cast<std::size_t>(kPairs[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "error_class indexes the table by code");

}  // namespace

int error_class(Errc code) { return kPairs[static_cast<std::size_t>(code)].host; }

Errc errc_of(int host_code) {
  int host_class = host_code;
  if (host().Error_class(host_code, &host_class) != MPI_SUCCESS) return Errc::internal;
  for (const Pair& pair : kPairs) {
    if (pair.host == host_class) return pair.code;
  }
  return Errc::internal;
}

Status host_status(int host_code, const char* note) {
  if (host_code == MPI_SUCCESS) return {};
  return failure(errc_of(host_code), note);
}

}  // namespace tamis
