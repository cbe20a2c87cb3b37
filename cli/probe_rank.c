/* One rank of what `tamis doctor` starts under each MPI, with the library preloaded: ranks write a
   file together, interleaved, and read back what another one wrote. Plain MPI; rank 0 prints one
   line of JSON. Exit code 1: a call failed or bytes were wrong, and a line says which.

     tamis-rank-<mpi> FILE      (deleted when it is closed) */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 64, kPieces = 32 };

static void check(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  printf("%s: %s\n", what, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char expected(int rank, int index) {
  return (unsigned char)(rank * 31 + index * 7 + 1);
}

static void set_view(MPI_File file, int rank, int ranks) {
  MPI_Datatype filetype;
  MPI_Type_vector(kPieces, kPiece, kPiece * ranks, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  check(MPI_File_set_view(file, (MPI_Offset)rank * kPiece, MPI_BYTE, filetype, "native",
                          MPI_INFO_NULL),
        "MPI_File_set_view");
  MPI_Type_free(&filetype);
}

static void write_and_read(MPI_File file, int rank, int ranks) {
  unsigned char bytes[kPiece * kPieces];
  const int other = (rank + 1) % ranks;
  for (int i = 0; i < kPiece * kPieces; ++i) bytes[i] = expected(rank, i);
  set_view(file, rank, ranks);
  check(MPI_File_write_all(file, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_write_all");
  memset(bytes, 0, sizeof bytes);
  set_view(file, other, ranks);
  check(MPI_File_read_all(file, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_read_all");
  for (int i = 0; i < kPiece * kPieces; ++i) {
    if (bytes[i] == expected(other, i)) continue;
    printf("rank %d read a wrong byte\n", rank);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* Only Tamis has this hint. */
static int is_served(MPI_File file) {
  MPI_Info info;
  char value[64];
  int found = 0;
  check(MPI_File_get_info(file, &info), "MPI_File_get_info");
  MPI_Info_get(info, "tamis_locks", sizeof value - 1, value, &found);
  MPI_Info_free(&info);
  return found;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  MPI_File file;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n\"\\")] = '\0';
  for (char* c = version; *c != '\0'; ++c) {
    if (*c == '\t') *c = ' ';
  }
  check(MPI_File_open(MPI_COMM_WORLD, argv[1],
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file),
        "MPI_File_open");
  const int served = is_served(file);
  write_and_read(file, rank, ranks);
  check(MPI_File_close(&file), "MPI_File_close");
  if (rank == 0) {
    printf("{\"version\":\"%s\",\"ranks\":%d,\"served\":%s}\n", version, ranks,
           served ? "true" : "false");
  }
  MPI_Finalize();
  return 0;
}
