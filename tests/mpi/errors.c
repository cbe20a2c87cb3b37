/* Bad input on all ranks or on one: the right error class, no hang, nothing lost, files usable
   after it.

   errors [directory = .] [part of a case's name]

   One line per case; the exit code is the number of cases that failed (at most 99). */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "errors_cases.h"

enum { patience = 30 }; /* seconds for one case */

typedef struct {
  const char* name;
  void (*run)(Test* test);
} Case;

static const Case cases[] = {
    {"amode_combinations", amode_combinations},
    {"amode_differs_by_rank", amode_differs_by_rank},
    {"amode_bad_on_one_rank", amode_bad_on_one_rank},
    {"missing_directory", missing_directory},
    {"missing_file", missing_file},
    {"exclusive_on_existing_file", exclusive_on_existing_file},
    {"file_without_permission", file_without_permission},
    {"writes_to_a_file_opened_for_reading", writes_to_a_file_opened_for_reading},
    {"reads_from_a_file_opened_for_writing", reads_from_a_file_opened_for_writing},
    {"sequential_files_have_no_offsets", sequential_files_have_no_offsets},
    {"illegal_filetypes_on_all_ranks", illegal_filetypes_on_all_ranks},
    {"illegal_filetype_on_one_rank", illegal_filetype_on_one_rank},
    {"wrong_arguments_on_all_ranks", wrong_arguments_on_all_ranks},
    {"wrong_arguments_on_one_rank", wrong_arguments_on_one_rank},
    {"one_rank_of_write_all_has_a_bad_count", one_rank_of_write_all_has_a_bad_count},
    {"bad_positions_and_sizes", bad_positions_and_sizes},
    {"null_handles", null_handles},
    {"strange_hints_are_ignored", strange_hints_are_ignored},
    {"full_device", full_device},
    {"delete_on_close", delete_on_close},
};

static char running[128];

static void on_alarm(int signal) {
  (void)signal;
  const char text[] = "  hangs: ";
  if (write(2, text, sizeof text - 1) < 0 || write(2, running, strlen(running)) < 0) _exit(101);
  _exit(100);
}

static bool passes(Test* test, const Case* c) {
  snprintf(running, sizeof running, "%s, rank %d\n", c->name, test->rank);
  test->wrong = 0;
  alarm(patience);
  c->run(test);
  MPI_Barrier(MPI_COMM_WORLD);
  alarm(0);
  if (test->rank == 0) unlink(test->path);
  int wrong = 0;
  MPI_Allreduce(&test->wrong, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (test->rank == 0) printf("%-6s %s\n", wrong == 0 ? "ok" : "FAILED", c->name);
  fflush(stdout);
  return wrong == 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static char path[PATH_MAX];
  Test test = {.path = path};
  MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
  test.odd = test.rank == test.ranks - 1;
  int run = (int)getpid();
  MPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/errors.%d", argc > 1 ? argv[1] : ".", run);
  signal(SIGALRM, on_alarm);
  int failed = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (argc > 2 && strstr(cases[i].name, argv[2]) == NULL) continue;
    failed += !passes(&test, &cases[i]);
  }
  MPI_Finalize();
  return failed > 99 ? 99 : failed;
}
