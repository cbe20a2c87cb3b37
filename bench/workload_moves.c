#include "workload_job.h"

enum { first_batch = 4 };

/* The words of a call. */
typedef struct {
  MPI_File file;
  bool write, collective;
} Way;

static int call_at(const Way* way, MPI_Offset at, void* data, int count, MPI_Status* status) {
  if (way->write) {
    return way->collective ? MPI_File_write_at_all(way->file, at, data, count, MPI_BYTE, status)
                           : MPI_File_write_at(way->file, at, data, count, MPI_BYTE, status);
  }
  return way->collective ? MPI_File_read_at_all(way->file, at, data, count, MPI_BYTE, status)
                         : MPI_File_read_at(way->file, at, data, count, MPI_BYTE, status);
}

/* At the individual file pointer, which goes on from step to step. */
static int call_next(const Way* way, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  if (way->write) {
    return way->collective ? MPI_File_write_all(way->file, data, count, type, status)
                           : MPI_File_write(way->file, data, count, type, status);
  }
  return way->collective ? MPI_File_read_all(way->file, data, count, type, status)
                         : MPI_File_read(way->file, data, count, type, status);
}

static void check_count(const MPI_Status* status, MPI_Datatype type, int count) {
  int moved = 0;
  MPI_Get_count(status, type, &moved);
  require(count == 0 || moved == count, "the status tells the true count");
}

/* Levels 0 and 1: calls [first, end) of a step; a rank with fewer pieces gives nothing. */
static void move_pieces(const Job* job, const Way* way, int64_t step, int64_t first, int64_t end) {
  const Pieces* pieces = &job->own[step];
  const int64_t last = way->collective || end < pieces->count ? end : pieces->count;
  for (int64_t i = first; i < last; ++i) {
    const Piece none = {0, 0, 0};
    const Piece* piece = i < pieces->count ? &pieces->list[i] : &none;
    MPI_Status status;
    check_mpi(call_at(way, piece->file, job->buffer + piece->memory, (int)piece->bytes, &status),
              "access of one piece");
    check_count(&status, MPI_BYTE, (int)piece->bytes);
  }
}

static void move_plain(const Job* job, const Turn* turn, int64_t step) {
  Piece plain;
  pieces_of_turn(job, turn->series, step, &plain);
  if (turn->write) {
    pwrite_all(job->fd, job->buffer, (size_t)plain.bytes, plain.file);
  } else {
    pread_all(job->fd, job->buffer, (size_t)plain.bytes, plain.file);
  }
}

static void move_viewed(const Job* job, const Way* way, const Types* types) {
  MPI_Status status;
  check_mpi(call_next(way, job->buffer, types->count, types->memory, &status),
            "access through the view");
  check_count(&status, types->memory, types->count);
}

static void free_type(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
}

/* One handle may serve in several places. */
static void free_types(const Types* types) {
  if (types->memory != types->etype && types->memory != types->filetype) free_type(types->memory);
  if (types->filetype != types->etype) free_type(types->filetype);
  free_type(types->etype);
}

static MPI_File open_file(const Job* job, int level, bool write) {
  MPI_File file = MPI_FILE_NULL;
  if (level == level_posix) return file;
  /* Sieving writes read too. */
  const int write_mode = (level >= 2 ? MPI_MODE_RDWR : MPI_MODE_WRONLY) | MPI_MODE_CREATE;
  const int mode = write ? write_mode : MPI_MODE_RDONLY;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, mode, job->hints, &file), "open");
  return file;
}

/* The seconds that are to be counted: an MPI-IO may keep bytes back until then. */
static double close_file(const Job* job, Way* way) {
  const double begin = gate_meet(job->gate);
  check_mpi(MPI_File_close(&way->file), "close");
  const double seconds = gate_meet(job->gate) - begin;
  return way->write && job->shape.workload->closes ? seconds : 0;
}

double move_all(Job* job, const Turn* turn) {
  const int level = turn->series->level;
  Way way = {open_file(job, level, turn->write), turn->write, level == 1 || level == 3};
  const int64_t calls = turn->series->limit < job->rounds ? turn->series->limit : job->rounds;
  double seconds = 0;
  Types types = {0};
  for (int64_t step = 0; step < job->shape.steps; ++step) {
    expect_buffer(job, turn, step);
    if (level >= 2 && (step == 0 || job->shape.view_moves)) {
      if (step > 0) free_types(&types);
      types = job->shape.workload->types(&job->shape, step);
      check_mpi(MPI_File_set_view(way.file, types.displacement, types.etype, types.filetype,
                                  "native", job->hints),
                "view");
    }
    const double begin = gate_meet(job->gate);
    if (level == level_posix) {
      move_plain(job, turn, step);
    } else if (level < 2) {
      move_pieces(job, &way, step, 0, calls);
    } else {
      move_viewed(job, &way, &types);
    }
    seconds += gate_meet(job->gate) - begin;
    check_buffer(job, turn);
  }
  if (level != level_posix) seconds += close_file(job, &way);
  if (level >= 2) free_types(&types);
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

/* Seconds of calls [first, end) of the first step, the same on all ranks. */
static double batch(const Job* job, const Way* way, int64_t first, int64_t end) {
  const double begin = gate_meet(job->gate);
  move_pieces(job, way, 0, first, end);
  double seconds = gate_meet(job->gate) - begin;
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

void rehearse(Job* job, Series* series, bool write, double seconds) {
  series->limit = job->rounds;
  if (series->level < 0 || series->level > 1) return;
  const double step_seconds = seconds / (double)job->shape.steps;
  const Way way = {open_file(job, series->level, write), write, series->level == 1};
  expect_buffer(job, &(Turn){series, write, 1, 1}, 0);
  /* Batches grow until one is long enough to judge by, however the ranks are interrupted. */
  int64_t done = 0, calls = first_batch;
  double took = 0;
  while (done < job->rounds && took < step_seconds / 8) {
    if (done + calls > job->rounds) calls = job->rounds - done;
    took = batch(job, &way, done, done + calls);
    done += calls;
    calls *= 2;
  }
  MPI_File file = way.file;
  check_mpi(MPI_File_close(&file), "close");
  const double affordable = took > 0 ? step_seconds / took * (double)calls / 2 : 0;
  if (affordable < (double)job->rounds && done < job->rounds) {
    series->limit = affordable < 1 ? 1 : (int64_t)affordable;
  }
}
