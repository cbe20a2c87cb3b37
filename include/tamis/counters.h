#ifndef TAMIS_COUNTERS_H
#define TAMIS_COUNTERS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the calling rank's accesses to an open file have come to so far, all of them together.
 * Bytes, nanoseconds and numbers. New members come at the end. */
typedef struct tamis_counters {
  int64_t calls;        /* data accesses */
  int64_t errors;       /* of them, ended with one */
  int64_t bytes_wanted; /* asked for */
  int64_t bytes_moved;  /* told in the statuses */
  int64_t pieces;       /* contiguous ones in the file */
  int64_t reads;        /* requests to the file system, and their bytes */
  int64_t bytes_read;
  int64_t writes;
  int64_t bytes_written;
  int64_t lists;           /* batches of requests handed to the driver of the storage */
  int64_t bytes_resent;    /* put into or taken out of other ranks' windows */
  int64_t bytes_messages;  /* of them, between nodes */
  int64_t bytes_announced; /* descriptions of views, to other nodes */
  int64_t windows;         /* of sieves, and of collective accesses this rank aggregates */
  int64_t rewrites;        /* windows read, changed and written back */
  int64_t bytes_rewritten; /* read for that */
  int64_t gaps;            /* holes between the pieces */
  int64_t bytes_gaps;
  int64_t locks;    /* byte-range locks */
  int64_t total_ns; /* in data accesses; of it: */
  int64_t survey_ns, announce_ns, pack_ns, wait_ns, transfer_ns, lock_ns, agree_ns;
  int64_t memory; /* the most buffer memory held at a time */
} tamis_counters;

/* Fills `counters`, of which the caller knows `size` bytes (sizeof *counters). Independent; any
 * thread may call. Counting is on for a file that was opened with the hint tamis_counters=enable,
 * or with TAMIS_STATS or TAMIS_REPORT in the environment; otherwise the answer is an error of class
 * MPI_ERR_UNSUPPORTED_OPERATION. Errors go to the file's error handler, as those of MPI_File_
 * calls.
 */
int tamis_file_counters(MPI_File file, tamis_counters* counters, size_t size);

#ifdef __cplusplus
}
#endif

#endif
