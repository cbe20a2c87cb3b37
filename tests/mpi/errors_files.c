/* Opening, access modes, permissions. */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors_cases.h"

/* Opens and expects one of two classes; closes what was opened nevertheless. */
static void open_refused(Test* test, const char* path, int amode, int class, int or_class) {
  MPI_File file;
  const int code = open_as(path, amode, &file);
  EXPECT(test, code, class, or_class);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
}

void amode_combinations(Test* test) {
  const int bad[] = {0,
                     MPI_MODE_CREATE,
                     MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                     MPI_MODE_RDONLY | MPI_MODE_RDWR,
                     MPI_MODE_WRONLY | MPI_MODE_RDWR,
                     MPI_MODE_RDONLY | MPI_MODE_CREATE,
                     MPI_MODE_RDONLY | MPI_MODE_EXCL,
                     MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    open_refused(test, test->path, bad[i], MPI_ERR_AMODE, MPI_ERR_AMODE);
  }
}

void amode_differs_by_rank(Test* test) {
  if (test->ranks == 1) return;
  const int amode = MPI_MODE_CREATE | (test->odd ? MPI_MODE_WRONLY : MPI_MODE_RDWR);
  open_refused(test, test->path, amode, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
}

void amode_bad_on_one_rank(Test* test) {
  if (test->ranks == 1) return;
  const int amode = test->odd ? MPI_MODE_RDONLY | MPI_MODE_CREATE : MPI_MODE_RDWR | MPI_MODE_CREATE;
  open_refused(test, test->path, amode, MPI_ERR_AMODE, MPI_ERR_NOT_SAME);
}

void missing_directory(Test* test) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s.no/such", test->path);
  open_refused(test, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_ERR_NO_SUCH_FILE,
               MPI_ERR_NO_SUCH_FILE);
}

void missing_file(Test* test) {
  open_refused(test, test->path, MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE, MPI_ERR_NO_SUCH_FILE);
  open_refused(test, test->path, MPI_MODE_RDWR, MPI_ERR_NO_SUCH_FILE, MPI_ERR_NO_SUCH_FILE);
  EXPECT(test, MPI_File_delete(test->path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

void exclusive_on_existing_file(Test* test) {
  MPI_File file = open_fresh(test);
  close_expecting_usable(test, &file);
  open_refused(test, test->path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL,
               MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_EXISTS);
}

void file_without_permission(Test* test) {
  MPI_File file = open_fresh(test);
  close_expecting_usable(test, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test->rank == 0) chmod(test->path, 0444);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool root = geteuid() == 0; /* whom no mode bits stop */
  if (root && seteuid(65534) != 0) perror("seteuid");
  open_refused(test, test->path, MPI_MODE_RDWR, MPI_ERR_ACCESS, MPI_ERR_READ_ONLY);
  if (root && seteuid(0) != 0) perror("seteuid");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THAT(test, in_file(test, test->rank, 1001, (long long)test->rank * healthy_bytes));
}

void writes_to_a_file_opened_for_reading(Test* test) {
  MPI_File file = open_fresh(test);
  close_expecting_usable(test, &file);
  MPI_Status status;
  unsigned char data[16] = {0};
  EXPECT(test, open_as(test->path, MPI_MODE_RDONLY, &file), MPI_SUCCESS);
  EXPECT(test, MPI_File_write_at(file, 0, data, 16, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
         MPI_ERR_ACCESS);
  EXPECT(test, MPI_File_write_all(file, data, 16, MPI_BYTE, &status), MPI_ERR_READ_ONLY,
         MPI_ERR_ACCESS);
  EXPECT(test, MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  EXPECT(test, MPI_File_read_at(file, 0, data, 16, MPI_BYTE, &status), MPI_SUCCESS);
  EXPECT(test, MPI_File_close(&file), MPI_SUCCESS);
  EXPECT_THAT(test, in_file(test, test->rank, 1001, (long long)test->rank * healthy_bytes));
}

void reads_from_a_file_opened_for_writing(Test* test) {
  MPI_File file;
  MPI_Status status;
  unsigned char data[16] = {0};
  EXPECT(test, open_as(test->path, MPI_MODE_WRONLY | MPI_MODE_CREATE, &file), MPI_SUCCESS);
  EXPECT(test, MPI_File_read_at(file, 0, data, 16, MPI_BYTE, &status), MPI_ERR_ACCESS,
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(test, MPI_File_read_all(file, data, 16, MPI_BYTE, &status), MPI_ERR_ACCESS,
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(test, MPI_File_write_at(file, 0, data, 16, MPI_BYTE, &status), MPI_SUCCESS);
  EXPECT(test, MPI_File_close(&file), MPI_SUCCESS);
}

void sequential_files_have_no_offsets(Test* test) {
  MPI_File file;
  MPI_Status status;
  unsigned char data[16] = {0};
  EXPECT(test, open_as(test->path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, &file),
         MPI_SUCCESS);
  EXPECT(test, MPI_File_write_at(file, 0, data, 16, MPI_BYTE, &status),
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(test, MPI_File_write_at_all(file, 0, data, 16, MPI_BYTE, &status),
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(test, MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(test, MPI_File_close(&file), MPI_SUCCESS);
}

void delete_on_close(Test* test) {
  MPI_File file;
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE;
  EXPECT(test, open_as(test->path, amode, &file), MPI_SUCCESS);
  close_expecting_usable(test, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THAT(test, access(test->path, F_OK) != 0);
}
