/* The large-count forms, which Open MPI 4 and 5 have not, found as mpi4py finds them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "check.h"

typedef int write_at_fn(MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Status*);
typedef int read_at_fn(MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*);
typedef int write_fn(MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*);
typedef int read_fn(MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*);
typedef int extent_fn(MPI_File, MPI_Datatype, MPI_Count*);
typedef int toint_fn(MPI_File);
typedef MPI_File fromint_fn(int);

#define FIND(type, name)                                      \
  type* name = (type*)dlsym(RTLD_DEFAULT, "MPI_File_" #name); \
  CHECK(name != NULL)

int main(int argc, char** argv) {
  int rank, ranks, in[8], out[8];
  MPI_File file;
  MPI_Status status;
  MPI_Count extent = 0, elements = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FIND(write_at_fn, write_at_c);
  FIND(read_at_fn, read_at_c);
  FIND(write_at_fn, write_at_all_c);
  FIND(read_at_fn, read_at_all_c);
  FIND(write_fn, write_c);
  FIND(read_fn, read_c);
  FIND(write_fn, write_all_c);
  FIND(read_fn, read_all_c);
  FIND(extent_fn, get_type_extent_c);
  FIND(toint_fn, toint);
  FIND(fromint_fn, fromint);
  for (int i = 0; i < 8; ++i) out[i] = 100 * rank + i;
  CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  MPI_Offset mine = (MPI_Offset)sizeof out * rank;
  CHECK(write_at_c(file, mine, out, 8, MPI_INT, &status) == MPI_SUCCESS);
  MPI_Get_elements_x(&status, MPI_INT, &elements);
  CHECK(elements == 8);
  CHECK(read_at_c(file, mine, in, 8, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(memcmp(in, out, sizeof out) == 0);
  for (int i = 0; i < 8; ++i) out[i] += 1000;
  CHECK(write_at_all_c(file, mine, out, 8, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(read_at_all_c(file, mine, in, 8, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(memcmp(in, out, sizeof out) == 0);
  for (int i = 0; i < 8; ++i) out[i] += 1000;
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  CHECK(write_c(file, out, 4, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(write_all_c(file, out + 4, 4, MPI_INT, &status) == MPI_SUCCESS);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  CHECK(read_c(file, in, 4, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(read_all_c(file, in + 4, 4, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(memcmp(in, out, sizeof out) == 0);
  CHECK(class_of(write_at_c(file, 0, out, (MPI_Count)1 << 62, MPI_INT, &status)) == MPI_ERR_COUNT);
  CHECK(get_type_extent_c(file, MPI_INT, &extent) == MPI_SUCCESS && extent == sizeof(int));
  CHECK(toint(file) == MPI_File_c2f(file) && fromint(toint(file)) == file);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_delete(argv[1], MPI_INFO_NULL);
  return report();
}
