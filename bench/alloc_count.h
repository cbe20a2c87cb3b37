/* Counts what this process asks of the heap. alloc_count.c defines malloc and its kin in the
   executable, so that every library of the process, preloaded ones too, calls them; they pass on to
   the C library's own. */
#pragma once

#include <stdint.h>

typedef struct {
  int64_t calls; /* malloc, calloc, realloc, aligned ones: all threads */
  int64_t bytes; /* in use now beyond what was in use at the start of counting */
  int64_t peak;  /* the largest `bytes` since then */
} AllocCount;

void alloc_count_start(void);
AllocCount alloc_count_stop(void);
