/* Two opens of one file at once: the even ranks write strided pieces again and again, which a
   library may do by reading, changing and writing back; the odd ranks write single values into the
   holes. Every rank opens the file for itself (MPI_COMM_SELF), so nothing but the library's care
   keeps a value in a hole from being put back to what it was.

   other_opens [rounds = 300] [directory = .] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { pieces = 256, stride = 64, piece = 8 };

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "other_opens: %s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Writes the first piece of every stride; `round` in every byte. */
static void write_strided(MPI_File file, int round) {
  char data[pieces * piece];
  memset(data, round, sizeof data);
  check(MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE), "strided");
}

/* Puts a value into a hole and sees whether it stays: 1 if it was lost. */
static int write_hole(MPI_File file, int rank, int number) {
  const MPI_Offset place = (MPI_Offset)(number % pieces) * stride + piece * (1 + rank / 2 % 6);
  long value = (long)number * 1000 + rank;
  long there = -1;
  check(MPI_File_write_at(file, place, &value, piece, MPI_BYTE, MPI_STATUS_IGNORE), "hole");
  for (int look = 0; look < 3; ++look) {
    check(MPI_File_read_at(file, place, &there, piece, MPI_BYTE, MPI_STATUS_IGNORE), "look");
    if (there != value) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 300;
  char path[4096];
  int run = (int)getpid();
  MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/other_opens.%d", argc > 2 ? argv[2] : ".", run);

  MPI_File file;
  check(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        "open");
  check(MPI_File_set_size(file, pieces * stride), "set_size");
  MPI_Datatype comb;
  MPI_Type_vector(pieces, piece, stride, MPI_BYTE, &comb);
  MPI_Type_commit(&comb);
  if (rank % 2 == 0)
    check(MPI_File_set_view(file, 0, MPI_BYTE, comb, "native", MPI_INFO_NULL), "set_view");
  MPI_Barrier(MPI_COMM_WORLD);

  int lost = 0;
  for (int i = 0; i < rounds * (rank % 2 == 0 ? 4 : 16); ++i) {
    if (rank % 2 == 0)
      write_strided(file, i);
    else
      lost += write_hole(file, rank, i);
  }
  check(MPI_File_close(&file), "close");
  MPI_Type_free(&comb);
  int all = 0;
  MPI_Allreduce(&lost, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    unlink(path);
    printf("other_opens: %d values lost\n", all);
  }
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
