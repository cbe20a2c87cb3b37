/* Expectations about error classes that hold on every rank, and cases that cannot hang for ever. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

enum { healthy_bytes = 65536 };

typedef struct {
  int rank, ranks;
  bool odd;         /* the rank that is called wrongly where only one is: the last */
  const char* path; /* a file of this run, the same name on all ranks */
  int wrong;        /* expectations this rank saw broken in the present case */
} Test;

/* An allowed class among `classes`, ended by -1. MPI_SUCCESS may be one of them. */
void expect_class(Test* test, int code, const int* classes, const char* what);
#define EXPECT(test, call, ...) expect_class(test, call, (const int[]){__VA_ARGS__, -1}, #call)
void expect_that(Test* test, bool holds, const char* what);
#define EXPECT_THAT(test, condition) expect_that(test, condition, #condition)

/* Opens the test's file anew and empty, readable and writable, the windows of collectives small, so
   that an access takes many rounds. */
MPI_File open_fresh(Test* test);

/* This rank's data of `healthy_bytes`, different for each rank and `round`. */
void fill(const Test* test, unsigned char* data, int round);
/* Whether `rank`'s data of that round lie at `offset` of the file, read past the MPI. */
bool in_file(const Test* test, int rank, int round, long long offset);

/* The file can still be used: every rank writes and reads back, collectively and alone. */
void expect_usable(Test* test, MPI_File file);
void close_expecting_usable(Test* test, MPI_File* file);

/* MPI_File_open on all ranks without hints; MPI_FILE_NULL where it fails. */
int open_as(const char* path, int amode, MPI_File* file);
