/* Writes more than the file system, or the limit of the process, takes, and compares what the MPI
   says of each call with the file.

   full_disk METHOD VIEW PATH [bytes of a rank = 2097152] [calls = 8] [most bytes of a file = any]
   METHOD: write, write_at, write_all, write_at_all, write_all_behind.  VIEW: blocks (each rank its
   own stretch of the file) or interleaved (4 KiB in turns).

   A call that says success has all its bytes in the file. One that does not says MPI_ERR_NO_SPACE,
   and its count is the number of its leading bytes that are there, no more and no less. An
   independent call that lost nothing says success; a collective one says the same on all ranks, and
   failure only where one of them lost something. Since not all bytes can be there, some call of
   some rank must have failed. Prints one line per rank; exit code 0 when all of this holds.

   Written behind (Tamis alone) the calls say success, and the sync and the close after it say
   MPI_ERR_NO_SPACE on every rank.

   With /dev/full as the path every call that has bytes must say MPI_ERR_NO_SPACE. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { piece = 4096, patience = 60, most_calls = 256 };

typedef struct {
  int rank, ranks, bytes, calls; /* bytes of one call */
  long long limit;               /* of a file, set once it is open; 0: none */
  bool interleaved, collective, explicit_offset, behind, character_device;
  const char* path;
} Job;

typedef struct {
  int class, count;
} Answer;

/* What a plain reading finds of a call's bytes. */
typedef struct {
  int all, leading;
} Present;

static void on_alarm(int signal) {
  (void)signal;
  const char text[] = "full_disk: hangs\n";
  _exit(write(2, text, sizeof text - 1) < 0 ? 101 : 100);
}

/* Never zero, so that a hole is not taken for data. */
static unsigned char datum(const Job* job, long long position) {
  return (unsigned char)(1 + (position * 7 + position / 4096 * 13 + 29 * job->rank) % 255);
}

