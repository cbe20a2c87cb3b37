/* Memory beside the user's buffers during a level-3 access, for several sizes and buffer hints:
   rank r of P owns every P-th block of the file, its own buffer has a gap behind every block.

   --path FILE  --sizes 4,16,64 (MiB per rank)  --buffers 1,4,16 (MiB: cb_buffer_size)
   --block 4096 (bytes)  --listed  --contiguous  --hint key=value ...

   --listed: whose turn is first changes from round to round without rule, so that the view is a
   list of all blocks. --contiguous: no gaps in memory.

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

enum { gap_words = 16, listed_seed = 77 };

typedef struct {
  int rank, ranks;
  int block_words;
  bool listed;
  int blocks; /* of this access */
  int stride; /* words from block to block in memory */
  MPI_Info hints;
  const char* path;
  uint32_t* data;
  Gate* gate;
} Job;

static size_t data_words(const Job* job) { return (size_t)job->blocks * (size_t)job->stride; }

static uint64_t file_word(const Job* job, int64_t block) {
  const uint32_t shift = job->listed ? pattern((uint64_t)block, listed_seed) : 0;
  const uint32_t turn = ((uint32_t)job->rank + shift % (uint32_t)job->ranks) % (uint32_t)job->ranks;
  return ((uint64_t)block * (uint64_t)job->ranks + turn) * (uint64_t)job->block_words;
}

static void fill(Job* job, uint32_t seed) {
  memset(job->data, 0xee, 4 * data_words(job));
  for (int64_t b = 0; b < job->blocks; ++b) {
    for (int64_t k = 0; k < job->block_words; ++k) {
      job->data[b * job->stride + k] = pattern(file_word(job, b) + (uint64_t)k, seed);
    }
  }
}

static void check(const Job* job, uint32_t seed) {
  bool ok = true;
  for (int64_t b = 0; b < job->blocks; ++b) {
    const uint32_t* at = job->data + b * job->stride;
    for (int64_t k = 0; k < job->stride; ++k) {
      const bool data = k < job->block_words;
      ok &= at[k] == (data ? pattern(file_word(job, b) + (uint64_t)k, seed) : 0xeeeeeeeeu);
    }
  }
  require(ok, "blocks read are right and gaps are untouched");
}

static void check_file(const Job* job, uint32_t seed) {
  const size_t bytes = (size_t)job->block_words * (size_t)job->blocks * (size_t)job->ranks * 4;
  bool ok = true;
  const int fd = open(job->path, O_RDONLY);
  require(fd >= 0, job->path);
  const uint32_t* file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  require(file != MAP_FAILED, "the file in memory");
  for (int64_t b = 0; b < job->blocks; ++b) {
    const uint64_t first = file_word(job, b);
    for (uint64_t k = 0; k < (uint64_t)job->block_words; ++k) {
      ok &= file[first + k] == pattern(first + k, seed);
    }
  }
  munmap((void*)file, bytes);
  close(fd);
  require(ok, "every byte of the file is right");
}

static MPI_File open_with_view(const Job* job, MPI_Datatype filetype) {
  MPI_File file;
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, job->path, amode, job->hints, &file), "open");
  const MPI_Offset first = (MPI_Offset)file_word(job, 0) * 4;
  check_mpi(MPI_File_set_view(file, first, MPI_INT, filetype, "native", job->hints), "set_view");
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
  require(count == job->blocks * job->block_words, "the status tells the true count");
  return figures;
}

static void report(const Job* job, Figures mine, int mib, int buffer, bool write) {
  Figures worst, sum;
  MPI_Reduce(&mine, &worst, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (job->rank != 0) return;
  printf(
      "{\"program\":\"memory\",\"op\":\"%s\",\"ranks\":%d,\"mib_per_rank\":%d,"
      "\"cb_buffer_mib\":%d,\"pieces\":%d,\"listed\":%s,\"resident_growth\":%.0f,"
      "\"resident_growth_all\":%.0f,\"heap_peak\":%.0f,\"left_mapped_all\":%.0f,"
      "\"verified\":true}\n",
      write ? "write" : "read", job->ranks, mib, buffer, job->blocks,
      job->listed ? "true" : "false", worst.resident, sum.resident, worst.heap, sum.proportional);
  fflush(stdout);
}

/* From the rank's first block on. */
static MPI_Datatype view_of(const Job* job) {
  MPI_Datatype type;
  if (job->listed) {
    MPI_Aint* places = malloc((size_t)job->blocks * sizeof *places);
    require(places != NULL, "memory for the places of all blocks");
    for (int64_t b = 0; b < job->blocks; ++b)
      places[b] = (MPI_Aint)((file_word(job, b) - file_word(job, 0)) * 4);
    MPI_Type_create_hindexed_block(job->blocks, job->block_words, places, MPI_INT, &type);
    free(places);
  } else {
    MPI_Type_vector(job->blocks, job->block_words, job->block_words * job->ranks, MPI_INT, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

/* One size: `mib` of data per rank; nothing is reported for mib == 0, a warm-up of 256 KiB. */
static void measure(Job* job, int mib, int buffer) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)buffer << 20);
  MPI_Info_set(job->hints, "cb_buffer_size", text);
  const int warm_up_bytes = 262144;
  job->blocks = (mib == 0 ? warm_up_bytes : mib << 20) / (4 * job->block_words);
  /* Not from the heap, which would keep it and lend it to the MPI in the next round. */
  job->data =
      mmap(NULL, 4 * data_words(job), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(job->data != MAP_FAILED, "memory for the user's buffer");
  MPI_Datatype filetype = view_of(job), memory;
  MPI_Type_vector(job->blocks, job->block_words, job->stride, MPI_INT, &memory);
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
  const int block_bytes = (int)option_number(argc, argv, "--block", 4096);
  require(block_bytes >= 4 && block_bytes <= 262144 && 262144 % block_bytes == 0,
          "--block is a power of two from 4 to 262144");
  job.block_words = block_bytes / 4;
  job.listed = option_given(argc, argv, "--listed");
  job.stride = job.block_words + (option_given(argc, argv, "--contiguous") ? 0 : gap_words);
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
