/* A workload of the papers as data: what each rank moves in each step, told twice and
   independently. `types` says it to the MPI, as a program would; `place` says it element by
   element, so simply that it cannot be wrong, and everything is checked against that. Planning and
   placing need neither messages nor files, so that any rank can do them for any other. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { max_parameters = 10 };

/* A number of a workload, or one word of a few. */
typedef struct {
  const char* name;
  const char* words;    /* "a,b,c": the value is a word's index; NULL: a number */
  int64_t quick, paper; /* by default; with --paper */
  int64_t least, most;
  int root; /* --scale S multiplies it by the root-th root of S; 0: not at all */
  const char* sentence;
} Parameter;

typedef struct Workload Workload;

/* What one rank of a job does. */
typedef struct {
  const Workload* workload;
  int rank, ranks;
  int64_t value[max_parameters]; /* in the order of the workload's parameters */

  /* Set by the workload's plan(). */
  const char* refusal; /* why this cannot be done by so many ranks or with such numbers, or NULL */
  int64_t steps;
  int64_t elements; /* of this rank in each step */
  int64_t element_bytes;
  int64_t buffer_bytes; /* one step in memory, its gaps included */
  int64_t file_bytes;   /* from the file's first byte to the workload's last */
  bool view_moves;      /* every step has its own view; otherwise one call follows the other */
  void* own;            /* the workload's own notes, one block of malloc; NULL: none */
} Shape;

typedef struct {
  int64_t file, memory; /* where the first byte of an element lies */
} Place;

/* What the MPI is told. Types are committed; who asked for them frees them. */
typedef struct {
  int count;
  MPI_Datatype memory;
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
} Types;

struct Workload {
  const char *name, *paper, *sentence;
  const Parameter* parameters; /* ends with one that has no name */
  bool overlaps;               /* ranks share bytes: MPI allows only reading then */
  bool closes;                 /* a write takes until the file is closed, not until the last call */
  void (*plan)(Shape* shape);
  Place (*place)(const Shape* shape, int64_t step, int64_t index);
  Types (*types)(const Shape* shape, int64_t step);
};

extern const Workload workload_dist3d, workload_block2d, workload_block3d, workload_tile,
    workload_btio, workload_unstruc, workload_noncontig, workload_hpio, workload_fill,
    workload_timesteps, workload_flash;

/* The committed type of `bytes` contiguous bytes. */
MPI_Datatype bytes_type(int64_t bytes);
/* Commits `made`, frees `part` it was made of, and returns it. */
MPI_Datatype committed(MPI_Datatype made, MPI_Datatype part);
/* Ends the job unless the number fits. */
int as_int(int64_t number);
