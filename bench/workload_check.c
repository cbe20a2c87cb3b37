#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload_job.h"

enum { chunk_bytes = 1 << 20 };

static const char* const level_names[] = {"posix", "0", "1", "2", "3"};
const char* level_name(int level) { return level_names[level + 1]; }

/* Says what is wrong, for people and for programs; the first mistake of a rank speaks for it. */
static void fail(Job* job, const Turn* turn, const char* what, int64_t at, int got, int want) {
  if (job->wrong) return;
  job->wrong = true;
  printf(
      "{\"workload\":\"%s\",\"level\":\"%s\",\"op\":\"%s\",\"ranks\":%d,\"verified\":false,"
      "\"what\":\"%s\",\"found_by_rank\":%d,\"at\":%lld,\"got\":%d,\"want\":%d}\n",
      job->shape.workload->name, level_name(turn->series->level), turn->write ? "write" : "read",
      job->shape.ranks, what, job->shape.rank, (long long)at, got, want);
  fflush(stdout);
  fprintf(stderr, "workloads: %s: level %s, %s: %s: %d at %lld, not %d\n",
          job->shape.workload->name, level_name(turn->series->level),
          turn->write ? "write" : "read", what, got, (long long)at, want);
}

/* Not by MPI_Abort, after which a launcher may drop what the ranks have printed. */
void end_where_wrong(const Job* job) {
  const int wrong = job->wrong;
  int wrong_anywhere;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (!wrong_anywhere) return;
  if (job->shape.rank == 0) unlink(job->path);
  MPI_Finalize();
  exit(EXIT_FAILURE);
}

/* Makes good in `got` what MPI allows: bytes never written of a file that was empty. */
static void pardon(const Turn* turn, uint8_t* got, const uint8_t* want, int64_t bytes,
                   int64_t offset) {
  for (int64_t i = 0; i < bytes && turn->ground == zeros; ++i) {
    if (got[i] == want[i] || covered(&turn->series->coverage, offset + i)) continue;
    turn->series->filled_holes = true;
    got[i] = want[i];
  }
}

static void compare(Job* job, const Turn* turn, const uint8_t* got, const uint8_t* want,
                    int64_t bytes, int64_t at, const char* what) {
  if (memcmp(got, want, (size_t)bytes) == 0) return;
  int64_t i = 0;
  while (got[i] == want[i]) ++i;
  fail(job, turn, what, at + i, got[i], want[i]);
}

Piece plain_piece(const Job* job, int rank, int64_t step) {
  int64_t before = step * job->all_bytes;
  for (int other = 0; other < rank; ++other) before += job->rank_bytes[other];
  const int64_t bytes = job->rank_bytes[rank];
  /* Where ranks share bytes the runs are longer than the file: begin again at its start. */
  return (Piece){before % (job->shape.file_bytes - bytes + 1), 0, bytes};
}

Pieces pieces_of_turn(const Job* job, const Series* series, int64_t step, Piece* plain) {
  if (series->level != level_posix) return job->own[step];
  *plain = plain_piece(job, job->shape.rank, step);
  return (Pieces){plain, 1, plain->bytes};
}

int64_t moved_of(const Series* series, const Pieces* pieces) {
  const bool by_piece = series->level == 0 || series->level == 1;
  return by_piece && series->limit < pieces->count ? series->limit : pieces->count;
}

void expect_buffer(Job* job, const Turn* turn, int64_t step) {
  Piece plain;
  const Pieces pieces = pieces_of_turn(job, turn->series, step, &plain);
  memset(job->expected, untouched, (size_t)job->shape.buffer_bytes);
  for (int64_t i = 0; i < moved_of(turn->series, &pieces); ++i) {
    const Piece* piece = &pieces.list[i];
    pattern_fill(job->expected + piece->memory, piece->file, piece->bytes, turn->seed);
  }
  if (turn->write) {
    memcpy(job->buffer, job->expected, (size_t)job->shape.buffer_bytes);
  } else {
    memset(job->buffer, untouched, (size_t)job->shape.buffer_bytes);
  }
}

