/* Counters inside a program: what a rank did is what it is told, and only where it asked. */
#include "../../include/tamis/counters.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Counters(MPI_File, tamis_counters*, size_t);

static long checks, failed;

static void check(int ok, const char* what) {
  ++checks;
  if (!ok) {
    ++failed;
    printf("wrong: %s\n", what);
  }
}

static MPI_File open_file(const char* path, const char* counting) {
  MPI_Info info;
  MPI_File file = MPI_FILE_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tamis_counters", counting);
  check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
            MPI_SUCCESS,
        "open");
  MPI_Info_free(&info);
  return file;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, class = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Counters* file_counters = (Counters*)dlsym(RTLD_DEFAULT, "tamis_file_counters");
  check(file_counters != NULL, "the function is there");
  if (file_counters == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  char bytes[100] = {0};
  MPI_File file = open_file(argv[1], "enable");
  for (int i = 0; i <= rank; ++i) {
    MPI_File_write_at(file, (MPI_Offset)rank * 1000 + i * 100, bytes, 100, MPI_BYTE,
                      MPI_STATUS_IGNORE);
  }
  MPI_File_read_at_all(file, (MPI_Offset)rank * 1000, bytes, 50, MPI_BYTE, MPI_STATUS_IGNORE);
  tamis_counters seen;
  memset(&seen, 0xee, sizeof seen);
  check(file_counters(file, &seen, sizeof seen) == MPI_SUCCESS, "counters are told");
  check(seen.calls == rank + 2, "calls of this rank");
  check(seen.bytes_wanted == (rank + 1) * 100 + 50, "bytes wanted");
  check(seen.bytes_moved == seen.bytes_wanted, "bytes moved");
  check(seen.writes == rank + 1 && seen.bytes_written == (rank + 1) * 100, "requests that write");
  check(seen.errors == 0, "no errors");
  check(seen.total_ns > 0 && seen.transfer_ns <= seen.total_ns, "times");

  int64_t two[2] = {-1, -1};
  check(file_counters(file, (tamis_counters*)two, sizeof two[0]) == MPI_SUCCESS && two[0] > 0 &&
            two[1] == -1,
        "no more than the size is filled");
  int code = file_counters(file, NULL, 0);
  MPI_Error_class(code, &class);
  check(class == MPI_ERR_ARG, "a null pointer");
  MPI_File_close(&file);

  file = open_file(argv[1], "disable");
  code = file_counters(file, &seen, sizeof seen);
  MPI_Error_class(code, &class);
  check(class == MPI_ERR_UNSUPPORTED_OPERATION, "nothing is counted where it is disabled");
  MPI_File_close(&file);
  code = file_counters(MPI_FILE_NULL, &seen, sizeof seen);
  MPI_Error_class(code, &class);
  check(class == MPI_ERR_FILE, "no file");

  long sums[2], mine[2] = {checks, failed};
  MPI_Reduce(mine, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld checks passed, %ld failed\n", sums[0] - sums[1], sums[1]);
  MPI_Finalize();
  return failed != 0;
}
