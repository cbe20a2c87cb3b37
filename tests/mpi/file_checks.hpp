#pragma once

// Without the C++ bindings that old headers of MPI bring along: they need a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// What programs over several files and threads need: a name nobody else has, errors that end the
/// program, and the bytes of a file as the system shows them.
namespace file_checks {

inline void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "%s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The same on all ranks and no other run's. Collective over MPI_COMM_WORLD.
inline std::string scratch_name(const char* directory, const char* program) {
  int run = static_cast<int>(getpid());
  MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return std::string(directory) + "/" + program + "." + std::to_string(run);
}

inline MPI_File open_file(MPI_Comm comm, const std::string& name, MPI_Info info = MPI_INFO_NULL) {
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(comm, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), "open");
  return file;
}

inline std::vector<char> bytes_of_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Starts MPI for threads; ends the program where the host has none.
inline void start_with_threads(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) return;
  std::fprintf(stderr, "the MPI has no MPI_THREAD_MULTIPLE\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/// The exit code of all ranks: 1 where any of them has found something wrong.
inline int verdict(const char* program, long wrong) {
  long all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("%s: %ld wrong\n", program, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

}  // namespace file_checks
