/* Views, arguments of accesses, positions, hints, a full device. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "errors_cases.h"

/* Illegal filetypes for a file that is open for writing. */
static MPI_Datatype illegal_filetype(int which) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (which) {
    case 0: /* displacements decrease */
      MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){8, 0}, MPI_INT, &type);
      break;
    case 1: /* one is negative */
      MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){-8, 0}, MPI_INT, &type);
      break;
    case 2: /* pieces overlap */
      MPI_Type_create_hindexed(2, (int[]){2, 2}, (MPI_Aint[]){0, 4}, MPI_INT, &type);
      break;
    case 3: /* not made of the etype */
      MPI_Type_contiguous(3, MPI_SHORT, &type);
      break;
    default:
      return MPI_DATATYPE_NULL;
  }
  MPI_Type_commit(&type);
  return type;
}

enum { illegal_filetypes = 4 };

void illegal_filetypes_on_all_ranks(Test* test) {
  MPI_File file = open_fresh(test);
  for (int which = 0; which < illegal_filetypes; ++which) {
    MPI_Datatype type = illegal_filetype(which);
    const int code = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) fprintf(stderr, "  filetype %d was taken\n", which);
    EXPECT(test, code, MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
    MPI_Type_free(&type);
  }
  EXPECT(test, MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  EXPECT(test, MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL),
         MPI_ERR_ARG, MPI_ERR_TYPE);
  EXPECT(test, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unheard of", MPI_INFO_NULL),
         MPI_ERR_UNSUPPORTED_DATAREP);
  close_expecting_usable(test, &file);
}

