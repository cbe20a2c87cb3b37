/* Realms that a program gives: who moves what, and what it hears of wrong ones. */
#include "../../include/tamis/realms.h"

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#include "check.h"

typedef int SetRealms(MPI_File, int, const MPI_Offset*, const MPI_Datatype*);

static int rank, ranks;
static SetRealms* set_realms;

/* `block` bytes, and the next copy `extent` bytes further. */
static MPI_Datatype block_of(int block, MPI_Aint extent) {
  MPI_Datatype bytes, type;
  MPI_Type_contiguous(block, MPI_BYTE, &bytes);
  MPI_Type_create_resized(bytes, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&bytes);
  return type;
}

/* A program that is not linked with Tamis calls what it found. */
#define tamis_file_set_realms (*set_realms)

/* The example of docs/realms.md, word for word. */
/* Stripes of 1000 bytes, dealt out to two aggregators in turn. */
int deal_out_stripes(MPI_File file) {
  MPI_Datatype bytes, stripe;
  MPI_Type_contiguous(1000, MPI_BYTE, &bytes);
  MPI_Type_create_resized(bytes, 0, 2000, &stripe);
  MPI_Type_commit(&stripe);
  MPI_Offset displacements[2] = {0, 1000};
  MPI_Datatype filetypes[2] = {stripe, stripe};
  int code = tamis_file_set_realms(file, 2, displacements, filetypes);
  MPI_Type_free(&stripe);
  MPI_Type_free(&bytes);
  return code;
}

/* All ranks write a byte in turn, `each` of them, and read them back. */
static int write_all(MPI_File file, int each) {
  char bytes[3000], back[3000];
  MPI_Datatype turn = block_of(1, ranks);
  memset(bytes, 'a' + rank, sizeof bytes);
  memset(back, 0, sizeof back);
  MPI_File_set_view(file, rank, MPI_BYTE, turn, "native", MPI_INFO_NULL);
  MPI_Type_free(&turn);
  int code = MPI_File_write_at_all(file, 0, bytes, each, MPI_BYTE, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  code = MPI_File_read_at_all(file, 0, back, each, MPI_BYTE, MPI_STATUS_IGNORE);
  CHECK(memcmp(bytes, back, (size_t)each) == 0);
  return code;
}

static void check_wrong_ones(MPI_File file) {
  MPI_Datatype half = block_of(500, 2000), twice = block_of(1000, 900), never;
  MPI_Type_contiguous(4, MPI_INT, &never); /* not committed */
  MPI_Offset at[2] = {0, 1000};
  MPI_Datatype same[2] = {half, half};
  CHECK(class_of(set_realms(file, 1, at, &twice)) == MPI_ERR_ARG);
  CHECK(class_of(set_realms(file, 1, at, &never)) == MPI_ERR_TYPE);
  CHECK(class_of(set_realms(file, -1, at, same)) == MPI_ERR_ARG);
  CHECK(class_of(set_realms(file, 1, NULL, same)) == MPI_ERR_ARG);
  CHECK(class_of(set_realms(file, 1, at, NULL)) == MPI_ERR_ARG);
  at[0] = -1;
  CHECK(class_of(set_realms(file, 1, at, same)) == MPI_ERR_ARG);
  if (ranks > 1) {
    at[0] = rank == 0 ? 0 : 8;
    CHECK(class_of(set_realms(file, 1, at, same)) == MPI_ERR_NOT_SAME);
    at[0] = 0;
    CHECK(class_of(set_realms(file, rank == 1 ? 1 : 2, at, same)) == MPI_ERR_NOT_SAME);
  }
  MPI_Type_free(&half);
  MPI_Type_free(&twice);
  MPI_Type_free(&never);
}

/* A hole in the realms: an error on all ranks that says where, and the file stays as it is. */
static void check_holes(MPI_File file) {
  MPI_Datatype half = block_of(500, 2000);
  MPI_Offset at[1] = {0}, before, after;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK(set_realms(file, 1, at, &half) == MPI_SUCCESS);
  MPI_File_get_size(file, &before);
  int code = write_all(file, 3000);
  CHECK(class_of(code) == MPI_ERR_ARG);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "realms") != NULL && strstr(text, "byte 500") != NULL);
  MPI_File_get_size(file, &after);
  CHECK(before == after);
  CHECK(set_realms(file, 0, NULL, NULL) == MPI_SUCCESS);
  CHECK(write_all(file, 3000) == MPI_SUCCESS);
  MPI_Type_free(&half);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  set_realms = (SetRealms*)dlsym(RTLD_DEFAULT, "tamis_file_set_realms");
  CHECK(set_realms != NULL);
  if (set_realms == NULL) return report();
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
        MPI_SUCCESS);
  check_wrong_ones(file);
  CHECK(write_all(file, 100) == MPI_SUCCESS); /* none of them is in force */
  if (ranks > 1) {
    CHECK(deal_out_stripes(file) == MPI_SUCCESS);
    CHECK(write_all(file, 2500) == MPI_SUCCESS);
    MPI_Info_set(info, "cb_buffer_size", "8192");
    MPI_Info_set(info, "cb_nodes", "1");
    CHECK(MPI_File_set_info(file, info) == MPI_SUCCESS);
    CHECK(write_all(file, 2900) == MPI_SUCCESS);
  } else {
    CHECK(class_of(deal_out_stripes(file)) == MPI_ERR_ARG); /* more than ranks */
  }
  check_holes(file);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  CHECK(class_of(set_realms(MPI_FILE_NULL, 0, NULL, NULL)) == MPI_ERR_FILE);
  return report();
}
