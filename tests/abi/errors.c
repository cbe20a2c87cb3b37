/* Wrong calls: the right class on every rank concerned, nobody waits for ever, nothing is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int rank, ranks;
static const char* path;

static MPI_File open_file(int amode) {
  MPI_File file = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  return file;
}

static int open_class(const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
  CHECK(file == MPI_FILE_NULL);
  return class_of(code);
}

static void wrong_opens(void) {
  char missing[4096];
  MPI_Comm inter = MPI_COMM_NULL, half;
  MPI_File file;
  snprintf(missing, sizeof missing, "%s.no/such/directory", path);
  CHECK(open_class(path, MPI_MODE_CREATE) == MPI_ERR_AMODE);
  CHECK(open_class(path, MPI_MODE_RDONLY | MPI_MODE_RDWR) == MPI_ERR_AMODE);
  CHECK(open_class(path, MPI_MODE_RDONLY | MPI_MODE_CREATE) == MPI_ERR_AMODE);
  CHECK(open_class(path, MPI_MODE_RDONLY | MPI_MODE_EXCL) == MPI_ERR_AMODE);
  CHECK(open_class(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL) == MPI_ERR_AMODE);
  CHECK(open_class(path, MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE);
  CHECK(open_class(missing, MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_ERR_NO_SUCH_FILE);
  CHECK(open_class("", MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_ERR_BAD_FILE);
  CHECK(class_of(MPI_File_open(MPI_COMM_NULL, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
        MPI_ERR_COMM);
  file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_close(&file);
  CHECK(open_class(path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR) == MPI_ERR_FILE_EXISTS);
  if (ranks > 1) {
    int amode = rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    CHECK(open_class(path, amode) == MPI_ERR_NOT_SAME);
    /* A wrong argument on one rank fails the opening on all. */
    CHECK(open_class(path, rank == ranks - 1 ? 0 : MPI_MODE_RDWR) != MPI_SUCCESS);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 1, &inter);
    CHECK(class_of(MPI_File_open(inter, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file)) ==
          MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
}

static void wrong_handles(void) {
  int value = 0;
  MPI_Status status;
  MPI_Offset size;
  MPI_File closed = open_file(MPI_MODE_RDWR), copy = closed, next;
  MPI_File_close(&closed);
  next = open_file(MPI_MODE_RDWR); /* takes the place of the closed one, but not its handle */
  CHECK(class_of(MPI_File_get_size(copy, &size)) == MPI_ERR_FILE);
  CHECK(class_of(MPI_File_close(&copy)) == MPI_ERR_FILE);
  CHECK(MPI_File_close(&next) == MPI_SUCCESS);
  MPI_File garbage = (MPI_File)(uintptr_t)0xdeadbeef;
  CHECK(class_of(MPI_File_write_at(garbage, 0, &value, 1, MPI_INT, &status)) == MPI_ERR_FILE);
  CHECK(class_of(MPI_File_read_all(MPI_FILE_NULL, &value, 1, MPI_INT, &status)) == MPI_ERR_FILE);
  CHECK(class_of(MPI_File_sync(MPI_FILE_NULL)) == MPI_ERR_FILE);
  CHECK(class_of(MPI_File_close(&closed)) == MPI_ERR_FILE);
}

