/* The papers' access patterns as programs that know standard MPI only: any of them at the four
   levels of the MPI-IO interface (0: a call for each piece, 1: a collective call for each piece, 2:
   a view and one call, 3: a view and one collective call), beside the POSIX limit: the same ranks
   move as many bytes, each in one contiguous pwrite/pread a step.

   One JSON line for each timed access and one for each level and direction; seconds run from the
   moment all ranks were ready to the moment the last was done, step by step, without open, set_view
   and close. Before each write every byte of the file is given another content, after it every byte
   of the file is compared, holes too; after each read every byte of the buffers, gaps too. `--help`
   lists options. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "workload_job.h"
#include "workload_options.h"

typedef struct {
  bool write, read;
  int64_t reps;
  double budget;
  int64_t calls; /* levels 0 and 1: of a step; 0: as many as the budget allows */
  size_t levels;
} Plan;

MPI_Datatype committed(MPI_Datatype made, MPI_Datatype part) {
  MPI_Type_commit(&made);
  if (part != MPI_DATATYPE_NULL) MPI_Type_free(&part);
  return made;
}

MPI_Datatype bytes_type(int64_t bytes) {
  MPI_Datatype made;
  MPI_Type_contiguous(as_int(bytes), MPI_BYTE, &made);
  return committed(made, MPI_DATATYPE_NULL);
}

int as_int(int64_t number) {
  require(number <= INT_MAX, "a count that MPI can take: choose a smaller size");
  return (int)number;
}

/* Bytes and calls of all ranks and steps at this level. */
static void totals(const Job* job, const Series* series, int64_t* bytes, int64_t* pieces) {
  int64_t mine[2] = {0, 0}, all[2];
  for (int64_t step = 0; step < job->shape.steps; ++step) {
    Piece plain;
    const Pieces found = pieces_of_turn(job, series, step, &plain);
    const int64_t moved = moved_of(series, &found);
    for (int64_t i = 0; i < moved; ++i) mine[0] += found.list[i].bytes;
    mine[1] += moved;
  }
  MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  *bytes = all[0];
  *pieces = all[1];
}

static void print_head(const Job* job, const Series* series, bool write, int64_t bytes) {
  printf("{\"workload\":\"%s\",\"level\":\"%s\",\"op\":\"%s\",\"ranks\":%d,\"bytes\":%lld,",
         job->shape.workload->name, level_name(series->level), write ? "write" : "read",
         job->shape.ranks, (long long)bytes);
}

static void summarise(const Job* job, Series* series) {
  int64_t bytes, pieces;
  totals(job, series, &bytes, &pieces);
  const int filled = series->filled_holes;
  int filled_anywhere;
  MPI_Allreduce(&filled, &filled_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int write = 1; write >= 0; --write) {
    const size_t reps = (size_t)series->reps[write];
    if (reps == 0 || job->shape.rank != 0) continue;
    double* seconds = series->seconds[write];
    const double median = quantile(seconds, reps, 0.5);
    const bool partial = bytes < job->all_bytes * job->shape.steps;
    print_head(job, series, write, bytes);
    printf(
        "\"summary\":true,\"reps\":%zu,\"min\":%.6f,\"median\":%.6f,\"max\":%.6f,"
        "\"mib_per_s\":%.3f,\"verified\":true,\"holes\":\"%s\",\"partial\":%s,\"steps\":%lld,"
        "\"pieces\":%lld,\"piece_bytes\":%lld,\"span\":%lld,\"parameters\":{",
        reps, seconds[0], median, seconds[reps - 1], (double)bytes / 1048576.0 / median,
        filled_anywhere ? "garbage" : "kept", partial ? "true" : "false",
        (long long)job->shape.steps, (long long)pieces, (long long)(bytes / pieces),
        (long long)job->shape.file_bytes);
    print_values(&job->shape);
    printf("}}\n");
    fflush(stdout);
  }
}

