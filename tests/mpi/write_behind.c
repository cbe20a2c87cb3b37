/* Steps of collective writes that wait (tamis_write_behind), met meanwhile by independent reads and
   writes of the ranks that wrote, and by collective reads.

   write_behind DIRECTORY

   The ranks of one node share their memory, so a rank sees at once what it wrote. Every byte a rank
   reads, and in the end every byte of the file, is compared. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { steps = 24, points = 600, element = 8, patience = 60 };

static int rank, ranks, failures;

static void on_alarm(int signal) {
  (void)signal;
  const char text[] = "write_behind: hangs\n";
  _exit(write(2, text, sizeof text - 1) < 0 ? 101 : 100);
}

static void expect(int right, const char* what, int step, long long at) {
  if (right) return;
  if (failures++ == 0) fprintf(stderr, "rank %d step %d: %s, byte %lld\n", rank, step, what, at);
}

static void check(int code, const char* what, int step) {
  expect(code == MPI_SUCCESS, what, step, -1);
}

/* Never zero; `round` counts how often the place was written. */
static unsigned char datum(int step, int owner, int point, int round) {
  return (unsigned char)(1 + (step * 31 + owner * 7 + point * 3 + round * 101) % 255);
}

/* A point has all steps, a step all ranks: where an element lies in the file. */
static long long place(int step, int owner, int point) {
  return (((long long)point * steps + step) * ranks + owner) * element;
}

static void fill(unsigned char* data, int step, int round) {
  for (int point = 0; point < points; ++point)
    memset(data + point * element, datum(step, rank, point, round), element);
}

static void view_step(MPI_File file, int step) {
  MPI_Datatype sparse, tile;
  MPI_Type_contiguous(element, MPI_BYTE, &sparse);
  MPI_Type_create_resized(sparse, 0, (MPI_Aint)element * ranks * steps, &tile);
  MPI_Type_commit(&tile);
  check(MPI_File_set_view(file, place(step, rank, 0), MPI_BYTE, tile, "native", MPI_INFO_NULL),
        "set_view", step);
  MPI_Type_free(&tile);
  MPI_Type_free(&sparse);
}

/* Some points of this rank's, by itself: what was written last is there. */
static void read_alone(MPI_File file, int step, int round) {
  unsigned char found[20 * element] = {0};
  const int first = (rank * 37 + step * 11) % (points - 20);
  MPI_Status status;
  int count = 0;
  check(MPI_File_read_at(file, (MPI_Offset)first * element, found, sizeof found, MPI_BYTE, &status),
        "read_at", step);
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect(count == (int)sizeof found, "read_at came short", step, count);
  for (int i = 0; i < (int)sizeof found; ++i)
    expect(found[i] == datum(step, rank, first + i / element, round), "read alone", step, i);
}

static void read_together(MPI_File file, unsigned char* data, int step, int round) {
  memset(data, 0, points * element);
  check(MPI_File_read_at_all(file, 0, data, points * element, MPI_BYTE, MPI_STATUS_IGNORE),
        "read_at_all", step);
  for (int i = 0; i < points * element; ++i)
    expect(data[i] == datum(step, rank, i / element, round), "read together", step, i);
}

/* Which of the ways to meet what waits a step takes; every rank takes the same. */
static void play(MPI_File file, unsigned char* data, int* rounds) {
  for (int step = 0; step < steps; ++step) {
    view_step(file, step);
    fill(data, step, 0);
    check(MPI_File_write_at_all(file, 0, data, points * element, MPI_BYTE, MPI_STATUS_IGNORE),
          "write_at_all", step);
    if (step % 3 == 1) read_alone(file, step, 0);
    if (step % 4 == 2) {
      fill(data, step, ++rounds[step]);
      check(MPI_File_write_at(file, 0, data, points * element, MPI_BYTE, MPI_STATUS_IGNORE),
            "write_at", step);
      read_alone(file, step, rounds[step]);
    }
    if (step % 7 == 3) read_together(file, data, step, rounds[step]);
    if (step % 10 == 9) check(MPI_File_sync(file), "sync", step);
  }
}

static void check_file(const char* path, const int* rounds) {
  const long long bytes = place(0, 0, points);
  unsigned char* content = calloc(1, (size_t)bytes + 1);
  const int fd = open(path, O_RDONLY);
  expect(read(fd, content, (size_t)bytes + 1) == bytes, "the file's size", -1, bytes);
  close(fd);
  for (int step = 0; step < steps; ++step)
    for (int owner = 0; owner < ranks; ++owner)
      for (int point = 0; point < points; ++point)
        for (int i = 0; i < element; ++i) {
          const long long at = place(step, owner, point) + i;
          expect(content[at] == datum(step, owner, point, rounds[step]), "the file", step, at);
        }
  free(content);
}

static void run(const char* directory, const char* bytes) {
  char path[4096];
  int rounds[steps] = {0};
  snprintf(path, sizeof path, "%s/write_behind.%d.dat", directory, ranks);
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "tamis_write_behind", bytes);
  MPI_Info_set(hints, "cb_buffer_size", "65536");
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file), "open",
        -1);
  MPI_Info_free(&hints);
  unsigned char* data = malloc(points * element);
  play(file, data, rounds);
  check(MPI_File_close(&file), "close", -1);
  free(data);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    check_file(path, rounds);
    unlink(path);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  signal(SIGALRM, on_alarm);
  alarm(patience);
  const char* directory = argc > 1 ? argv[1] : ".";
  run(directory, "1");    /* two windows: there is never room */
  run(directory, "200k"); /* some of them wait */
  run(directory, "64M");  /* all of them */
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("write_behind: %d ranks: %d failures\n", ranks, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
