/* Counts checks; every rank counts its own. */
#ifndef TAMIS_TESTS_ABI_CHECK_H
#define TAMIS_TESTS_ABI_CHECK_H

#include <mpi.h>
#include <stdio.h>

static int checks_passed, checks_failed;

#define CHECK(claim) check((claim) ? 1 : 0, #claim, __FILE__, __LINE__)

static inline void check(int holds, const char* claim, const char* file, int line) {
  if (holds) {
    ++checks_passed;
    return;
  }
  ++checks_failed;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
}

static inline int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/* The last words of a program: the sum over the ranks, as the runner reads it. */
static inline int report(void) {
  int own[2] = {checks_passed, checks_failed}, all[2], rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks passed, %d failed\n", all[0], all[1]);
  MPI_Finalize();
  return all[1] != 0;
}

#endif
