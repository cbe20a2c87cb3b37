/* What a view of very many small blocks costs: MPI_Type_vector of 10^8 eight-byte blocks at a
   stride of sixteen, set as the view, and an access in its middle, written, read back and compared
   past the MPI, the gaps too.

   --path FILE  --blocks 100000000  --access 1048576 (bytes, each rank its own)  --collective
   --hint key=value ...

   One JSON line: milliseconds of set_view, write and read (slowest rank), and what the three needed
   beyond the access's buffers (worst rank): growth of the peak resident size, peak of the heap. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_count.h"
#include "bench.h"

typedef struct {
  int rank, ranks, count; /* of doubles in one access */
  bool collective;
  MPI_File file;
  int fd;
  uint32_t *data, *image; /* the access; the same stretch of the file, gaps included */
} Job;

static void set_view(Job* job, MPI_Datatype filetype) {
  check_mpi(MPI_File_set_view(job->file, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL),
            "set_view");
}

static void move(Job* job, bool write, MPI_Offset first) {
  MPI_Status status;
  MPI_File file = job->file;
  void* data = job->data;
  const int n = job->count;
  int code, moved = -1;
  if (write) {
    code = job->collective ? MPI_File_write_at_all(file, first, data, n, MPI_DOUBLE, &status)
                           : MPI_File_write_at(file, first, data, n, MPI_DOUBLE, &status);
  } else {
    code = job->collective ? MPI_File_read_at_all(file, first, data, n, MPI_DOUBLE, &status)
                           : MPI_File_read_at(file, first, data, n, MPI_DOUBLE, &status);
  }
  check_mpi(code, write ? "write" : "read");
  MPI_Get_count(&status, MPI_DOUBLE, &moved);
  require(moved == n, "the status tells the true count");
}

/* The stretch of the file under the access that begins at stream position `first` (in doubles). */
static off_t stretch_at(MPI_Offset first) { return (off_t)first * 16; }

static void fill_stretch(Job* job, MPI_Offset first) {
  for (int64_t k = 0; k < 4LL * job->count; ++k) job->image[k] = pattern((uint64_t)k, 7);
  pwrite_all(job->fd, job->image, 16 * (size_t)job->count, stretch_at(first));
}

static void fill_data(Job* job) {
  for (int64_t k = 0; k < 2LL * job->count; ++k) {
    job->data[k] = pattern((uint64_t)k, 100 + (uint32_t)job->rank);
  }
}

static bool data_right(const Job* job, const uint32_t* block, int64_t k) {
  const uint32_t seed = 100 + (uint32_t)job->rank;
  return block[0] == pattern((uint64_t)(2 * k), seed) &&
         block[1] == pattern((uint64_t)(2 * k + 1), seed);
}

static void check_stretch(Job* job, MPI_Offset first) {
  memset(job->image, 0xee, 16 * (size_t)job->count);
  pread_all(job->fd, job->image, 16 * (size_t)job->count, stretch_at(first));
  bool ok = true;
  for (int64_t k = 0; k < job->count; ++k) {
    const uint32_t* at = job->image + 4 * k;
    ok &= data_right(job, at, k) && data_right(job, job->data + 2 * k, k);
    ok &= at[2] == pattern((uint64_t)(4 * k + 2), 7) && at[3] == pattern((uint64_t)(4 * k + 3), 7);
  }
  require(ok, "blocks are right and gaps are untouched");
}

/* A small access through a small vector, so that code and buffers that any access needs are there.
 */
static void warm_up(Job* job) {
  MPI_Datatype small;
  MPI_Type_vector(64, 1, 2, MPI_DOUBLE, &small);
  MPI_Type_commit(&small);
  set_view(job, small);
  const int count = job->count;
  job->count = 64;
  move(job, true, 64 * job->rank);
  move(job, false, 64 * job->rank);
  job->count = count;
  MPI_Type_free(&small);
}

typedef struct {
  double set_view, write, read; /* milliseconds */
  double resident, heap;        /* bytes */
} Figures;

static Figures measure(Job* job, int blocks, Gate* gate) {
  Figures figures = {0};
  const MPI_Offset first = blocks / 2 + (MPI_Offset)job->rank * job->count;
  fill_stretch(job, first);
  fill_data(job);
  MPI_Datatype filetype;
  MPI_Type_vector(blocks, 1, 2, MPI_DOUBLE, &filetype);
  MPI_Type_commit(&filetype);
  gate_meet(gate);
  resident_peak_reset();
  const int64_t before = resident_now();
  alloc_count_start();
  double begin = gate_meet(gate);
  set_view(job, filetype);
  figures.set_view = 1e3 * (gate_meet(gate) - begin);
  begin = gate_meet(gate);
  move(job, true, first);
  figures.write = 1e3 * (gate_meet(gate) - begin);
  memset(job->data, 0xee, 8 * (size_t)job->count);
  begin = gate_meet(gate);
  move(job, false, first);
  figures.read = 1e3 * (gate_meet(gate) - begin);
  figures.heap = (double)alloc_count_stop().peak;
  figures.resident = (double)(resident_peak() - before);
  check_stretch(job, first);
  MPI_Type_free(&filetype);
  return figures;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job = {.collective = option_given(argc, argv, "--collective")};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const char* path = option_text(argc, argv, "--path", "bigvector.dat");
  const int blocks = (int)option_number(argc, argv, "--blocks", 100000000);
  job.count = (int)(option_number(argc, argv, "--access", 1 << 20) / 8);
  require((int64_t)job.count * job.ranks <= blocks / 2, "the accesses fit into the second half");
  job.data = malloc(8 * (size_t)job.count);
  job.image = malloc(16 * (size_t)job.count);
  MPI_Info hints = option_hints(argc, argv);
  Gate* gate = gate_open(MPI_COMM_WORLD);
  if (job.rank == 0) unlink(path);
  gate_meet(gate);
  check_mpi(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &job.file),
            "open");
  job.fd = open(path, O_RDWR);
  require(job.fd >= 0, path);
  warm_up(&job);
  Figures mine = measure(&job, blocks, gate), worst;
  MPI_Reduce(&mine, &worst, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (job.rank == 0) {
    printf(
        "{\"program\":\"bigvector\",\"ranks\":%d,\"collective\":%s,\"blocks\":%d,\"access\":%d,"
        "\"set_view_ms\":%.3f,\"write_ms\":%.3f,\"read_ms\":%.3f,\"total_ms\":%.3f,"
        "\"resident_growth\":%.0f,\"heap_peak\":%.0f,\"verified\":true}\n",
        job.ranks, job.collective ? "true" : "false", blocks, 8 * job.count, worst.set_view,
        worst.write, worst.read, worst.set_view + worst.write + worst.read, worst.resident,
        worst.heap);
  }
  close(job.fd);
  check_mpi(MPI_File_close(&job.file), "close");
  gate_meet(gate);
  if (job.rank == 0) unlink(path);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  gate_close(gate);
  free(job.data);
  free(job.image);
  MPI_Finalize();
  return 0;
}