void check_buffer(Job* job, const Turn* turn) {
  const bool spoil = !turn->write && job->spoil >= 0 && job->spoil < job->shape.buffer_bytes;
  if (spoil && job->shape.rank == 0) job->buffer[job->spoil] ^= 1;
  compare(job, turn, job->buffer, job->expected, job->shape.buffer_bytes, 0,
          turn->write ? "a buffer changed while it was written" : "a byte in memory after reading");
}

void lay_out(Job* job, uint32_t ground) {
  static uint8_t chunk[chunk_bytes];
  const Coverage* share = &job->share;
  gate_meet(job->gate);
  if (ground == zeros) {
    if (job->shape.rank == 0) require(ftruncate(job->fd, 0) == 0, "emptying the file");
  } else {
    if (job->shape.rank == 0) {
      require(ftruncate(job->fd, job->shape.file_bytes) == 0, "the file's length");
    }
    for (int64_t done = 0; done < share->bytes; done += chunk_bytes) {
      const int64_t left = share->bytes - done;
      const int64_t bytes = left < chunk_bytes ? left : chunk_bytes;
      pattern_fill(chunk, share->first + done, bytes, ground);
      pwrite_all(job->fd, chunk, (size_t)bytes, share->first + done);
    }
  }
  gate_meet(job->gate);
}

/* Marks the first pieces of a step of a rank, as many as the level moves. */
static void cover_step(Series* series, const Shape* shape, int64_t step) {
  const Pieces pieces = pieces_of(shape, step);
  bool alone = true;
  for (int64_t i = 0; i < moved_of(series, &pieces); ++i) {
    alone &= coverage_add(&series->coverage, &pieces.list[i]);
  }
  require(alone, "no byte belongs to two pieces");
  free(pieces.list);
}

/* What this level writes of this rank's share, from every rank's pieces. */
static void cover(const Job* job, Series* series) {
  if (series->coverage.bits != NULL) return;
  series->coverage = coverage_of(job->share.first, job->share.bytes);
  for (int rank = 0; rank < job->shape.ranks; ++rank) {
    Shape shape = job->shape;
    shape.rank = rank;
    shape.own = NULL;
    shape.workload->plan(&shape);
    for (int64_t step = 0; step < shape.steps; ++step) {
      const Piece plain = plain_piece(job, rank, step);
      if (series->level != level_posix) {
        cover_step(series, &shape, step);
      } else {
        coverage_add(&series->coverage, &plain);
      }
    }
    free(shape.own);
  }
  const int64_t end = coverage_end(&series->coverage);
  MPI_Allreduce(&end, &series->end, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void spoil_file(const Job* job) {
  if (job->spoil < 0 || job->shape.rank != 0) return;
  uint8_t byte = 0;
  pread_all(job->fd, &byte, 1, job->spoil);
  byte ^= 1;
  pwrite_all(job->fd, &byte, 1, job->spoil);
}

/* What there is of [offset, offset + bytes); zeros beyond the end of the file. */
static void read_upto(const Job* job, uint8_t* out, int64_t bytes, int64_t offset, int64_t length) {
  int64_t there = length > offset ? length - offset : 0;
  if (there > bytes) there = bytes;
  pread_all(job->fd, out, (size_t)there, offset);
  memset(out + there, 0, (size_t)(bytes - there));
}

void check_file(Job* job, const Turn* turn) {
  static uint8_t got[chunk_bytes], want[chunk_bytes];
  Series* series = turn->series;
  cover(job, series);
  spoil_file(job);
  gate_meet(job->gate);
  struct stat found;
  require(fstat(job->fd, &found) == 0, "the file's length");
  for (int64_t done = 0; done < job->share.bytes; done += chunk_bytes) {
    const int64_t offset = job->share.first + done, left = job->share.bytes - done;
    const int64_t bytes = left < chunk_bytes ? left : chunk_bytes;
    read_upto(job, got, bytes, offset, found.st_size);
    coverage_expect(&series->coverage, want, offset, bytes, turn->seed, turn->ground);
    pardon(turn, got, want, bytes, offset);
    compare(job, turn, got, want, bytes, offset, "a byte of the file after writing");
  }
  const int64_t length = turn->ground == zeros ? series->end : job->shape.file_bytes;
  if (found.st_size != length) fail(job, turn, "the file's length", found.st_size, 0, 0);
  gate_meet(job->gate);
}
