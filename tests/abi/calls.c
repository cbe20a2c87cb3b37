/* Every supported call from C, its results and its effect on the bytes of the file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kInts = 64 };

static int rank, ranks;
static const char* path;

static MPI_File open_file(int amode) {
  MPI_File file = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  CHECK(file != MPI_FILE_NULL);
  return file;
}

static void fill(int* values, int salt) {
  for (int i = 0; i < kInts; ++i) values[i] = 1000000 * rank + 1000 * salt + i;
}

/* The ints at `index` of the file, read past MPI. */
static void posix_read(int* values, int count, long index) {
  int descriptor = open(path, O_RDONLY);
  CHECK(pread(descriptor, values, sizeof(int) * count, sizeof(int) * index) ==
        (ssize_t)sizeof(int) * count);
  close(descriptor);
}

static int count_of(MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  return count;
}

static void tamis_serves(void) {
  const char* (*version)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "tamis_version");
  const char* (*host)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "tamis_host");
  CHECK(version != NULL && version() != NULL);
  CHECK(host != NULL && host() != NULL);
#ifdef OPEN_MPI
  CHECK(strcmp(host(), "openmpi") == 0);
#else
  CHECK(strcmp(host(), "mpich") == 0);
#endif
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  CHECK(MPI_File_get_info(file, &info) == MPI_SUCCESS);
  MPI_Info_get(info, "tamis_shared_memory", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found);
  MPI_Info_free(&info);
  MPI_File_close(&file);
}

