/* PnetCDF: two variables of a classic NetCDF file (64-bit data), written collectively by blocks of
 * columns and read back. usage: mpiexec -n N ./variables FILE */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { rows = 16, columns_per_rank = 10 };

static int temperature_at(int row, int column) { return 1000 * row + column; }
static double pressure_at(int row, int column) { return row + 0.25 * column; }

static void check(int code, const char* what) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "variables: %s: %s\n", what, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, file, dimensions[2], temperature, pressure;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
        "create");
  check(ncmpi_def_dim(file, "row", rows, &dimensions[0]), "def_dim");
  check(ncmpi_def_dim(file, "column", columns_per_rank * ranks, &dimensions[1]), "def_dim");
  check(ncmpi_def_var(file, "temperature", NC_INT, 2, dimensions, &temperature), "def_var");
  check(ncmpi_def_var(file, "pressure", NC_DOUBLE, 2, dimensions, &pressure), "def_var");
  check(ncmpi_put_att_text(file, temperature, "unit", 6, "kelvin"), "put_att");
  check(ncmpi_enddef(file), "enddef");

  static int warm[rows][columns_per_rank];
  static double heavy[rows][columns_per_rank];
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column) {
      warm[row][column] = temperature_at(row, columns_per_rank * rank + column);
      heavy[row][column] = pressure_at(row, columns_per_rank * rank + column);
    }
  MPI_Offset count[2] = {rows, columns_per_rank};
  MPI_Offset mine[2] = {0, columns_per_rank * rank};
  check(ncmpi_put_vara_int_all(file, temperature, mine, count, &warm[0][0]), "put temperature");
  check(ncmpi_put_vara_double_all(file, pressure, mine, count, &heavy[0][0]), "put pressure");
  check(ncmpi_close(file), "close");

  int neighbour = (rank + 1) % ranks;
  MPI_Offset theirs[2] = {0, columns_per_rank * neighbour};
  check(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &file), "open");
  check(ncmpi_get_vara_int_all(file, temperature, theirs, count, &warm[0][0]), "get temperature");
  check(ncmpi_get_vara_double_all(file, pressure, theirs, count, &heavy[0][0]), "get pressure");
  check(ncmpi_close(file), "close");

  int wrong = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column) {
      wrong += warm[row][column] != temperature_at(row, columns_per_rank * neighbour + column);
      wrong += heavy[row][column] != pressure_at(row, columns_per_rank * neighbour + column);
    }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("variables: %d ranks, %d wrong\n", ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
