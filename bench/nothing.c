/* A collective call that has nothing to do, beside a barrier of the MPI: batches of one and of the
   other in turn.

   --path FILE  --budget 2 (seconds for each direction)  --view  --hint key=value ...

   --view: through a view of every rank's own blocks, as a program that has none of them now.

   One JSON line for each direction: microseconds of a call and of a barrier (median of the
   batches), the ratio (median and quartiles of those of neighbouring batches). */
#include <stdlib.h>

#include "bench.h"

enum { most_batches = 400, block_bytes = 8 };
static const double batch_seconds = 0.004;

typedef struct {
  MPI_File file;
  bool write;
  Gate* gate;
} Job;

static void one_call(const Job* job) {
  char byte = 0;
  MPI_Status status;
  check_mpi(job->write ? MPI_File_write_at_all(job->file, 0, &byte, 0, MPI_BYTE, &status)
                       : MPI_File_read_at_all(job->file, 0, &byte, 0, MPI_BYTE, &status),
            "a call with nothing to do");
}

/* Seconds of each of them, the same on all ranks. */
static double batch(const Job* job, bool calls, int64_t count) {
  const double begin = gate_meet(job->gate);
  for (int64_t i = 0; i < count; ++i) {
    if (calls) {
      one_call(job);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  double seconds = (gate_meet(job->gate) - begin) / (double)count;
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

/* As many as are long enough to time, however long one takes. */
static int64_t enough(const Job* job, bool calls) {
  for (int64_t count = 1;; count *= 2) {
    if (batch(job, calls, count) * (double)count >= batch_seconds) return count;
  }
}

static void measure(const Job* job, double budget, int ranks, bool view, bool prints) {
  static double times[2][most_batches], ratios[most_batches];
  const int64_t counts[2] = {enough(job, false), enough(job, true)};
  size_t done = 0;
  for (double spent = 0; done < most_batches && (spent < budget || done < 3); ++done) {
    for (int calls = 0; calls < 2; ++calls) {
      times[calls][done] = batch(job, calls, counts[calls]);
      spent += times[calls][done] * (double)counts[calls];
    }
    ratios[done] = times[1][done] / times[0][done];
  }
  if (!prints) return;
  printf(
      "{\"program\":\"nothing\",\"op\":\"%s\",\"ranks\":%d,\"view\":%s,\"batches\":%zu,"
      "\"barrier_us\":%.3f,\"call_us\":%.3f,\"ratio\":%.4f,\"ratio_quartiles\":[%.4f,%.4f]}\n",
      job->write ? "write" : "read", ranks, view ? "true" : "false", done,
      quantile(times[0], done, 0.5) * 1e6, quantile(times[1], done, 0.5) * 1e6,
      quantile(ratios, done, 0.5), quantile(ratios, done, 0.25), quantile(ratios, done, 0.75));
  fflush(stdout);
}

static void view_own_blocks(MPI_File file, int rank, int ranks, MPI_Info hints) {
  MPI_Datatype block, blocks;
  MPI_Type_contiguous(block_bytes, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)block_bytes * ranks, &blocks);
  MPI_Type_commit(&blocks);
  check_mpi(
      MPI_File_set_view(file, (MPI_Offset)block_bytes * rank, MPI_BYTE, blocks, "native", hints),
      "set_view");
  MPI_Type_free(&block);
  MPI_Type_free(&blocks);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* path = option_text(argc, argv, "--path", "nothing.dat");
  const double budget = strtod(option_text(argc, argv, "--budget", "2"), NULL);
  const bool view = option_given(argc, argv, "--view");
  MPI_Info hints = option_hints(argc, argv);
  Job job = {.gate = gate_open(MPI_COMM_WORLD)};
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, path, amode, hints, &job.file), "open");
  if (view) view_own_blocks(job.file, rank, ranks, hints);
  for (int write = 1; write >= 0; --write) {
    job.write = write;
    measure(&job, budget, ranks, view, rank == 0);
  }
  check_mpi(MPI_File_close(&job.file), "close");
  gate_close(job.gate);
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  MPI_Finalize();
  return 0;
}
