#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  atomic_int arrived;
  atomic_int round;
  _Atomic double last; /* when the last rank of the round arrived */
} Page;

struct Gate {
  MPI_Comm comm;
  int ranks;
  Page* page; /* NULL: ranks on several machines */
};

double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool on_one_machine(MPI_Comm comm, int ranks) {
  MPI_Comm node;
  int size = 0;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  int least = 0;
  MPI_Allreduce(&size, &least, 1, MPI_INT, MPI_MIN, comm);
  return least == ranks;
}

static Page* share_page(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  char name[64] = "/tmp/bench-gate-XXXXXX";
  int fd = -1;
  if (rank == 0) {
    fd = mkstemp(name);
    require(fd >= 0 && ftruncate(fd, sizeof(Page)) == 0, "a file for the start line");
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
  if (rank != 0) fd = open(name, O_RDWR);
  require(fd >= 0, "the start line's file");
  Page* page = mmap(NULL, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  require(page != MAP_FAILED, "the start line's page");
  close(fd);
  MPI_Barrier(comm);
  if (rank == 0) unlink(name);
  return page;
}

Gate* gate_open(MPI_Comm comm) {
  Gate* gate = malloc(sizeof *gate);
  gate->comm = comm;
  MPI_Comm_size(comm, &gate->ranks);
  gate->page = on_one_machine(comm, gate->ranks) ? share_page(comm) : NULL;
  return gate;
}

void gate_close(Gate* gate) {
  if (gate->page != NULL) munmap(gate->page, sizeof(Page));
  free(gate);
}

double gate_meet(Gate* gate) {
  if (gate->page == NULL) {
    MPI_Barrier(gate->comm);
    return now_seconds();
  }
  Page* page = gate->page;
  const int round = atomic_load(&page->round);
  if (atomic_fetch_add(&page->arrived, 1) + 1 == gate->ranks) {
    atomic_store(&page->last, now_seconds());
    atomic_store(&page->arrived, 0);
    atomic_fetch_add(&page->round, 1);
    syscall(SYS_futex, &page->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  } else {
    while (atomic_load(&page->round) == round) {
      syscall(SYS_futex, &page->round, FUTEX_WAIT, round, NULL, NULL, 0);
    }
  }
  return atomic_load(&page->last);
}

void require(bool ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "bench: failed: %s (%s)\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "bench: %s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void pwrite_all(int fd, const void* data, size_t bytes, off_t offset) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(fd, (const char*)data + done, bytes - done, offset + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, "pwrite");
    done += (size_t)n;
  }
}

void pread_all(int fd, void* data, size_t bytes, off_t offset) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd, (char*)data + done, bytes - done, offset + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, "pread");
    done += (size_t)n;
  }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double quantile(double* values, size_t count, double q) {
  qsort(values, count, sizeof *values, by_value);
  const double place = q * (double)(count - 1);
  const size_t below = (size_t)place;
  const size_t above = below + 1 < count ? below + 1 : below;
  return values[below] + (place - (double)below) * (values[above] - values[below]);
}

const char* option_text(int argc, char** argv, const char* name, const char* fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return fallback;
}

int64_t option_number(int argc, char** argv, const char* name, int64_t fallback) {
  const char* text = option_text(argc, argv, name, NULL);
  return text == NULL ? fallback : strtoll(text, NULL, 10);
}

bool option_given(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

MPI_Info option_hints(int argc, char** argv) {
  MPI_Info info = MPI_INFO_NULL;
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--hint") != 0) continue;
    char key[MPI_MAX_INFO_KEY + 1] = "";
    const char* equals = strchr(argv[i + 1], '=');
    require(equals != NULL && equals - argv[i + 1] < MPI_MAX_INFO_KEY, "--hint key=value");
    memcpy(key, argv[i + 1], (size_t)(equals - argv[i + 1]));
    if (info == MPI_INFO_NULL) MPI_Info_create(&info);
    MPI_Info_set(info, key, equals + 1);
  }
  return info;
}

/* The number of KiB behind `label` in a file of /proc, in bytes. */
static int64_t proc_bytes(const char* path, const char* label) {
  FILE* file = fopen(path, "r");
  require(file != NULL, path);
  char line[256];
  int64_t kib = -1;
  while (kib < 0 && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, label, strlen(label)) == 0) kib = strtoll(line + strlen(label), NULL, 10);
  }
  fclose(file);
  require(kib >= 0, label);
  return kib * 1024;
}

int64_t resident_now(void) { return proc_bytes("/proc/self/status", "VmRSS:"); }
int64_t resident_peak(void) { return proc_bytes("/proc/self/status", "VmHWM:"); }
int64_t resident_proportional(void) { return proc_bytes("/proc/self/smaps_rollup", "Pss:"); }

void resident_peak_reset(void) {
  const int fd = open("/proc/self/clear_refs", O_WRONLY);
  require(fd >= 0 && write(fd, "5", 1) == 1, "/proc/self/clear_refs");
  close(fd);
}
