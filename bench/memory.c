/* Memory beside the user's buffers during a level-3 access, for several sizes and buffer hints:
   rank r of P owns every P-th block of 4 KiB of the file, its own buffer has a gap behind every
   block.

   --path FILE  --sizes 4,16,64 (MiB per rank)  --buffers 1,4,16 (MiB: cb_buffer_size)  --contiguous
   --hint key=value ...

   --contiguous: no gaps in memory.

   One JSON line per size, hint and direction: growth of the peak resident size (worst rank and sum
   of the ranks; a page shared by n ranks counts n times), peak of the heap (worst rank), and the
   proportional share of all mappings left afterwards (sum). */
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc_count.h"
#include "bench.h"

enum { block_bytes = 4096, block_words = block_bytes / 4, gap_words = 16 };

typedef struct {
  int rank, ranks;
  int blocks; /* of this access */
  int stride; /* words from block to block in memory */
  MPI_Info hints;
  const char* path;
  uint32_t* data;
  Gate* gate;
} Job;

static size_t data_words(const Job* job) { return (size_t)job->blocks * (size_t)job->stride; }

static uint64_t file_word(const Job* job, int64_t block) {
  return (uint64_t)(block * job->ranks + job->rank) * block_words;
}

static void fill(Job* job, uint32_t seed) {
  memset(job->data, 0xee, 4 * data_words(job));
  for (int64_t b = 0; b < job->blocks; ++b) {
    for (int64_t k = 0; k < block_words; ++k) {
      job->data[b * job->stride + k] = pattern(file_word(job, b) + (uint64_t)k, seed);
    }
  }
}

static void check(const Job* job, uint32_t seed) {
  bool ok = true;
  for (int64_t b = 0; b < job->blocks; ++b) {
    const uint32_t* at = job->data + b * job->stride;
    for (int64_t k = 0; k < job->stride; ++k) {
      ok &=
          at[k] == (k < block_words ? pattern(file_word(job, b) + (uint64_t)k, seed) : 0xeeeeeeeeu);
    }
  }
  require(ok, "blocks read are right and gaps are untouched");
}

static void check_file(const Job* job, uint32_t seed) {
  uint32_t block[block_words];
  bool ok = true;
  const int fd = open(job->path, O_RDONLY);
  require(fd >= 0, job->path);
  for (int64_t b = 0; b < job->blocks; ++b) {
    pread_all(fd, block, sizeof block, (off_t)file_word(job, b) * 4);
    for (int64_t k = 0; k < block_words; ++k) {
      ok &= block[k] == pattern(file_word(job, b) + (uint64_t)k, seed);
    }
  }
  close(fd);
  require(ok, "every byte of the file is right");
}

static MPI_File open_with_view(const Job* job, MPI_Datatype filetype) {
  MPI_File file;
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, amode, job->hints, &file), "open");
  check_mpi(MPI_File_set_view(file, (MPI_Offset)job->rank * block_bytes, MPI_INT, filetype,
                              "native", job->hints),
            "set_view");
  return file;
}

/* Resident growth and heap peak of one collective access, on this rank. */
typedef struct {
  double resident, heap, proportional;
} Figures;

static Figures access_once(Job* job, MPI_File file, MPI_Datatype memory, bool write) {
  MPI_Status status;
  Figures figures;
  gate_meet(job->gate);
  malloc_trim(0);
  const int64_t share = resident_proportional();
  resident_peak_reset();
  const int64_t before = resident_now();
  alloc_count_start();
  gate_meet(job->gate);
  check_mpi(write ? MPI_File_write_at_all(file, 0, job->data, 1, memory, &status)
                  : MPI_File_read_at_all(file, 0, job->data, 1, memory, &status),
            "collective access");
  figures.heap = (double)alloc_count_stop().peak;
  figures.resident = (double)(resident_peak() - before);
  gate_meet(job->gate);
  figures.proportional = (double)(resident_proportional() - share);
  int count = 0;
  MPI_Get_elements(&status, MPI_INT, &count);
  require(count == job->blocks * block_words, "the status tells the true count");
  return figures;
}

static void report(const Job* job, Figures mine, int mib, int buffer, bool write) {
  Figures worst, sum;
  MPI_Reduce(&mine, &worst, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (job->rank != 0) return;
  printf(
      "{\"program\":\"memory\",\"op\":\"%s\",\"ranks\":%d,\"mib_per_rank\":%d,"
      "\"cb_buffer_mib\":%d,\"resident_growth\":%.0f,\"resident_growth_all\":%.0f,"
      "\"heap_peak\":%.0f,\"left_mapped_all\":%.0f,\"verified\":true}\n",
      write ? "write" : "read", job->ranks, mib, buffer, worst.resident, sum.resident, worst.heap,
      sum.proportional);
  fflush(stdout);
}

/* One size: `mib` of data per rank; nothing is reported for mib == 0, a warm-up of 256 KiB. */
static void measure(Job* job, int mib, int buffer) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)buffer << 20);
  MPI_Info_set(job->hints, "cb_buffer_size", text);
  job->blocks = mib == 0 ? 64 : mib * (1048576 / block_bytes);
  /* Not from the heap, which would keep it and lend it to the MPI in the next round. */
  job->data =
      mmap(NULL, 4 * data_words(job), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(job->data != MAP_FAILED, "memory for the user's buffer");
  MPI_Datatype filetype, memory;
  MPI_Type_vector(job->blocks, block_words, block_words * job->ranks, MPI_INT, &filetype);
  MPI_Type_vector(job->blocks, block_words, job->stride, MPI_INT, &memory);
  MPI_Type_commit(&filetype);
  MPI_Type_commit(&memory);
  MPI_File file = open_with_view(job, filetype);
  const uint32_t seed = (uint32_t)(mib * 1000 + buffer);
  fill(job, seed);
  const Figures wrote = access_once(job, file, memory, true);
  check_file(job, seed);
  memset(job->data, 0xee, 4 * data_words(job));
  const Figures read = access_once(job, file, memory, false);
  check(job, seed);
  if (mib > 0) report(job, wrote, mib, buffer, true);
  if (mib > 0) report(job, read, mib, buffer, false);
  check_mpi(MPI_File_close(&file), "close");
  MPI_Type_free(&memory);
  MPI_Type_free(&filetype);
  munmap(job->data, 4 * data_words(job));
}

/* The next number of a list "a,b,c"; 0 at its end. */
static int next_number(const char** text) {
  char* end;
  const long value = strtol(*text, &end, 10);
  *text = *end == ',' ? end + 1 : end;
  return (int)value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job = {.path = option_text(argc, argv, "--path", "memory.dat")};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  job.stride = block_words + (option_given(argc, argv, "--contiguous") ? 0 : gap_words);
  job.hints = option_hints(argc, argv);
  if (job.hints == MPI_INFO_NULL) MPI_Info_create(&job.hints);
  job.gate = gate_open(MPI_COMM_WORLD);
  if (job.rank == 0) unlink(job.path);
  gate_meet(job.gate);
  const char* buffers = option_text(argc, argv, "--buffers", "1,4,16");
  for (int buffer = next_number(&buffers); buffer > 0; buffer = next_number(&buffers)) {
    measure(&job, 0, buffer);
    const char* sizes = option_text(argc, argv, "--sizes", "4,16,64");
    for (int mib = next_number(&sizes); mib > 0; mib = next_number(&sizes)) {
      measure(&job, mib, buffer);
    }
  }
  gate_meet(job.gate);
  if (job.rank == 0) unlink(job.path);
  MPI_Info_free(&job.hints);
  gate_close(job.gate);
  MPI_Finalize();
  return 0;
}
