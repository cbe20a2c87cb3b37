/* A program without MPI that loads one privately, as Python does, then a library that writes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* mpi = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* program = mpi == NULL ? NULL : dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (program == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(program, "run");
  (void)argc;
  return run(argc - 2, argv + 2);
}