static void run_once(Job* job, const Turn* turn) {
  Series* series = turn->series;
  const double seconds = move_all(job, turn);
  if (turn->write) check_file(job, turn);
  end_where_wrong(job);
  const int rep = series->reps[turn->write]++;
  series->seconds[turn->write][rep] = seconds;
  series->spent += seconds;
  int64_t bytes, pieces;
  totals(job, series, &bytes, &pieces);
  if (job->shape.rank != 0) return;
  print_head(job, series, turn->write, bytes);
  printf("\"rep\":%d,\"seconds\":%.6f}\n", rep, seconds);
  fflush(stdout);
}

/* One repetition of one level: writing into other content, then reading what stands there. */
static void run_pair(Job* job, Series* series, const Plan* plan, uint32_t round) {
  const uint32_t data = 2 * round + 1, before = 2 * round + 2;
  const uint32_t ground = job->fresh ? zeros : before;
  if (plan->calls > 0) {
    series->limit = plan->calls;
  } else if (series->limit == 0) {
    lay_out(job, before);
    rehearse(job, series, plan->write, plan->budget / (double)(2 * plan->reps));
  }
  if (plan->write) {
    lay_out(job, ground);
    run_once(job, &(Turn){series, true, data, ground});
  } else {
    lay_out(job, data);
  }
  if (plan->read) run_once(job, &(Turn){series, false, data, ground});
}

/* The number of levels named; 0 where the text names something else. */
static size_t parse_levels(const char* text, Series* series) {
  size_t count = 0;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == ',') continue;
    if (count == max_levels || (*c != 'p' && (*c < '0' || *c > '3'))) return 0;
    series[count++].level = *c == 'p' ? level_posix : *c - '0';
  }
  return count;
}

/* Why it cannot be done, or NULL. */
static const char* read_plan(Plan* plan, const Shape* shape, int argc, char** argv,
                             Series* series) {
  const char* ops = option_text(argc, argv, "--ops", "write,read");
  *plan = (Plan){
      .write = strstr(ops, "write") != NULL && !shape->workload->overlaps,
      .read = strstr(ops, "read") != NULL,
      .reps = option_number(argc, argv, "--reps", 3),
      .budget = strtod(option_text(argc, argv, "--budget", "6"), NULL),
      .calls = option_number(argc, argv, "--calls", 0),
      .levels = parse_levels(option_text(argc, argv, "--levels", "p,0,1,2,3"), series),
  };
  if (plan->levels == 0) return "--levels is made of p, 0, 1, 2, 3";
  if (plan->reps < 1 || plan->reps > max_reps) return "--reps between 1 and 1000";
  if (!plan->write && !plan->read) return "--ops is made of write, read; tile only reads";
  return NULL;
}

