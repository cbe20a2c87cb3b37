/* What a contiguous 4 KiB MPI_File_write_at/read_at costs over a bare pwrite/pread: in one process,
   on one file, at the same offsets, blocks of calls of the one and of the other in strict
   alternation.

   --path FILE  --bytes 4096  --calls 1000 (in a block)  --blocks 200 (pairs of blocks)
   --hint key=value ...

   One JSON line per direction: medians in ns per call, the median, quartiles and the ratio of the
   fastest blocks, and the heap allocations made by the MPI calls. Meant for one rank. Every byte is
   checked: writes after each block, past the MPI; reads by their first and last word in each call
   and whole in an untimed pass. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_count.h"
#include "bench.h"

typedef struct {
  MPI_File file;
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

static double write_block(Job* job, bool mpi, uint32_t seed) {
  fill(job, seed);
  const double begin = now_seconds();
  for (int call = 0; call < job->calls; ++call) {
    const off_t at = (off_t)call * job->bytes;
    stamp(job, call, seed);
    if (mpi) {
      MPI_Status status;
      job->wrong += MPI_File_write_at(job->file, at, job->buffer, job->bytes, MPI_BYTE, &status) !=
                    MPI_SUCCESS;
    } else {
      job->wrong += pwrite(job->fd, job->buffer, (size_t)job->bytes, at) != job->bytes;
    }
  }
  return now_seconds() - begin;
}

static double read_block(Job* job, bool mpi, uint32_t seed) {
  const double begin = now_seconds();
  for (int call = 0; call < job->calls; ++call) {
    const off_t at = (off_t)call * job->bytes;
    if (mpi) {
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

static void measure(Job* job, bool write, size_t blocks) {
  double* times[2] = {malloc(blocks * sizeof(double)), malloc(blocks * sizeof(double))};
  double* ratios = malloc(blocks * sizeof(double));
  int64_t allocations = 0;
  for (size_t block = 0; block < blocks; ++block) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool mpi = (turn == 0) == (block % 2 == 0); /* neither side is always the first */
      const uint32_t seed = write ? (uint32_t)(2 * block) + (mpi ? 1 : 2) : 0;
      if (mpi) alloc_count_start();
      times[mpi][block] = write ? write_block(job, mpi, seed) : read_block(job, mpi, seed);
      if (mpi) allocations += alloc_count_stop().calls;
      if (write) check_file(job, seed);
    }
    ratios[block] = times[1][block] / times[0][block];
  }
  const double ns = 1e9 / job->calls;
  const double posix = quantile(times[0], blocks, 0.5) * ns,
               mpi = quantile(times[1], blocks, 0.5) * ns;
  require(job->wrong == 0, "every access is whole and right");
  printf(
      "{\"program\":\"contig\",\"op\":\"%s\",\"bytes\":%d,\"calls\":%zu,\"mpi_ns\":%.1f,"
      "\"posix_ns\":%.1f,\"ratio\":%.4f,\"ratio_quartiles\":[%.4f,%.4f],\"ratio_fastest\":%.4f,"
      "\"allocations_per_call\":%.6f,\"verified\":true}\n",
      write ? "write" : "read", job->bytes, blocks * (size_t)job->calls, mpi, posix,
      quantile(ratios, blocks, 0.5), quantile(ratios, blocks, 0.25), quantile(ratios, blocks, 0.75),
      times[1][0] / times[0][0], (double)allocations / ((double)blocks * job->calls));
  fflush(stdout);
  free(times[0]);
  free(times[1]);
  free(ratios);
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
  unlink(path);
  check_mpi(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &job.file),
            "open");
  job.fd = open(path, O_RDWR);
  require(job.fd >= 0, path);
  write_block(&job, true, 0); /* both ways warm, pages there */
  write_block(&job, false, 0);
  check_reads(&job, 0);
  measure(&job, false, blocks);
  measure(&job, true, blocks);
  close(job.fd);
  check_mpi(MPI_File_close(&job.file), "close");
  unlink(path);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  free(job.buffer);
  free(job.image);
  MPI_Finalize();
  return 0;
}
