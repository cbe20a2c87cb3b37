/* What the parts of the framework share: one workload on the ranks of this job. */
#pragma once

#include "bench.h"
#include "workload_pieces.h"

enum { level_posix = -1, max_levels = 8, max_reps = 1000 };

typedef struct {
  Shape shape;
  Pieces* own;         /* this rank's, by step */
  int64_t rounds;      /* most pieces of any rank in any step */
  int64_t* rank_bytes; /* by rank, in each step */
  int64_t all_bytes;   /* of all ranks in a step */
  Coverage share;      /* this rank's part of the file, to lay out and to check; no bits */
  uint8_t *buffer, *expected;
  const char* path;
  int fd;
  MPI_Info hints;
  Gate* gate;
  bool fresh;    /* the file is emptied before each write */
  int64_t spoil; /* the byte to change behind the library's back; -1: none */
  bool wrong;    /* this rank has found a wrong byte, and said so */
} Job;

/* One level: how it goes, and what it has taken. */
typedef struct {
  int level;
  int64_t limit;     /* levels 0 and 1: calls of a step, the rest is left out; 0: not known yet */
  Coverage coverage; /* of the share by what this level writes; made when first needed */
  int64_t end;       /* of what it writes in the file */
  bool filled_holes; /* in this rank's share: what was never written is not zero */
  double spent, seconds[2][max_reps]; /* by direction: reading, writing */
  int reps[2];
} Series;

/* One access by all ranks. */
typedef struct {
  Series* series;
  bool write;
  uint32_t seed, ground; /* of the data; of what the file held before */
} Turn;

/* What the POSIX limit makes of a step: as many bytes of the rank in one run. */
Piece plain_piece(const Job* job, int rank, int64_t step);
/* This rank's pieces of a step as its level moves them: `own`, or `*plain`, which is filled then.
   The list belongs to the job or is `plain`. */
Pieces pieces_of_turn(const Job* job, const Series* series, int64_t step, Piece* plain);
/* As many of them as the level moves. */
int64_t moved_of(const Series* series, const Pieces* pieces);

/* ---- workload_moves.c ------------------------------------------------------------------------ */
/* Does it, checks the buffers of every step; seconds without open, view and close, on all ranks. */
double move_all(Job* job, const Turn* turn);
/* Sets the limit of a level that makes a call for each piece, so that one access of it stays within
   `seconds`. */
void rehearse(Job* job, Series* series, bool write, double seconds);

/* ---- workload_check.c ------------------------------------------------------------------------ */
/* What memory must hold of a step: the pattern where there is data, a fixed byte elsewhere. */
enum { untouched = 0xee };
void expect_buffer(Job* job, const Turn* turn, int64_t step);
void check_buffer(Job* job, const Turn* turn);
/* The file before a write: every byte the pattern of `ground`, or no bytes where ground is zeros.
 */
void lay_out(Job* job, uint32_t ground);
/* The file after a write: every byte, and its length. MPI promises nothing of holes in what was an
   empty file: where they are not zero it is noted. */
void check_file(Job* job, const Turn* turn);
/* Collective: ends the job where a check of any rank has found a mistake. */
void end_where_wrong(const Job* job);
const char* level_name(int level);
