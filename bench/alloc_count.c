#include "alloc_count.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

static atomic_bool counting;
static _Atomic int64_t calls, bytes, peak;

static void note_more(const void* block) {
  if (!atomic_load_explicit(&counting, memory_order_relaxed) || block == NULL) return;
  atomic_fetch_add(&calls, 1);
  const int64_t size = (int64_t)malloc_usable_size((void*)block);
  const int64_t in_use = atomic_fetch_add(&bytes, size) + size;
  int64_t seen = atomic_load(&peak);
  while (in_use > seen && !atomic_compare_exchange_weak(&peak, &seen, in_use)) {
  }
}

static void note_less(const void* block) {
  if (!atomic_load_explicit(&counting, memory_order_relaxed) || block == NULL) return;
  atomic_fetch_sub(&bytes, (int64_t)malloc_usable_size((void*)block));
}

void alloc_count_start(void) {
  atomic_store(&calls, 0);
  atomic_store(&bytes, 0);
  atomic_store(&peak, 0);
  atomic_store(&counting, true);
}

AllocCount alloc_count_stop(void) {
  atomic_store(&counting, false);
  return (AllocCount){atomic_load(&calls), atomic_load(&bytes), atomic_load(&peak)};
}

void* malloc(size_t size) {
  void* block = __libc_malloc(size);
  note_more(block);
  return block;
}

void* calloc(size_t count, size_t size) {
  void* block = __libc_calloc(count, size);
  note_more(block);
  return block;
}

void* realloc(void* old, size_t size) {
  note_less(old);
  void* block = __libc_realloc(old, size);
  note_more(block);
  return block;
}

void* memalign(size_t alignment, size_t size) {
  void* block = __libc_memalign(alignment, size);
  note_more(block);
  return block;
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* block = memalign(alignment, size);
  if (block == NULL) return ENOMEM;
  *out = block;
  return 0;
}

void free(void* block) {
  note_less(block);
  __libc_free(block);
}
