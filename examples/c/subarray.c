/* A block-distributed matrix: each rank writes its block of columns through a subarray view,
 * collectively, then reads the block of its right neighbour back and checks every number. usage:
 * mpiexec -n N ./subarray FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 96, columns_per_rank = 40 };

static int number_at(int row, int column) { return 100000 * row + column; }

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "subarray: %s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The filetype of one rank's block in the whole matrix. */
static MPI_Datatype block_of(int rank, int ranks) {
  int sizes[2] = {rows, columns_per_rank * ranks};
  int subsizes[2] = {rows, columns_per_rank};
  int starts[2] = {0, columns_per_rank * rank};
  MPI_Datatype block;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &block);
  MPI_Type_commit(&block);
  return block;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  static int block[rows][columns_per_rank];
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column)
      block[row][column] = number_at(row, columns_per_rank * rank + column);

  MPI_File file;
  int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], amode, MPI_INFO_NULL, &file), "open");
  MPI_Datatype mine = block_of(rank, ranks);
  check(MPI_File_set_view(file, 0, MPI_INT, mine, "native", MPI_INFO_NULL), "set_view");
  MPI_Status status;
  check(MPI_File_write_all(file, block, rows * columns_per_rank, MPI_INT, &status), "write_all");
  int written;
  MPI_Get_count(&status, MPI_INT, &written);
  check(MPI_File_sync(file), "sync");
  MPI_Barrier(MPI_COMM_WORLD);

  int neighbour = (rank + 1) % ranks;
  MPI_Datatype theirs = block_of(neighbour, ranks);
  check(MPI_File_set_view(file, 0, MPI_INT, theirs, "native", MPI_INFO_NULL), "set_view");
  check(MPI_File_read_all(file, block, rows * columns_per_rank, MPI_INT, &status), "read_all");
  check(MPI_File_close(&file), "close");

  int wrong = written != rows * columns_per_rank;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column)
      wrong += block[row][column] != number_at(row, columns_per_rank * neighbour + column);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("subarray: %d ranks, %d wrong\n", ranks, wrong);
  MPI_Type_free(&mine);
  MPI_Type_free(&theirs);
  MPI_Finalize();
  return wrong != 0;
}