static void explicit_offsets(void) {
  int out[kInts], in[kInts];
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset mine = (MPI_Offset)sizeof out * rank;
  fill(out, 1);
  CHECK(MPI_File_write_at(file, mine, out, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts);
  posix_read(in, kInts, (long)kInts * rank);
  CHECK(memcmp(in, out, sizeof out) == 0);
  memset(in, 0, sizeof in);
  CHECK(MPI_File_read_at(file, mine, in, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts && memcmp(in, out, sizeof out) == 0);
  fill(out, 2);
  CHECK(MPI_File_write_at_all(file, mine, out, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts);
  CHECK(MPI_File_read_at_all(file, mine, in, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts && memcmp(in, out, sizeof out) == 0);
  /* The last 16 ints of the file, of 64 asked for. */
  MPI_Offset near_end = (MPI_Offset)sizeof(int) * ((MPI_Offset)kInts * ranks - 16);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_read_at(file, near_end, in, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == 16);
  CHECK(MPI_File_read_at(file, near_end, in, kInts, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
}

static void individual_pointers(void) {
  int out[kInts], in[kInts];
  MPI_Status status;
  MPI_Offset offset = -1;
  MPI_File file = open_file(MPI_MODE_RDWR);
  fill(out, 3);
  CHECK(MPI_File_seek(file, (MPI_Offset)sizeof out * rank, MPI_SEEK_SET) == MPI_SUCCESS);
  CHECK(MPI_File_write(file, out, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(MPI_File_write_all(file, out + kInts / 2, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts / 2);
  CHECK(MPI_File_get_position(file, &offset) == MPI_SUCCESS);
  CHECK(offset == (MPI_Offset)sizeof out * (rank + 1));
  posix_read(in, kInts, (long)kInts * rank);
  CHECK(memcmp(in, out, sizeof out) == 0);
  CHECK(MPI_File_seek(file, -(MPI_Offset)sizeof out, MPI_SEEK_CUR) == MPI_SUCCESS);
  memset(in, 0, sizeof in);
  CHECK(MPI_File_read(file, in, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(MPI_File_read_all(file, in + kInts / 2, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts / 2 && memcmp(in, out, sizeof out) == 0);
  CHECK(MPI_File_seek(file, 0, MPI_SEEK_END) == MPI_SUCCESS);
  CHECK(MPI_File_get_position(file, &offset) == MPI_SUCCESS);
  CHECK(offset == (MPI_Offset)sizeof out * ranks);
  CHECK(class_of(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_seek(file, 0, 77)) == MPI_ERR_ARG);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

/* Ints dealt out to the ranks like cards; the program's types are freed before they are used. */
static void views(void) {
  int out[kInts], in[kInts], one;
  MPI_Datatype card, filetype, etype_back, filetype_back;
  MPI_Offset disp, byte;
  MPI_Aint lb, extent;
  char datarep[MPI_MAX_DATAREP_STRING];
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_RDWR);
  CHECK(MPI_File_set_size(file, 0) == MPI_SUCCESS);
  MPI_Type_contiguous(1, MPI_INT, &card);
  MPI_Type_create_resized(card, 0, (MPI_Aint)sizeof(int) * ranks, &filetype);
  MPI_Type_commit(&filetype);
  CHECK(MPI_File_set_view(file, 16 + (MPI_Offset)sizeof(int) * rank, MPI_INT, filetype, "native",
                          MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&card);
  MPI_Type_free(&filetype);
  fill(out, 4);
  CHECK(MPI_File_write_all(file, out, kInts, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kInts; i += 7) {
    posix_read(&one, 1, 4 + (long)i * ranks + (rank + 1) % ranks);
    CHECK(one == 1000000 * ((rank + 1) % ranks) + 4000 + i);
  }
  CHECK(MPI_File_read_at(file, 5, in, 3, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == 3 && memcmp(in, out + 5, 3 * sizeof(int)) == 0);
  CHECK(MPI_File_get_byte_offset(file, 3, &byte) == MPI_SUCCESS);
  CHECK(byte == 16 + (MPI_Offset)sizeof(int) * (rank + 3 * (MPI_Offset)ranks));
  CHECK(MPI_File_get_view(file, &disp, &etype_back, &filetype_back, datarep) == MPI_SUCCESS);
  CHECK(disp == 16 + (MPI_Offset)sizeof(int) * rank && etype_back == MPI_INT);
  CHECK(strcmp(datarep, "native") == 0);
  CHECK(MPI_Type_get_extent(filetype_back, &lb, &extent) == MPI_SUCCESS);
  CHECK(extent == (MPI_Aint)sizeof(int) * ranks);
  MPI_Type_free(&filetype_back);
  CHECK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent) == MPI_SUCCESS);
  CHECK(extent == (MPI_Aint)sizeof(double));
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

static void strided_memory_and_bottom(void) {
  int out[2 * kInts], in[kInts];
  MPI_Datatype every_second, absolute;
  MPI_Aint address;
  int length = kInts;
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < 2 * kInts; ++i) out[i] = 1000 * rank + i;
  MPI_Type_vector(kInts, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Offset mine = (MPI_Offset)sizeof in * rank;
  CHECK(MPI_File_write_at_all(file, mine, out, 1, every_second, &status) == MPI_SUCCESS);
  MPI_Get_address(in, &address);
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  CHECK(MPI_File_read_at(file, mine, MPI_BOTTOM, 1, absolute, &status) == MPI_SUCCESS);
  CHECK(count_of(&status) == kInts);
  for (int i = 0; i < kInts; ++i) CHECK(in[i] == out[2 * i]);
  MPI_Type_free(&every_second);
  MPI_Type_free(&absolute);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

static void queries_and_settings(void) {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset size = -1;
  MPI_Group group, world;
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1];
  int amode = 0, flag = -1, order = MPI_UNEQUAL, found = 0;
  CHECK(MPI_File_set_size(file, 4321) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 4321);
  CHECK(MPI_File_preallocate(file, 10000) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 10000);
  CHECK(MPI_File_get_amode(file, &amode) == MPI_SUCCESS);
  CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
  CHECK(MPI_File_get_group(file, &group) == MPI_SUCCESS);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &order);
  CHECK(order == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  CHECK(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && flag == 0);
  CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
  CHECK(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && flag == 1);
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "262144");
  MPI_Info_set(info, "no_such_hint_exists", "1");
  CHECK(MPI_File_set_info(file, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(MPI_File_get_info(file, &info) == MPI_SUCCESS);
  MPI_Info_get(info, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found && strcmp(value, "262144") == 0);
  MPI_Info_get(info, "no_such_hint_exists", MPI_MAX_INFO_VAL, value, &found);
  CHECK(!found);
  MPI_Info_free(&info);
  CHECK(MPI_File_sync(file) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

static void integers(void) {
  MPI_File first = open_file(MPI_MODE_RDWR), second = open_file(MPI_MODE_RDWR);
  MPI_Fint number = MPI_File_c2f(first);
  CHECK(number > 0 && MPI_File_c2f(second) > 0 && MPI_File_c2f(second) != number);
  CHECK(MPI_File_f2c(number) == first);
  CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL);
  CHECK(MPI_File_f2c(123456) == MPI_FILE_NULL && MPI_File_f2c(-1) == MPI_FILE_NULL);
  MPI_File_close(&first);
  CHECK(MPI_File_f2c(number) == MPI_FILE_NULL);
  first = open_file(MPI_MODE_RDWR);
  CHECK(MPI_File_c2f(first) == number);
  MPI_File_close(&first);
  MPI_File_close(&second);
}

static void deletion(void) {
  if (rank == 0) {
    CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_delete(path, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
  CHECK(access(path, F_OK) == 0);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access(path, F_OK) != 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  path = argv[1];
  tamis_serves();
  explicit_offsets();
  individual_pointers();
  views();
  strided_memory_and_bottom();
  queries_and_settings();
  integers();
  deletion();
  return report();
}
