/* Counters inside a program: what a rank did is what it is told, and only where it asked. */
#include "../../include/tamis/counters.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Counters(MPI_File, tamis_counters*, size_t);
typedef int Ways(MPI_File, int*);
typedef int OneWay(MPI_File, int, tamis_way*, tamis_counters*, size_t);

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

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static int64_t sum(const int64_t* numbers) {
  int64_t all = 0;
  for (int i = 0; i < TAMIS_REQUEST_SIZES; ++i) all += numbers[i];
  return all;
}

static void* find(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  check(function != NULL, name);
  if (function == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return function;
}

/* Writes of a rank alone, which went directly, and a read of all ranks. */
static void check_ways(MPI_File file, int rank, const tamis_counters* all) {
  Ways* file_ways = (Ways*)find("tamis_file_ways");
  OneWay* file_way = (OneWay*)find("tamis_file_way");
  tamis_way way;
  tamis_counters seen;
  int count = 0;
  int64_t calls = 0, writes = 0;
  check(file_ways(file, &count) == MPI_SUCCESS && count == 2, "two ways");
  for (int i = 0; i < count; ++i) {
    check(file_way(file, i, &way, &seen, sizeof seen) == MPI_SUCCESS, "a way is told");
    check(sum(seen.read_sizes) == seen.reads && sum(seen.write_sizes) == seen.writes,
          "sizes of a way's requests");
    check(!seen.aggregates || strcmp(way.route, "two_phase") == 0, "aggregates in two-phase only");
    calls += seen.calls;
    writes += seen.writes;
  }
  check(calls == all->calls && writes == all->writes, "ways sum up to all");
  check(file_way(file, 0, &way, &seen, sizeof seen) == MPI_SUCCESS &&
            strcmp(way.direction, "write") == 0 && !way.collective &&
            strcmp(way.route, "alone") == 0 && strcmp(way.method, "direct") == 0 &&
            seen.calls == rank + 1 && seen.write_sizes[3] == rank + 1 && seen.reads == 0,
        "the writes");
  check(file_way(file, 1, &way, &seen, sizeof seen) == MPI_SUCCESS &&
            strcmp(way.direction, "read") == 0 && seen.calls == 1 && seen.writes == 0 &&
            seen.bytes_moved == 50,
        "the read");
  check(class_of(file_ways(file, NULL)) == MPI_ERR_ARG, "no place for their number");
  check(class_of(file_way(file, 0, NULL, &seen, sizeof seen)) == MPI_ERR_ARG, "none for the way");
  check(class_of(file_way(file, 0, &way, NULL, 0)) == MPI_ERR_ARG, "none for its counters");
  check(class_of(file_way(file, -1, &way, &seen, sizeof seen)) == MPI_ERR_ARG, "before the first");
  check(class_of(file_way(file, 2, &way, &seen, sizeof seen)) == MPI_ERR_ARG, "beyond the last");
}

/* A call whose arguments are refused counts as one, and as an error. */
static void check_refusals(MPI_File file, Counters* file_counters) {
  char bytes[10] = {0};
  tamis_counters before, after;
  file_counters(file, &before, sizeof before);
  check(
      class_of(MPI_File_write_at(file, -1, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_ARG,
      "a negative offset");
  MPI_File_read(file, bytes, 10, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
  MPI_File_write_at_all(file, -1, bytes, 10, MPI_BYTE, MPI_STATUS_IGNORE);
  file_counters(file, &after, sizeof after);
  check(after.calls == before.calls + 3, "refused calls are calls");
  check(after.errors == before.errors + 3, "and errors");
  check(after.bytes_moved == before.bytes_moved && after.writes == before.writes, "of no bytes");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Counters* file_counters = (Counters*)find("tamis_file_counters");

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
  check(sum(seen.write_sizes) == seen.writes && sum(seen.read_sizes) == seen.reads, "sizes");
  check_ways(file, rank, &seen);
  check_refusals(file, file_counters);

  int64_t two[2] = {-1, -1};
  check(file_counters(file, (tamis_counters*)two, sizeof two[0]) == MPI_SUCCESS && two[0] > 0 &&
            two[1] == -1,
        "no more than the size is filled");
  check(class_of(file_counters(file, NULL, 0)) == MPI_ERR_ARG, "a null pointer");
  MPI_File_close(&file);

  file = open_file(argv[1], "disable");
  check(class_of(file_counters(file, &seen, sizeof seen)) == MPI_ERR_UNSUPPORTED_OPERATION,
        "nothing is counted where it is disabled");
  MPI_File_close(&file);
  check(class_of(file_counters(MPI_FILE_NULL, &seen, sizeof seen)) == MPI_ERR_FILE, "no file");

  long sums[2], mine[2] = {checks, failed};
  MPI_Reduce(mine, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld checks passed, %ld failed\n", sums[0] - sums[1], sums[1]);
  MPI_Finalize();
  return failed != 0;
}
