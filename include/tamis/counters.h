#ifndef TAMIS_COUNTERS_H
#define TAMIS_COUNTERS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of requests by size: less than 16 bytes, 16 to 31, 32 to 63, ... a MiB and more. */
#define TAMIS_REQUEST_SIZES 18

/* What the calling rank's accesses to an open file have come to so far. Bytes, nanoseconds and
 * numbers. New members come at the end. */
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
  int64_t gaps;            /* between successive requests of one access */
  int64_t bytes_gaps;
  int64_t locks;    /* byte-range locks */
  int64_t total_ns; /* in data accesses; of it: */
  int64_t survey_ns, announce_ns, pack_ns, wait_ns, transfer_ns, lock_ns, agree_ns;
  int64_t memory;                          /* the most buffer memory held at a time */
  int64_t read_sizes[TAMIS_REQUEST_SIZES]; /* requests that read, by what they asked for */
  int64_t write_sizes[TAMIS_REQUEST_SIZES];
  int64_t aggregates;     /* 1: this rank moved windows of the file for all ranks; else 0 */
  int64_t windows_listed; /* of collective accesses, whose pieces went one by one */
} tamis_counters;

/* A way that accesses went: all that agree in these four. The words are the library's, and stay;
 * docs/explain.md says what they mean. */
typedef struct tamis_way {
  const char* direction; /* "read", "write" */
  const char* route;     /* "alone", "two_phase", "nothing": no rank had data */
  const char* method;    /* "direct", "list", "gather", "sieve", "ahead", "nothing"; of two_phase
                            "exchange" */
  int collective;        /* 1: collective calls; else 0 */
} tamis_way;

/* Fills `counters`, of which the caller knows `size` bytes (sizeof *counters), with the sums over
 * all ways. Independent; any thread may call. Counting is on for a file that was opened with the
 * hint tamis_counters=enable, or with one of TAMIS_STATS, TAMIS_EXPLAIN, TAMIS_REPORT and
 * TAMIS_TRACE in the environment; otherwise the answer is an error of class
 * MPI_ERR_UNSUPPORTED_OPERATION. A null pointer is one of class MPI_ERR_ARG. Errors go to the
 * file's error handler, as those of MPI_File_ calls.
 */
int tamis_file_counters(MPI_File file, tamis_counters* counters, size_t size);

/* In how many ways accesses of the calling rank have gone so far. The number grows, and a way keeps
 * its place. Errors as above. */
int tamis_file_ways(MPI_File file, int* count);

/* Way number `index`, from 0 on, and what the accesses that went it have come to. An index that is
 * too large, or negative, is an error of class MPI_ERR_ARG; others as above. */
int tamis_file_way(MPI_File file, int index, tamis_way* way, tamis_counters* counters, size_t size);

#ifdef __cplusplus
}
#endif

#endif