/* Where the byte at `position` of this rank's stream lies in the file. */
static long long place(const Job* job, long long position) {
  if (!job->interleaved) return (long long)job->rank * job->bytes * job->calls + position;
  return (position / piece * job->ranks + job->rank) * piece + position % piece;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

static MPI_File open_with_view(const Job* job) {
  MPI_File file = MPI_FILE_NULL;
  const int amode = job->character_device ? MPI_MODE_WRONLY : MPI_MODE_RDWR | MPI_MODE_CREATE;
  MPI_Info hints;
  MPI_Info_create(&hints);
  if (job->behind) MPI_Info_set(hints, "tamis_write_behind", "64M");
  if (MPI_File_open(MPI_COMM_WORLD, job->path, amode, hints, &file) != MPI_SUCCESS) {
    fprintf(stderr, "full_disk: cannot open %s\n", job->path);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Info_free(&hints);
  MPI_Datatype filetype;
  if (job->interleaved) {
    MPI_Type_vector(job->bytes / piece, piece, piece * job->ranks, MPI_BYTE, &filetype);
    MPI_Datatype tile;
    MPI_Type_create_resized(filetype, 0, (MPI_Aint)job->bytes * job->ranks, &tile);
    MPI_Type_free(&filetype);
    filetype = tile;
  } else {
    MPI_Type_contiguous(job->bytes, MPI_BYTE, &filetype);
  }
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, place(job, 0), MPI_BYTE, filetype, "native", MPI_INFO_NULL);
  MPI_Type_free(&filetype);
  return file;
}

static Answer write_call(const Job* job, MPI_File file, int call, unsigned char* data) {
  Answer answer = {0};
  MPI_Status status;
  const MPI_Offset at = (MPI_Offset)call * job->bytes;
  for (int i = 0; i < job->bytes; ++i) data[i] = datum(job, at + i);
  int code;
  if (job->explicit_offset) {
    code = job->collective ? MPI_File_write_at_all(file, at, data, job->bytes, MPI_BYTE, &status)
                           : MPI_File_write_at(file, at, data, job->bytes, MPI_BYTE, &status);
  } else {
    MPI_File_seek(file, at, MPI_SEEK_SET);
    code = job->collective ? MPI_File_write_all(file, data, job->bytes, MPI_BYTE, &status)
                           : MPI_File_write(file, data, job->bytes, MPI_BYTE, &status);
  }
  answer.class = class_of(code);
  MPI_Get_count(&status, MPI_BYTE, &answer.count);
  return answer;
}

/* A limit on the size of files; 0 takes it away. The signal would end the process. */
static void limit_files(long long bytes) {
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes == 0 ? limit.rlim_max : (rlim_t)bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

static void read_back(const Job* job, Present* present) {
  const int fd = open(job->path, O_RDONLY);
  static unsigned char found[piece];
  for (long long position = 0; position < (long long)job->bytes * job->calls; position += piece) {
    Present* call = &present[position / job->bytes];
    const ssize_t n = job->character_device ? 0 : pread(fd, found, piece, place(job, position));
    for (ssize_t k = 0; k < n; ++k) {
      if (found[k] != datum(job, position + k)) continue;
      call->leading += call->leading == (position + k) % job->bytes;
      ++call->all;
    }
  }
  close(fd);
}

static bool is_true_alone(const Job* job, Answer a, Present there) {
  const bool whole = there.all == job->bytes;
  if (a.class == MPI_SUCCESS) return whole && a.count == job->bytes;
  return a.class == MPI_ERR_NO_SPACE && a.count == there.leading && (job->collective || !whole);
}

/* All ranks of a collective call hear the same, and of a failure only if bytes of one are lost. */
static bool is_true_together(Answer a, bool whole) {
  int ours[3] = {a.class, -a.class, whole}, least[3];
  MPI_Allreduce(ours, least, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least[0] == -least[1] && (a.class == MPI_SUCCESS) == (least[2] != 0);
}

/* The number of calls whose answer is not the truth. */
static int judge(const Job* job, const Answer* answers, const Present* present) {
  int wrong = 0, failed = 0;
  long long claimed = 0, there = 0;
  for (int call = 0; call < job->calls; ++call) {
    const Answer a = answers[call];
    bool right = is_true_alone(job, a, present[call]);
    if (job->collective) right = is_true_together(a, present[call].all == job->bytes) && right;
    if (!right) {
      fprintf(stderr,
              "full_disk: rank %d call %d: class %d, count %d, in the file %d, %d leading\n",
              job->rank, call, a.class, a.count, present[call].all, present[call].leading);
    }
    wrong += !right;
    failed += a.class != MPI_SUCCESS;
    claimed += a.count;
    there += present[call].all;
  }
  printf(
      "rank %d: %d of %d calls failed, %lld bytes claimed, %lld in the file, %d untrue answers\n",
      job->rank, failed, job->calls, claimed, there, wrong);
  fflush(stdout);
  int all_failed = 0;
  MPI_Allreduce(&failed, &all_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all_failed == 0) fprintf(stderr, "full_disk: nothing was full\n");
  return wrong + (all_failed == 0);
}

/* Written behind: calls succeed, the sync and the close tell every rank that there was no room. */
static int judge_behind(const Job* job, const Answer* answers, const Present* present, int synced,
                        int closed) {
  int wrong = synced != MPI_ERR_NO_SPACE || closed != MPI_ERR_NO_SPACE;
  long long there = 0;
  for (int call = 0; call < job->calls; ++call) {
    wrong += answers[call].class != MPI_SUCCESS || answers[call].count != job->bytes;
    there += present[call].all;
  }
  printf("rank %d: sync gave class %d, close %d, %lld bytes in the file, %d untrue answers\n",
         job->rank, synced, closed, there, wrong);
  fflush(stdout);
  const long long wanted = (long long)job->bytes * job->calls;
  long long least = 0;
  MPI_Allreduce(&there, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  if (least == wanted) fprintf(stderr, "full_disk: nothing was full\n");
  return wrong + (least == wanted);
}

static Job parse(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "full_disk METHOD VIEW PATH [bytes] [calls] [limit]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  struct stat status;
  Job job = {.path = argv[3], .calls = argc > 5 ? atoi(argv[5]) : 8};
  job.bytes = (argc > 4 ? atoi(argv[4]) : 2 << 20) / job.calls / piece * piece;
  job.limit = argc > 6 ? atoll(argv[6]) : 0;
  job.interleaved = strcmp(argv[2], "interleaved") == 0;
  job.behind = strcmp(argv[1], "write_all_behind") == 0;
  job.collective = strstr(argv[1], "_all") != NULL;
  job.explicit_offset = strstr(argv[1], "_at") != NULL;
  job.character_device = stat(job.path, &status) == 0 && S_ISCHR(status.st_mode);
  if (job.calls < 1 || job.calls > most_calls || job.bytes < piece) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  return job;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Job job = parse(argc, argv);
  static Answer answers[most_calls];
  static Present present[most_calls];
  signal(SIGALRM, on_alarm);
  alarm(patience);
  unsigned char* data = malloc((size_t)job.bytes);
  MPI_File file = open_with_view(&job);
  if (job.limit > 0) limit_files(job.limit);
  for (int call = 0; call < job.calls; ++call) answers[call] = write_call(&job, file, call, data);
  const int synced = job.behind ? class_of(MPI_File_sync(file)) : MPI_SUCCESS;
  const int closed = class_of(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.limit > 0) limit_files(0);
  read_back(&job, present);
  int wrong = job.behind ? judge_behind(&job, answers, present, synced, closed)
                         : judge(&job, answers, present);
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(data);
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