/* Everything of a rank but its values and plan. */
static void prepare(Job* job, int argc, char** argv) {
  Shape* shape = &job->shape;
  job->path = option_text(argc, argv, "--path", "workload.dat");
  job->hints = option_hints(argc, argv);
  job->fresh = option_given(argc, argv, "--fresh");
  job->spoil = option_number(argc, argv, "--spoil", -1);
  job->own = calloc((size_t)shape->steps, sizeof *job->own);
  job->rank_bytes = calloc((size_t)shape->ranks, sizeof *job->rank_bytes);
  job->buffer = malloc((size_t)shape->buffer_bytes);
  job->expected = malloc((size_t)shape->buffer_bytes);
  require(job->own != NULL && job->rank_bytes != NULL, "memory for the steps");
  require(job->buffer != NULL && job->expected != NULL, "memory for the buffers");
  int64_t most = 0;
  for (int64_t step = 0; step < shape->steps; ++step) {
    job->own[step] = pieces_of(shape, step);
    if (job->own[step].count > most) most = job->own[step].count;
  }
  MPI_Allreduce(&most, &job->rounds, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allgather(&job->own[0].bytes, 1, MPI_INT64_T, job->rank_bytes, 1, MPI_INT64_T,
                MPI_COMM_WORLD);
  for (int rank = 0; rank < shape->ranks; ++rank) job->all_bytes += job->rank_bytes[rank];
  const int64_t part = (shape->file_bytes / shape->ranks / 8 + 1) * 8;
  const int64_t first = part * shape->rank;
  job->share.first = first < shape->file_bytes ? first : shape->file_bytes;
  const int64_t left = shape->file_bytes - job->share.first;
  job->share.bytes = left < part ? left : part;
  job->gate = gate_open(MPI_COMM_WORLD);
  if (shape->rank == 0) unlink(job->path);
  gate_meet(job->gate);
  job->fd = open(job->path, O_RDWR | O_CREAT, 0644);
  require(job->fd >= 0, job->path);
}

static void finish(Job* job) {
  gate_meet(job->gate);
  close(job->fd);
  if (job->shape.rank == 0) unlink(job->path);
  gate_close(job->gate);
  if (job->hints != MPI_INFO_NULL) MPI_Info_free(&job->hints);
  for (int64_t step = 0; step < job->shape.steps; ++step) free(job->own[step].list);
  free(job->own);
  free(job->rank_bytes);
  free(job->buffer);
  free(job->expected);
  free(job->shape.own);
}

/* The levels take turns, repetition by repetition. */
static void run(Job* job, const Plan* plan, Series* series) {
  uint32_t round = 0;
  for (int64_t rep = 0; rep < plan->reps; ++rep) {
    for (size_t i = 0; i < plan->levels; ++i) {
      if (series[i].spent > plan->budget) continue;
      run_pair(job, &series[i], plan, ++round);
    }
  }
  for (size_t i = 0; i < plan->levels; ++i) {
    summarise(job, &series[i]);
    free(series[i].coverage.bits);
  }
}

/* Rank 0 tells why nothing is done; every rank ends with the same code. */
static int refuse(const Shape* shape, const char* reason) {
  if (shape->rank == 0) fprintf(stderr, "workloads: %s\n", reason);
  MPI_Finalize();
  return 2;
}

static int describe(Shape* shape, int argc, char** argv) {
  const int rank = shape->rank;
  shape->ranks = (int)option_number(argc, argv, "--ranks", shape->ranks);
  if (shape->ranks < 1) return refuse(shape, "--ranks wants a number above 0");
  shape->rank = 0;
  if (rank == 0 && !print_description(shape)) return refuse(shape, shape->refusal);
  MPI_Finalize();
  return 0;
}

/* The access itself, once the command line is understood. */
static int measure(Job* job, int argc, char** argv) {
  static Series series[max_levels];
  Plan plan;
  job->shape.workload->plan(&job->shape);
  const char* refusal = job->shape.refusal;
  if (refusal == NULL) refusal = read_plan(&plan, &job->shape, argc, argv, series);
  if (refusal != NULL) return refuse(&job->shape, refusal);
  prepare(job, argc, argv);
  run(job, &plan, series);
  finish(job);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  if (option_given(argc, argv, "--list")) {
    print_list();
    return 0;
  }
  if (argc == 1 || option_given(argc, argv, "--help")) {
    print_usage();
    return 0;
  }
  MPI_Init(&argc, &argv);
  Job job = {.shape.workload = workload_named(option_text(argc, argv, "--workload", NULL))};
  Shape* shape = &job.shape;
  MPI_Comm_rank(MPI_COMM_WORLD, &shape->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &shape->ranks);
  if (shape->workload == NULL) return refuse(shape, "--workload NAME: --list tells the names");
  char reason[256];
  if (!read_values(shape, argc, argv, reason, sizeof reason)) return refuse(shape, reason);
  if (option_given(argc, argv, "--describe")) return describe(shape, argc, argv);
  return measure(&job, argc, argv);
}
