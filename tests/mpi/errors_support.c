#include "errors_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void expect_class(Test* test, int code, const int* classes, const char* what) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  for (const int* allowed = classes; *allowed != -1; ++allowed) {
    if (class == *allowed) return;
  }
  char text[MPI_MAX_ERROR_STRING] = "success";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  fprintf(stderr, "  rank %d: class %d not expected (%s): %s\n", test->rank, class, text, what);
  ++test->wrong;
}

void expect_that(Test* test, bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "  rank %d: not so: %s\n", test->rank, what);
  ++test->wrong;
}

MPI_File open_fresh(Test* test) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test->rank == 0) unlink(test->path);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "4096");
  MPI_File file = MPI_FILE_NULL;
  EXPECT(test,
         MPI_File_open(MPI_COMM_WORLD, test->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file),
         MPI_SUCCESS);
  MPI_Info_free(&info);
  return file;
}

void fill(const Test* test, unsigned char* data, int round) {
  for (int i = 0; i < healthy_bytes; ++i) {
    data[i] = (unsigned char)(i * 31 + i / 251 + 17 * test->rank + 101 * round + 1);
  }
}

bool in_file(const Test* test, int rank, int round, long long offset) {
  static unsigned char expected[healthy_bytes], found[healthy_bytes];
  const Test other = {.rank = rank, .ranks = test->ranks};
  fill(&other, expected, round);
  const int fd = open(test->path, O_RDONLY);
  const bool whole = fd >= 0 && pread(fd, found, healthy_bytes, offset) == healthy_bytes;
  close(fd);
  return whole && memcmp(expected, found, healthy_bytes) == 0;
}

void expect_usable(Test* test, MPI_File file) {
  static unsigned char data[healthy_bytes], back[healthy_bytes];
  MPI_Status status;
  const MPI_Offset at = (MPI_Offset)test->rank * healthy_bytes;
  EXPECT(test, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
         MPI_SUCCESS);
  for (int round = 1000; round < 1002; ++round) {
    const bool together = round == 1000;
    fill(test, data, round);
    memset(back, 0, sizeof back);
    EXPECT(test,
           together ? MPI_File_write_at_all(file, at, data, healthy_bytes, MPI_BYTE, &status)
                    : MPI_File_write_at(file, at, data, healthy_bytes, MPI_BYTE, &status),
           MPI_SUCCESS);
    EXPECT_THAT(test, in_file(test, test->rank, round, at));
    EXPECT(test,
           together ? MPI_File_read_at_all(file, at, back, healthy_bytes, MPI_BYTE, &status)
                    : MPI_File_read_at(file, at, back, healthy_bytes, MPI_BYTE, &status),
           MPI_SUCCESS);
    EXPECT_THAT(test, memcmp(data, back, healthy_bytes) == 0);
  }
}

int open_as(const char* path, int amode, MPI_File* file) {
  *file = MPI_FILE_NULL;
  return MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, file);
}

void close_expecting_usable(Test* test, MPI_File* file) {
  expect_usable(test, *file);
  EXPECT(test, MPI_File_close(file), MPI_SUCCESS);
}
