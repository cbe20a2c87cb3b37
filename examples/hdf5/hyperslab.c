/* Parallel HDF5: ranks write interleaved columns of one dataset through hyperslabs, collectively or
 * each on its own, and read it back.
 * usage: mpiexec -n N ./hyperslab FILE [ROWS COLUMNS_PER_RANK [independent]] */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rows = 20, columns_per_rank = 6;

static int number_at(int row, int column) { return 1000 * row + column; }

/* The columns rank, rank + ranks, rank + 2 * ranks, ... of the file's dataset. */
static hid_t columns_of(hid_t dataset, int rank, int ranks) {
  hsize_t start[2] = {0, (hsize_t)rank};
  hsize_t stride[2] = {1, (hsize_t)ranks};
  hsize_t count[2] = {(hsize_t)rows, (hsize_t)columns_per_rank};
  hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
  return space;
}

static hid_t open_dataset(hid_t file, int ranks) {
  hsize_t sizes[2] = {(hsize_t)rows, (hsize_t)(columns_per_rank * ranks)};
  hid_t space = H5Screate_simple(2, sizes, NULL);
  hid_t dataset =
      H5Dcreate2(file, "matrix", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return dataset;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int neighbour = (rank + 1) % ranks;
  if (argc > 3) {
    rows = atoi(argv[2]);
    columns_per_rank = atoi(argv[3]);
  }

  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t dataset = open_dataset(file, ranks);
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, argc > 4 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
  hsize_t sizes[2] = {(hsize_t)rows, (hsize_t)columns_per_rank};
  hid_t memory = H5Screate_simple(2, sizes, NULL);

  int* block = malloc(sizeof(int) * (size_t)rows * (size_t)columns_per_rank);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column)
      block[row * columns_per_rank + column] = number_at(row, column * ranks + rank);
  hid_t mine = columns_of(dataset, rank, ranks);
  int wrong = H5Dwrite(dataset, H5T_NATIVE_INT, memory, mine, transfer, block) < 0;
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  MPI_Barrier(MPI_COMM_WORLD);

  hid_t theirs = columns_of(dataset, neighbour, ranks);
  wrong += H5Dread(dataset, H5T_NATIVE_INT, memory, theirs, transfer, block) < 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns_per_rank; ++column)
      wrong += block[row * columns_per_rank + column] != number_at(row, column * ranks + neighbour);
  free(block);

  H5Sclose(mine);
  H5Sclose(theirs);
  H5Sclose(memory);
  H5Pclose(transfer);
  H5Dclose(dataset);
  wrong += H5Fclose(file) < 0;
  H5Pclose(access);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("hyperslab: %d ranks, %d wrong\n", ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
