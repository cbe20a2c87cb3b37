/* The distributed array of the papers: n*n*n 4-byte integers, (block, block, block) over the ranks,
   read and written at the four levels of the MPI-IO interface, beside the POSIX limit: the same
   ranks move the same bytes, each with one contiguous pwrite/pread.

   --path FILE  --n N  --reps R  --levels p,0,1,2,3  --budget SECONDS  --fresh  --dims A,B,C
   --hint key=value ...

   --dims:   the grid of ranks; otherwise as MPI_Dims_create says, by which two ranks split the
   array into contiguous halves.
   --budget: a level whose repetitions have taken longer gets no further ones.
   --fresh:  the file is emptied before each write; otherwise written over (and once before,
   untimed).

   One JSON line for each timed access and one with minimum and median for each level and direction;
   seconds run from the moment all ranks were ready to the moment the last was done, without open,
   set_view and close. Every byte is checked after every access. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { level_posix = -1, max_levels = 8, max_reps = 1000 };

typedef struct {
  int n, rank, ranks;
  int sub[3], start[3]; /* this rank's block */
  int64_t elements;     /* of it */
  int64_t share_first;  /* first element of its contiguous share */
  int64_t rounds;       /* rows of the largest block: calls at levels 0 and 1 */
  const char* path;
  int fd;
  uint32_t* data;
  MPI_Datatype filetype;
  MPI_Info hints;
  Gate* gate;
} Job;

typedef struct {
  int level;
  int reps[2];
  double spent, seconds[2][max_reps];
} Series;

