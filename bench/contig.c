/* What a contiguous 4 KiB MPI_File_write_at/read_at costs over a bare pwrite/pread: in one process,
   on one file, at the same offsets, blocks of calls of the one and of the other in strict
   alternation.

   --path FILE  --bytes 4096  --calls 1000 (in a block)  --blocks 200 (pairs of blocks)
   --hint key=value ...

   A third way in the same turns has the file open with tamis_counters=enable: what counting costs.
   An MPI-IO without such a hint shows how far apart two equal ways come out.

   One JSON line per direction: medians in ns per call, the median, quartiles and the ratio of the
   fastest blocks, the heap allocations made by the MPI calls, and the ratio of the calls that are
   counted to those that are not. Meant for one rank. Every byte is checked: writes after each
   block, past the MPI; reads by their first and last word in each call and whole in an untimed
   pass. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_count.h"
#include "bench.h"

enum way { POSIX, MPI, COUNTED, WAYS };

typedef struct {
  const char* path;
  MPI_Info hints[WAYS];
  MPI_File file; /* open during blocks of MPI calls only */
  int fd;
  int bytes, calls;
  uint32_t* buffer; /* one access */
  uint32_t* image;  /* the whole file, for checks */
  int64_t wrong;
} Job;

static int64_t words(const Job* job) { return job->bytes / 4; }

/* The middle of an access is the pattern of its seed; both ends name the access, so that one in the
   wrong place is seen. */
static void fill(const Job* job, uint32_t seed) {
  for (int64_t k = 0; k < words(job); ++k) job->buffer[k] = pattern((uint64_t)k, seed);
}

static void stamp(const Job* job, int call, uint32_t seed) {
  job->buffer[0] = job->buffer[words(job) - 1] = pattern((uint64_t)call, ~seed);
}

static bool stamped(const Job* job, const uint32_t* at, int call, uint32_t seed) {
  const uint32_t expected = pattern((uint64_t)call, ~seed);
  return at[0] == expected && at[words(job) - 1] == expected;
}

static bool whole(const Job* job, const uint32_t* at, int call, uint32_t seed) {
  bool ok = stamped(job, at, call, seed);
  for (int64_t k = 1; k + 1 < words(job); ++k) ok &= at[k] == pattern((uint64_t)k, seed);
  return ok;
}

static double write_block(Job* job, enum way way, uint32_t seed) {
  fill(job, seed);
  const double begin = now_seconds();
  for (int call = 0; call < job->calls; ++call) {
    const off_t at = (off_t)call * job->bytes;
    stamp(job, call, seed);
    if (way != POSIX) {
      MPI_Status status;
      job->wrong += MPI_File_write_at(job->file, at, job->buffer, job->bytes, MPI_BYTE, &status) !=
                    MPI_SUCCESS;
    } else {
      job->wrong += pwrite(job->fd, job->buffer, (size_t)job->bytes, at) != job->bytes;
    }
  }
  return now_seconds() - begin;
}

static double read_block(Job* job, enum way way, uint32_t seed) {
  const double begin = now_seconds();
  for (int call = 0; call < job->calls; ++call) {
    const off_t at = (off_t)call * job->bytes;
    if (way != POSIX) {
      MPI_Status status;
      job->wrong += MPI_File_read_at(job->file, at, job->buffer, job->bytes, MPI_BYTE, &status) !=
                    MPI_SUCCESS;
    } else {
      job->wrong += pread(job->fd, job->buffer, (size_t)job->bytes, at) != job->bytes;
    }
    job->wrong += !stamped(job, job->buffer, call, seed);
  }
  return now_seconds() - begin;
}

static void check_file(Job* job, uint32_t seed) {
  const size_t all = (size_t)job->bytes * (size_t)job->calls;
  memset(job->image, 0xee, all);
  pread_all(job->fd, job->image, all, 0);
  for (int call = 0; call < job->calls; ++call) {
    job->wrong += !whole(job, job->image + call * words(job), call, seed);
  }
}

static void check_reads(Job* job, uint32_t seed) {
  for (int call = 0; call < job->calls; ++call) {
    MPI_Status status;
    memset(job->buffer, 0xee, (size_t)job->bytes);
    check_mpi(MPI_File_read_at(job->file, (MPI_Offset)call * job->bytes, job->buffer, job->bytes,
                               MPI_BYTE, &status),
              "read_at");
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    job->wrong += count != job->bytes || !whole(job, job->buffer, call, seed);
  }
}

typedef struct {
  double* times[WAYS];  /* seconds, block by block */
  double* ratios[WAYS]; /* to POSIX, or of COUNTED to MPI, block by block */
  int64_t allocations;
} Series;

