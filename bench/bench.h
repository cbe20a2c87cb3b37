/* What the programs of this directory share: a start line that costs no messages, patterns that
   tell a lost byte from a stale one, options, memory figures. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- start line ----------------------------------------------------------------------------
   Ranks of one machine meet on a shared page and sleep on a futex: a barrier of the MPI would poll,
   and where ranks outnumber cores it would cost more than what is measured. Between machines it is
   MPI_Barrier. */
typedef struct Gate Gate;
Gate* gate_open(MPI_Comm comm);
void gate_close(Gate* gate);

/* Returns on every rank once all have arrived; the value, the same on all ranks of a machine, is
   the moment (seconds) at which the last of them came. */
double gate_meet(Gate* gate);

double now_seconds(void);

/* ---- patterns ------------------------------------------------------------------------------ */
/* The 4-byte integer that belongs at position `index` of a file in round `seed`. */
static inline uint32_t pattern(uint64_t index, uint32_t seed) {
  return (uint32_t)(index * 2654435761u) ^ (seed * 0x9e3779b9u);
}

/* Ends the job with a message unless `ok`. */
void require(bool ok, const char* what);
void check_mpi(int code, const char* call);

/* Whole transfers; interrupted and short ones are continued. End the job where they fail. */
void pwrite_all(int fd, const void* data, size_t bytes, off_t offset);
void pread_all(int fd, void* data, size_t bytes, off_t offset);

/* ---- figures ------------------------------------------------------------------------------- */
/* Sorts `values` and returns quantile q in [0, 1]. */
double quantile(double* values, size_t count, double q);

/* ---- options: --name value ----------------------------------------------------------------- */
const char* option_text(int argc, char** argv, const char* name, const char* fallback);
int64_t option_number(int argc, char** argv, const char* name, int64_t fallback);
bool option_given(int argc, char** argv, const char* name);
/* An info object from every `--hint key=value`; MPI_INFO_NULL without any. */
MPI_Info option_hints(int argc, char** argv);

/* ---- memory of this process, in bytes ------------------------------------------------------ */
int64_t resident_now(void);
/* Makes the present resident size the peak, so that a later resident_peak() tells the growth. */
void resident_peak_reset(void);
int64_t resident_peak(void);
/* Proportional share of all mappings: a page that n processes map counts 1/n. */
int64_t resident_proportional(void);
