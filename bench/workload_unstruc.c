/* UNSTRUC: a random map says where each element of a rank's array lies in the global one. */
#include <stdlib.h>

#include "bench.h"
#include "workload.h"

enum { unstruc_points, unstruc_size, unstruc_order, unstruc_seed };
enum { sorted_word, shuffled_word };

typedef struct {
  int place; /* in the global array */
  int local; /* in the rank's */
} Mapped;

/* A good enough generator of its own: every rank on every machine draws the same numbers. */
static uint64_t draw(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int by_place(const void* a, const void* b) {
  const int x = ((const Mapped*)a)->place, y = ((const Mapped*)b)->place;
  return (x > y) - (x < y);
}

/* The global array's indices in random order. */
static int* shuffled(int64_t points, uint64_t seed) {
  int* order = malloc((size_t)points * sizeof *order);
  require(order != NULL, "memory for the map");
  for (int64_t i = 0; i < points; ++i) order[i] = (int)i;
  for (int64_t i = points - 1; i > 0; --i) {
    const int64_t other = (int64_t)(draw(&seed) % (uint64_t)(i + 1));
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return order;
}

static void plan_unstruc(Shape* shape) {
  const int64_t points = shape->value[unstruc_points], bytes = shape->value[unstruc_size];
  if (points < shape->ranks) {
    shape->refusal = "fewer points than ranks";
    return;
  }
  const int64_t first = points * shape->rank / shape->ranks;
  shape->steps = 1;
  shape->elements = points * (shape->rank + 1) / shape->ranks - first;
  shape->element_bytes = bytes;
  shape->buffer_bytes = shape->elements * bytes;
  shape->file_bytes = points * bytes;
  int* order = shuffled(points, (uint64_t)shape->value[unstruc_seed]);
  Mapped* map = malloc((size_t)shape->elements * sizeof *map);
  require(map != NULL, "memory for the rank's map");
  for (int i = 0; i < shape->elements; ++i) map[i] = (Mapped){order[first + i], i};
  free(order);
  if (shape->value[unstruc_order] == sorted_word) {
    qsort(map, (size_t)shape->elements, sizeof *map, by_place);
    for (int i = 0; i < shape->elements; ++i) map[i].local = i;
  }
  shape->own = map;
}

static Place unstruc_place(const Shape* shape, int64_t step, int64_t index) {
  (void)step;
  const Mapped* map = shape->own;
  return (Place){map[index].place * shape->element_bytes, index * shape->element_bytes};
}

static MPI_Datatype indexed(const int* places, int count, MPI_Datatype element) {
  MPI_Datatype made;
  MPI_Type_create_indexed_block(count, 1, places, element, &made);
  return committed(made, MPI_DATATYPE_NULL);
}

/* Views want ascending places, so it is memory that is walked in the map's order. */
static Types unstruc_types(const Shape* shape, int64_t step) {
  (void)step;
  const int count = as_int(shape->elements);
  const size_t entries = (size_t)count;
  Mapped* map = malloc(entries * sizeof *map);
  int* places = malloc(entries * sizeof *places);
  int* locals = malloc(entries * sizeof *locals);
  require(map != NULL && places != NULL && locals != NULL, "memory for the types");
  for (int i = 0; i < count; ++i) map[i] = ((const Mapped*)shape->own)[i];
  qsort(map, entries, sizeof *map, by_place);
  for (int i = 0; i < count; ++i) {
    places[i] = map[i].place;
    locals[i] = map[i].local;
  }
  const bool in_order = shape->value[unstruc_order] == sorted_word;
  const MPI_Datatype element = bytes_type(shape->element_bytes);
  const Types types = {.count = in_order ? count : 1,
                       .memory = in_order ? element : indexed(locals, count, element),
                       .etype = element,
                       .filetype = indexed(places, count, element)};
  free(map);
  free(places);
  free(locals);
  return types;
}

static const Parameter unstruc_parameters[] = {
    {"points", NULL, 131072, 8 << 20, 1, 1000000000, 1, "points of the whole grid"},
    {"size", NULL, 64, 64, 1, 1 << 20, 0, "bytes of an element"},
    {"order", "sorted,shuffled", 1, 1, 0, 1, 0, "of a rank's elements in memory"},
    {"seed", NULL, 1, 1, 0, INT64_MAX, 0, "of the random map"},
    {0},
};
const Workload workload_unstruc = {
    .name = "unstruc",
    .paper = "000, tables 5 and 6; 002, table 2",
    .sentence = "An unstructured grid: a random irregular map from each rank's array to the file.",
    .parameters = unstruc_parameters,
    .plan = plan_unstruc,
    .place = unstruc_place,
    .types = unstruc_types,
};