static void open_file(Job* job, enum way way) {
  if (way == POSIX) return;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, MPI_MODE_RDWR | MPI_MODE_CREATE,
                          job->hints[way], &job->file),
            "open");
}

static void close_file(Job* job, enum way way) {
  if (way != POSIX) check_mpi(MPI_File_close(&job->file), "close");
}

static void run_blocks(Job* job, bool write, size_t blocks, Series* series) {
  for (size_t block = 0; block < blocks; ++block) {
    for (int turn = 0; turn < WAYS; ++turn) {
      const enum way way = (enum way)((turn + (int)block) % WAYS); /* none is always first */
      const uint32_t seed = write ? (uint32_t)(WAYS * block) + way + 1 : 0;
      open_file(job, way);
      if (way == MPI) alloc_count_start();
      series->times[way][block] = write ? write_block(job, way, seed) : read_block(job, way, seed);
      if (way == MPI) series->allocations += alloc_count_stop().calls;
      if (write) check_file(job, seed);
      close_file(job, way);
    }
    for (int way = MPI; way < WAYS; ++way)
      series->ratios[way][block] = series->times[way][block] / series->times[way - 1][block];
  }
}

static void print_ratio(const char* name, Series* series, enum way way, size_t blocks) {
  double* ratios = series->ratios[way];
  printf("\"%s\":%.4f,\"%s_quartiles\":[%.4f,%.4f],", name, quantile(ratios, blocks, 0.5), name,
         quantile(ratios, blocks, 0.25), quantile(ratios, blocks, 0.75));
}

static void measure(Job* job, bool write, size_t blocks) {
  Series series = {0};
  for (int way = 0; way < WAYS; ++way) {
    series.times[way] = malloc(blocks * sizeof(double));
    series.ratios[way] = malloc(blocks * sizeof(double));
  }
  run_blocks(job, write, blocks, &series);
  require(job->wrong == 0, "every access is whole and right");
  const double ns = 1e9 / job->calls;
  printf("{\"program\":\"contig\",\"op\":\"%s\",\"bytes\":%d,\"calls\":%zu,",
         write ? "write" : "read", job->bytes, blocks * (size_t)job->calls);
  const char* names[WAYS] = {"posix_ns", "mpi_ns", "counted_ns"};
  for (int way = 0; way < WAYS; ++way)
    printf("\"%s\":%.1f,", names[way], quantile(series.times[way], blocks, 0.5) * ns);
  print_ratio("ratio", &series, MPI, blocks);
  print_ratio("counted_ratio", &series, COUNTED, blocks);
  /* quantile() has sorted the times */
  printf("\"ratio_fastest\":%.4f,\"allocations_per_call\":%.6f,\"verified\":true}\n",
         series.times[MPI][0] / series.times[POSIX][0],
         (double)series.allocations / ((double)blocks * job->calls));
  fflush(stdout);
  for (int way = 0; way < WAYS; ++way) {
    free(series.times[way]);
    free(series.ratios[way]);
  }
}

static MPI_Info with_counters(MPI_Info hints) {
  MPI_Info counted;
  if (hints == MPI_INFO_NULL)
    MPI_Info_create(&counted);
  else
    MPI_Info_dup(hints, &counted);
  MPI_Info_set(counted, "tamis_counters", "enable");
  return counted;
}

/* All ways warm, pages there, and every byte of what MPI reads looked at. */
static void warm_up(Job* job) {
  for (int way = POSIX; way < WAYS; ++way) {
    open_file(job, (enum way)way);
    write_block(job, (enum way)way, 0);
    if (way != POSIX) check_reads(job, 0);
    close_file(job, (enum way)way);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job = {0};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(rank == 0, "contig is for one rank");
  const char* path = option_text(argc, argv, "--path", "contig.dat");
  const size_t blocks = (size_t)option_number(argc, argv, "--blocks", 200);
  job.bytes = (int)option_number(argc, argv, "--bytes", 4096);
  job.calls = (int)option_number(argc, argv, "--calls", 1000);
  require(job.bytes >= 8 && job.bytes % 4 == 0, "--bytes is a multiple of 4, at least 8");
  job.buffer = malloc((size_t)job.bytes);
  job.image = malloc((size_t)job.bytes * (size_t)job.calls);
  MPI_Info hints = option_hints(argc, argv);
  job.path = path;
  job.hints[MPI] = hints;
  job.hints[COUNTED] = with_counters(hints);
  unlink(path);
  job.fd = open(path, O_RDWR | O_CREAT, 0666);
  require(job.fd >= 0, path);
  warm_up(&job);
  measure(&job, false, blocks);
  measure(&job, true, blocks);
  close(job.fd);
  unlink(path);
  MPI_Info_free(&job.hints[COUNTED]);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  free(job.buffer);
  free(job.image);
  MPI_Finalize();
  return 0;
}