static void place(Job* job, const char* grid) {
  int dims[3] = {0, 0, 0};
  if (grid != NULL) {
    require(sscanf(grid, "%d,%d,%d", &dims[0], &dims[1], &dims[2]) == 3, "--dims A,B,C");
    require(dims[0] * dims[1] * dims[2] == job->ranks, "--dims covers the ranks");
  } else {
    MPI_Dims_create(job->ranks, 3, dims);
  }
  const int coords[3] = {job->rank / (dims[1] * dims[2]), job->rank / dims[2] % dims[1],
                         job->rank % dims[2]};
  for (int d = 0; d < 3; ++d) {
    job->start[d] = (int)((int64_t)job->n * coords[d] / dims[d]);
    job->sub[d] = (int)((int64_t)job->n * (coords[d] + 1) / dims[d]) - job->start[d];
  }
  job->elements = (int64_t)job->sub[0] * job->sub[1] * job->sub[2];
  int64_t upto = 0;
  MPI_Scan(&job->elements, &upto, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  job->share_first = upto - job->elements;
  const int64_t rows = (int64_t)job->sub[0] * job->sub[1];
  MPI_Allreduce(&rows, &job->rounds, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  const int sizes[3] = {job->n, job->n, job->n};
  MPI_Type_create_subarray(3, sizes, job->sub, job->start, MPI_ORDER_C, MPI_INT, &job->filetype);
  MPI_Type_commit(&job->filetype);
}

/* The global index of the first element of local row `row`. */
static int64_t row_first(const Job* job, int64_t row) {
  const int64_t i = job->start[0] + row / job->sub[1], j = job->start[1] + row % job->sub[1];
  return (i * job->n + j) * job->n + job->start[2];
}

static void fill_block(Job* job, uint32_t seed) {
  uint32_t* out = job->data;
  for (int64_t row = 0; row < (int64_t)job->sub[0] * job->sub[1]; ++row) {
    const int64_t first = row_first(job, row);
    for (int k = 0; k < job->sub[2]; ++k) *out++ = pattern((uint64_t)(first + k), seed);
  }
}

static void check_block(const Job* job, uint32_t seed) {
  const uint32_t* in = job->data;
  bool ok = true;
  for (int64_t row = 0; row < (int64_t)job->sub[0] * job->sub[1]; ++row) {
    const int64_t first = row_first(job, row);
    for (int k = 0; k < job->sub[2]; ++k) ok &= *in++ == pattern((uint64_t)(first + k), seed);
  }
  require(ok, "every element read is right");
}

static void fill_share(Job* job, uint32_t seed) {
  for (int64_t i = 0; i < job->elements; ++i) {
    job->data[i] = pattern((uint64_t)(job->share_first + i), seed);
  }
}

static void check_share(const Job* job, uint32_t seed) {
  bool ok = true;
  for (int64_t i = 0; i < job->elements; ++i) {
    ok &= job->data[i] == pattern((uint64_t)(job->share_first + i), seed);
  }
  require(ok, "every element of the file is right");
}

/* Reads this rank's contiguous share of the file past the MPI and checks it. */
static void check_file(Job* job, uint32_t seed) {
  memset(job->data, 0xee, (size_t)job->elements * 4);
  pread_all(job->fd, job->data, (size_t)job->elements * 4, (off_t)job->share_first * 4);
  check_share(job, seed);
  gate_meet(job->gate);
}

static void move_rows(const Job* job, MPI_File file, bool write, bool collective) {
  const int64_t rows = (int64_t)job->sub[0] * job->sub[1];
  const int64_t calls = collective ? job->rounds : rows;
  for (int64_t row = 0; row < calls; ++row) {
    const int count = row < rows ? job->sub[2] : 0;
    const MPI_Offset at = row < rows ? row_first(job, row) * 4 : 0;
    uint32_t* data = job->data + (row < rows ? row * job->sub[2] : 0);
    MPI_Status status;
    int code;
    if (write) {
      code = collective ? MPI_File_write_at_all(file, at, data, count, MPI_INT, &status)
                        : MPI_File_write_at(file, at, data, count, MPI_INT, &status);
    } else {
      code = collective ? MPI_File_read_at_all(file, at, data, count, MPI_INT, &status)
                        : MPI_File_read_at(file, at, data, count, MPI_INT, &status);
    }
    check_mpi(code, "access of one row");
  }
}

static void move_block(const Job* job, MPI_File file, bool write, bool collective) {
  MPI_Status status;
  const int count = (int)job->elements;
  int code;
  if (write) {
    code = collective ? MPI_File_write_all(file, job->data, count, MPI_INT, &status)
                      : MPI_File_write(file, job->data, count, MPI_INT, &status);
  } else {
    code = collective ? MPI_File_read_all(file, job->data, count, MPI_INT, &status)
                      : MPI_File_read(file, job->data, count, MPI_INT, &status);
  }
  check_mpi(code, "access of the block");
  int moved = 0;
  MPI_Get_count(&status, MPI_INT, &moved);
  require(moved == count, "the status tells the true count");
}

static void move_share(const Job* job, bool write) {
  const size_t bytes = (size_t)job->elements * 4;
  if (write) {
    pwrite_all(job->fd, job->data, bytes, (off_t)job->share_first * 4);
  } else {
    pread_all(job->fd, job->data, bytes, (off_t)job->share_first * 4);
  }
}

/* One access by all ranks; returns its seconds, the same on every rank. */
static double timed(const Job* job, int level, bool write) {
  MPI_File file = MPI_FILE_NULL;
  if (level != level_posix) {
    const int mode = write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    /* Sieving writes read too. */
    const int amode = write && level >= 2 ? MPI_MODE_RDWR | MPI_MODE_CREATE : mode;
    check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, amode, job->hints, &file), "open");
    if (level >= 2) {
      check_mpi(MPI_File_set_view(file, 0, MPI_INT, job->filetype, "native", job->hints), "view");
    }
  }
  double begin = gate_meet(job->gate);
  if (level == level_posix) {
    move_share(job, write);
  } else if (level < 2) {
    move_rows(job, file, write, level == 1);
  } else {
    move_block(job, file, write, level == 3);
  }
  double seconds = gate_meet(job->gate) - begin;
  if (level != level_posix) check_mpi(MPI_File_close(&file), "close");
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

static void report(const Job* job, int level, bool write, const char* more) {
  char name[8] = "posix";
  if (level != level_posix) snprintf(name, sizeof name, "%d", level);
  printf(
      "{\"program\":\"dist3d\",\"level\":\"%s\",\"op\":\"%s\",\"ranks\":%d,\"n\":%d,"
      "\"bytes\":%lld,%s}\n",
      name, write ? "write" : "read", job->ranks, job->n, (long long)job->n * job->n * job->n * 4,
      more);
  fflush(stdout);
}

static void run_once(Job* job, Series* series, bool write, uint32_t seed) {
  const bool posix = series->level == level_posix;
  if (!write) {
    memset(job->data, 0xee, (size_t)job->elements * 4);
  } else if (posix) {
    fill_share(job, seed);
  } else {
    fill_block(job, seed);
  }
  const double seconds = timed(job, series->level, write);
  if (write) {
    check_file(job, seed);
  } else if (posix) {
    check_share(job, seed);
  } else {
    check_block(job, seed);
  }
  series->seconds[write][series->reps[write]++] = seconds;
  series->spent += seconds;
  char more[64];
  snprintf(more, sizeof more, "\"rep\":%d,\"seconds\":%.6f", series->reps[write] - 1, seconds);
  if (job->rank == 0) report(job, series->level, write, more);
}

static void summarise(const Job* job, Series* series) {
  for (int write = 1; write >= 0; --write) {
    const size_t reps = (size_t)series->reps[write];
    if (reps == 0) continue;
    double* seconds = series->seconds[write];
    const double median = quantile(seconds, reps, 0.5);
    const double mib = (double)job->n * job->n * job->n * 4 / 1048576.0;
    char more[160];
    snprintf(more, sizeof more,
             "\"summary\":true,\"reps\":%zu,\"min\":%.6f,\"median\":%.6f,\"max\":%.6f,"
             "\"mib_per_s\":%.1f,\"verified\":true",
             reps, seconds[0], median, seconds[reps - 1], mib / median);
    report(job, series->level, write, more);
  }
}

static size_t parse_levels(const char* text, Series* series) {
  size_t count = 0;
  for (const char* c = text; *c != '\0' && count < max_levels; ++c) {
    if (*c == ',') continue;
    require(*c == 'p' || (*c >= '0' && *c <= '3'), "--levels is made of p, 0, 1, 2, 3");
    series[count++].level = *c == 'p' ? level_posix : *c - '0';
  }
  return count;
}

static void prepare(Job* job, int argc, char** argv) {
  MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
  job->n = (int)option_number(argc, argv, "--n", 128);
  job->path = option_text(argc, argv, "--path", "dist3d.dat");
  job->hints = option_hints(argc, argv);
  require(job->n >= job->ranks && job->n <= 1290, "--n between the number of ranks and 1290");
  place(job, option_text(argc, argv, "--dims", NULL));
  job->data = malloc((size_t)job->elements * 4);
  require(job->data != NULL, "memory for the block");
  job->gate = gate_open(MPI_COMM_WORLD);
  if (job->rank == 0) unlink(job->path);
  gate_meet(job->gate);
  job->fd = open(job->path, O_RDWR | O_CREAT, 0644);
  require(job->fd >= 0, job->path);
  fill_share(job, 0);
  move_share(job, true);
  gate_meet(job->gate);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static Series series[max_levels];
  Job job = {0};
  prepare(&job, argc, argv);
  const size_t levels = parse_levels(option_text(argc, argv, "--levels", "p,0,1,2,3"), series);
  const double budget = (double)option_number(argc, argv, "--budget", 60);
  const int64_t reps = option_number(argc, argv, "--reps", 5);
  require(reps > 0 && reps <= max_reps, "--reps between 1 and 1000");
  uint32_t seed = 0;
  for (int64_t rep = 0; rep < reps; ++rep) {
    for (size_t i = 0; i < levels; ++i) {
      if (series[i].spent > budget) continue;
      if (option_given(argc, argv, "--fresh") && job.rank == 0) {
        require(ftruncate(job.fd, 0) == 0, "emptying the file");
      }
      gate_meet(job.gate);
      run_once(&job, &series[i], true, ++seed);
      run_once(&job, &series[i], false, seed);
    }
  }
  for (size_t i = 0; i < levels && job.rank == 0; ++i) summarise(&job, &series[i]);
  gate_meet(job.gate);
  close(job.fd);
  if (job.rank == 0) unlink(job.path);
  gate_close(job.gate);
  MPI_Type_free(&job.filetype);
  if (job.hints != MPI_INFO_NULL) MPI_Info_free(&job.hints);
  free(job.data);
  MPI_Finalize();
  return 0;
}