void illegal_filetype_on_one_rank(Test* test) {
  MPI_File file = open_fresh(test);
  for (int which = 0; which < illegal_filetypes; ++which) {
    MPI_Datatype type = test->odd ? illegal_filetype(which) : MPI_INT;
    const int code = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    if (test->odd) {
      EXPECT(test, code, MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
      MPI_Type_free(&type);
    } else {
      EXPECT(test, code, MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
    }
  }
  close_expecting_usable(test, &file);
}

/* Arguments that make an access at an explicit offset wrong. */
typedef struct {
  const char* what;
  MPI_Offset offset;
  int count;
  int type; /* 0: byte, 1: null, 2: not committed */
  int class, or_class;
} Wrong;

static const Wrong wrongs[] = {
    {"negative offset", -1, 16, 0, MPI_ERR_ARG, MPI_ERR_ARG},
    {"far negative offset", INT64_MIN, 16, 0, MPI_ERR_ARG, MPI_ERR_ARG},
    {"negative count", 0, -1, 0, MPI_ERR_COUNT, MPI_ERR_ARG},
    {"end beyond 64 bits", INT64_MAX - 7, 16, 0, MPI_ERR_ARG, MPI_ERR_IO},
    {"null datatype", 0, 16, 1, MPI_ERR_TYPE, MPI_ERR_ARG},
    {"datatype not committed", 0, 16, 2, MPI_ERR_TYPE, MPI_ERR_ARG},
};
enum { wrong_ways = sizeof wrongs / sizeof *wrongs };

static int access_at(MPI_File file, const Wrong* w, bool write, bool all, void* data) {
  MPI_Status status;
  MPI_Datatype type = w->type == 1 ? MPI_DATATYPE_NULL : MPI_BYTE;
  if (w->type == 2) MPI_Type_contiguous(1, MPI_BYTE, &type);
  int code;
  if (write) {
    code = all ? MPI_File_write_at_all(file, w->offset, data, w->count, type, &status)
               : MPI_File_write_at(file, w->offset, data, w->count, type, &status);
  } else {
    code = all ? MPI_File_read_at_all(file, w->offset, data, w->count, type, &status)
               : MPI_File_read_at(file, w->offset, data, w->count, type, &status);
  }
  if (w->type == 2) MPI_Type_free(&type);
  return code;
}

void wrong_arguments_on_all_ranks(Test* test) {
  unsigned char data[16] = {0};
  MPI_File file = open_fresh(test);
  for (int i = 0; i < 4 * wrong_ways; ++i) {
    const Wrong* w = &wrongs[i % wrong_ways];
    const int code = access_at(file, w, i / wrong_ways % 2 == 0, i / wrong_ways >= 2, data);
    EXPECT(test, code, w->class, w->or_class);
  }
  MPI_Offset size = -1;
  EXPECT(test, MPI_File_get_size(file, &size), MPI_SUCCESS);
  EXPECT_THAT(test, size == 0);
  close_expecting_usable(test, &file);
}

/* The others' data of many rounds are there, and the file is as it was where the odd rank would
 * write. */
void wrong_arguments_on_one_rank(Test* test) {
  static unsigned char data[healthy_bytes], back[healthy_bytes];
  MPI_File file = open_fresh(test);
  const MPI_Offset at = (MPI_Offset)test->rank * healthy_bytes;
  for (int i = 0; i < wrong_ways; ++i) {
    const Wrong right = {"", at, healthy_bytes, 0, MPI_SUCCESS, MPI_SUCCESS};
    const Wrong* w = test->odd ? &wrongs[i] : &right;
    fill(test, data, i);
    int code = access_at(file, w, true, true, data);
    if (test->odd) {
      EXPECT(test, code, w->class, w->or_class);
    } else {
      EXPECT(test, code, wrongs[i].class, wrongs[i].or_class);
      EXPECT_THAT(test, in_file(test, test->rank, i, at));
    }
    memset(back, 0, sizeof back);
    code = access_at(file, w, false, true, back);
    if (test->odd) {
      EXPECT(test, code, w->class, w->or_class);
    } else {
      EXPECT(test, code, wrongs[i].class, wrongs[i].or_class);
      EXPECT_THAT(test, memcmp(data, back, healthy_bytes) == 0);
    }
  }
  close_expecting_usable(test, &file);
}

void one_rank_of_write_all_has_a_bad_count(Test* test) {
  static unsigned char data[healthy_bytes];
  MPI_Status status;
  MPI_Offset position = -1;
  MPI_File file = open_fresh(test);
  const MPI_Offset at = (MPI_Offset)test->rank * healthy_bytes;
  fill(test, data, 3);
  EXPECT(test, MPI_File_seek(file, at, MPI_SEEK_SET), MPI_SUCCESS);
  const int code =
      MPI_File_write_all(file, data, test->odd ? -5 : healthy_bytes, MPI_BYTE, &status);
  EXPECT(test, MPI_File_get_position(file, &position), MPI_SUCCESS);
  if (test->odd) {
    EXPECT(test, code, MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT_THAT(test, position == at);
  } else {
    EXPECT(test, code, MPI_ERR_COUNT, MPI_ERR_ARG);
    EXPECT_THAT(test, in_file(test, test->rank, 3, at));
  }
  close_expecting_usable(test, &file);
}

void bad_positions_and_sizes(Test* test) {
  MPI_File file = open_fresh(test);
  MPI_Offset place = 0;
  EXPECT(test, MPI_File_seek(file, 10, MPI_SEEK_SET), MPI_SUCCESS);
  EXPECT(test, MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  EXPECT(test, MPI_File_seek(file, -11, MPI_SEEK_CUR), MPI_ERR_ARG);
  EXPECT(test, MPI_File_seek(file, 0, 4711), MPI_ERR_ARG);
  EXPECT(test, MPI_File_get_position(file, &place), MPI_SUCCESS);
  EXPECT_THAT(test, place == 10);
  EXPECT(test, MPI_File_get_byte_offset(file, -1, &place), MPI_ERR_ARG);
  EXPECT(test, MPI_File_set_size(file, -1), MPI_ERR_ARG);
  EXPECT(test, MPI_File_preallocate(file, -1), MPI_ERR_ARG);
  if (test->ranks > 1) {
    EXPECT(test, MPI_File_set_size(file, test->odd ? 5 : 6), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
  }
  close_expecting_usable(test, &file);
}

void null_handles(Test* test) {
  MPI_File none = MPI_FILE_NULL;
  MPI_Offset size = 0;
  MPI_Status status;
  unsigned char data[4] = {0};
  EXPECT(test, MPI_File_write_at(none, 0, data, 4, MPI_BYTE, &status), MPI_ERR_FILE, MPI_ERR_ARG);
  EXPECT(test, MPI_File_read_all(none, data, 4, MPI_BYTE, &status), MPI_ERR_FILE, MPI_ERR_ARG);
  EXPECT(test, MPI_File_get_size(none, &size), MPI_ERR_FILE, MPI_ERR_ARG);
  EXPECT(test, MPI_File_close(&none), MPI_ERR_FILE, MPI_ERR_ARG);
}

void strange_hints_are_ignored(Test* test) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "plenty");
  MPI_Info_set(info, "cb_nodes", "-3");
  MPI_Info_set(info, "ind_wr_buffer_size", "99999999999999999999");
  MPI_Info_set(info, "romio_ds_write", test->odd ? "perhaps" : "2");
  MPI_Info_set(info, "unheard_of", "yes");
  MPI_File file = MPI_FILE_NULL;
  EXPECT(test,
         MPI_File_open(MPI_COMM_WORLD, test->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file),
         MPI_SUCCESS);
  MPI_Info_free(&info);
  close_expecting_usable(test, &file);
}

void full_device(Test* test) {
  static unsigned char data[healthy_bytes];
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "4096");
  const MPI_Offset at = (MPI_Offset)test->rank * healthy_bytes;
  EXPECT(test, MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &file),
         MPI_SUCCESS);
  MPI_Info_free(&info);
  if (file == MPI_FILE_NULL) return;
  EXPECT(test, MPI_File_write_at(file, at, data, healthy_bytes, MPI_BYTE, &status),
         MPI_ERR_NO_SPACE);
  EXPECT(test, MPI_File_write_at_all(file, at, data, healthy_bytes, MPI_BYTE, &status),
         MPI_ERR_NO_SPACE);
  EXPECT(test, MPI_File_write_all(file, data, healthy_bytes, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
  EXPECT(test, MPI_File_close(&file), MPI_SUCCESS, MPI_ERR_NO_SPACE);
}