static void wrong_data_accesses(void) {
  int values[4] = {1, 2, 3, 4}, count = -1;
  MPI_Status status;
  MPI_Datatype loose;
  MPI_File file = open_file(MPI_MODE_RDWR);
  MPI_Type_contiguous(2, MPI_INT, &loose);
  CHECK(class_of(MPI_File_write_at(file, 0, values, -1, MPI_INT, &status)) == MPI_ERR_COUNT);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0);
  CHECK(class_of(MPI_File_write_at(file, -1, values, 1, MPI_INT, &status)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_write_at(file, INT64_MAX - 1, values, 1, MPI_INT, &status)) ==
        MPI_ERR_ARG);
  CHECK(class_of(MPI_File_write(file, values, 1, MPI_DATATYPE_NULL, &status)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_File_write(file, values, 1, loose, &status)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_File_read(file, NULL, 1, MPI_INT, &status)) == MPI_ERR_BUFFER);
  CHECK(MPI_File_read(file, NULL, 0, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_write(file, values, 3, MPI_BYTE, &status) != MPI_SUCCESS);
  MPI_Type_free(&loose);
  MPI_File_close(&file);

  file = open_file(MPI_MODE_RDONLY);
  CHECK(class_of(MPI_File_write_at(file, 0, values, 1, MPI_INT, &status)) == MPI_ERR_READ_ONLY);
  CHECK(class_of(MPI_File_set_size(file, 1)) == MPI_ERR_READ_ONLY);
  MPI_File_close(&file);
  file = open_file(MPI_MODE_WRONLY);
  CHECK(class_of(MPI_File_read_at(file, 0, values, 1, MPI_INT, &status)) == MPI_ERR_ACCESS);
  MPI_File_close(&file);
  file = open_file(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  CHECK(class_of(MPI_File_write_at(file, 0, values, 1, MPI_INT, &status)) ==
        MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_File_close(&file);
}

/* One rank calls wrongly: it hears why, the others hear that, and the next call works. */
static void one_wrong_rank(void) {
  int values[4] = {rank, rank, rank, rank}, back = -1, culprit = rank == ranks - 1;
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_RDWR);
  int code = MPI_File_write_at_all(file, culprit ? -5 : 16 * rank, values, 4, MPI_INT, &status);
  CHECK(code != MPI_SUCCESS);
  if (culprit) CHECK(class_of(code) == MPI_ERR_ARG);
  code = MPI_File_read_all(file, values, culprit ? -1 : 1, MPI_INT, &status);
  CHECK(code != MPI_SUCCESS);
  CHECK(MPI_File_set_size(file, culprit ? -1 : 100) != MPI_SUCCESS);
  CHECK(MPI_File_set_view(file, 0, culprit ? MPI_DATATYPE_NULL : MPI_INT, MPI_INT, "native",
                          MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(back == rank);
  MPI_File_close(&file);
}

static void wrong_views(void) {
  MPI_Datatype backwards;
  int lengths[2] = {1, 1}, places[2] = {4, 0};
  MPI_File file = open_file(MPI_MODE_RDWR);
  MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK(class_of(MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) ==
        MPI_ERR_ARG);
  CHECK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_INT, "native", MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL)) ==
        MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL)) ==
        MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&backwards);
  MPI_File_close(&file);
}

static void unsupported_calls(void) {
  int value = 0;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File file = open_file(MPI_MODE_RDWR);
  const int expected = MPI_ERR_UNSUPPORTED_OPERATION;
  CHECK(class_of(MPI_File_write_shared(file, &value, 1, MPI_INT, &status)) == expected);
  CHECK(class_of(MPI_File_read_ordered(file, &value, 1, MPI_INT, &status)) == expected);
  CHECK(class_of(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == expected);
  CHECK(class_of(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request)) == expected);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK(class_of(MPI_File_iread_all(file, &value, 1, MPI_INT, &request)) == expected);
  CHECK(class_of(MPI_File_write_all_begin(file, &value, 1, MPI_INT)) == expected);
  CHECK(class_of(MPI_File_write_all_end(file, &value, &status)) == expected);
  CHECK(class_of(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, NULL,
                                      NULL)) == expected);
  MPI_File_close(&file);
}

static void messages(void) {
  char text[MPI_MAX_ERROR_STRING] = "", again[MPI_MAX_ERROR_STRING] = "";
  int length = 0, value = 0, codes[2], i;
  MPI_File file = open_file(MPI_MODE_RDWR);
  codes[0] = MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  codes[1] = MPI_File_write_at(file, -2, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(MPI_Error_string(codes[0], text, &length) == MPI_SUCCESS);
  CHECK(length == (int)strlen(text));
  CHECK(strstr(text, "MPI_File_write_at") != NULL && strstr(text, "offset is negative") != NULL);
  CHECK(strstr(text, strrchr(path, '/')) != NULL);
  CHECK(codes[0] == codes[1]);
  MPI_File_close(&file);
  /* Codes of the host keep the host's words. */
  CHECK(MPI_Error_string(MPI_ERR_TRUNCATE, again, &length) == MPI_SUCCESS && length > 0);
}

/* Far more different errors than there are codes: each is explained when it comes up, whatever came
   before it, and a code that has been used again since keeps its class. */
static void very_many_messages(void) {
  enum { errors = 1200, late = 50 };
  static int codes[errors];
  char name[4096], ending[32], text[MPI_MAX_ERROR_STRING];
  int length = 0, explained = 0, right_class = 0, i;
  MPI_File file;
  for (i = 0; i < errors; ++i) {
    snprintf(name, sizeof name, "%s.missing.%d", path, i);
    snprintf(ending, sizeof ending, ".missing.%d)", i);
    codes[i] = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(MPI_Error_string(codes[i], text, &length) == MPI_SUCCESS);
    explained += length == (int)strlen(text) && strstr(text, ending) != NULL;
  }
  CHECK(explained == errors);
  for (i = 0; i < errors; ++i) right_class += class_of(codes[i]) == MPI_ERR_NO_SUCH_FILE;
  CHECK(right_class == errors);
  /* Errors are asked about late, too. */
  for (explained = 0, i = errors - late; i < errors; ++i) {
    snprintf(ending, sizeof ending, ".missing.%d)", i);
    MPI_Error_string(codes[i], text, &length);
    explained += strstr(text, ending) != NULL;
  }
  CHECK(explained == late);
  /* An error of another class keeps its own words. */
  int other = MPI_File_write_at(MPI_FILE_NULL, 0, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE);
  CHECK(class_of(other) == MPI_ERR_FILE);
  CHECK(MPI_Error_string(other, text, &length) == MPI_SUCCESS);
  CHECK(strstr(text, "MPI_File_write_at") != NULL);
}

static int calls, last_code;
static MPI_File last_file;

static void note(MPI_File* file, int* code, ...) {
  ++calls;
  last_code = *code;
  last_file = *file;
}

static void change(MPI_File* file, int* code, ...) {
  (void)file;
  ++calls;
  *code = MPI_ERR_OTHER;
}

static void handlers(void) {
  MPI_Errhandler noting, changing, back;
  MPI_Offset size;
  int value = 0;
  MPI_File file = open_file(MPI_MODE_RDWR), inheriting;
  CHECK(MPI_File_create_errhandler(note, &noting) == MPI_SUCCESS);
  CHECK(MPI_File_create_errhandler(change, &changing) == MPI_SUCCESS);
  CHECK(MPI_File_get_errhandler(file, &back) == MPI_SUCCESS && back == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&back);

  CHECK(MPI_File_set_errhandler(file, noting) == MPI_SUCCESS);
  int code = MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(calls == 1 && last_file == file && last_code == code && class_of(code) == MPI_ERR_ARG);
  /* The program lets its handle go; the file keeps the handler and can hand it out. */
  MPI_Errhandler former = noting;
  CHECK(MPI_Errhandler_free(&noting) == MPI_SUCCESS && noting == MPI_ERRHANDLER_NULL);
  CHECK(MPI_File_get_errhandler(file, &back) == MPI_SUCCESS && back == former);
  CHECK(MPI_File_call_errhandler(file, MPI_ERR_IO) == MPI_SUCCESS);
  CHECK(calls == 2 && last_code == MPI_ERR_IO);
  CHECK(MPI_Errhandler_free(&back) == MPI_SUCCESS);
  CHECK(MPI_File_call_errhandler(file, MPI_ERR_IO) == MPI_SUCCESS && calls == 3);

  CHECK(MPI_File_set_errhandler(file, changing) == MPI_SUCCESS);
  code = MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(calls == 4 && code == MPI_ERR_OTHER);
  MPI_File_close(&file);

  /* MPI_FILE_NULL's handler serves failing opens and closed handles, and new files inherit it. */
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, changing) == MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&changing) == MPI_SUCCESS);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, 0, MPI_INFO_NULL, &file) == MPI_ERR_OTHER);
  CHECK(MPI_File_get_size(MPI_FILE_NULL, &size) == MPI_ERR_OTHER);
  inheriting = open_file(MPI_MODE_RDWR);
  CHECK(MPI_File_seek(inheriting, -1, MPI_SEEK_SET) == MPI_ERR_OTHER);
  MPI_File_close(&inheriting);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  CHECK(class_of(MPI_File_get_size(MPI_FILE_NULL, &size)) == MPI_ERR_FILE);
  CHECK(class_of(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL)) == MPI_ERR_ARG);
}

static void full_device(void) {
  if (access("/dev/full", W_OK) != 0) return;
  char* big = calloc(1, 1 << 16);
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int count = -1;
  CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) ==
        MPI_SUCCESS);
  CHECK(class_of(MPI_File_write_at(file, 0, big, 1 << 16, MPI_BYTE, &status)) == MPI_ERR_NO_SPACE);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == 0);
  MPI_File_close(&file);
  free(big);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  path = argv[1];
  wrong_opens();
  wrong_handles();
  wrong_data_accesses();
  one_wrong_rank();
  wrong_views();
  unsupported_calls();
  handlers();
  full_device();
  messages();
  very_many_messages();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  return report();
}
