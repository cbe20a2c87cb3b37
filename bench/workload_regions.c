/* Equal regions at equal distances: the parametrised patterns. */
#include <stdlib.h>

#include "bench.h"
#include "workload.h"

enum { contiguous_word, noncontiguous_word };
static const char contiguity_words[] = "contiguous,noncontiguous";

static MPI_Datatype resized(MPI_Datatype type, int64_t extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(type, 0, (MPI_Aint)extent, &made);
  return committed(made, type);
}

/* ---- noncontig ------------------------------------------------------------------------------- */

enum {
  noncontig_vectors,
  noncontig_veclen,
  noncontig_elmtcount,
  noncontig_elmtsize,
  noncontig_header,
  noncontig_memory,
  noncontig_file,
};

static void plan_noncontig(Shape* shape) {
  const int64_t* value = shape->value;
  const int64_t chunks = value[noncontig_vectors] * value[noncontig_veclen];
  const int64_t chunk_bytes = value[noncontig_elmtcount] * value[noncontig_elmtsize];
  const bool gaps = value[noncontig_memory] == noncontiguous_word;
  shape->steps = 1;
  shape->element_bytes = value[noncontig_elmtsize];
  shape->elements = chunks * value[noncontig_elmtcount];
  shape->buffer_bytes =
      gaps ? ((chunks - 1) * shape->ranks + 1) * chunk_bytes : chunks * chunk_bytes;
  shape->file_bytes = value[noncontig_header] + chunks * chunk_bytes * shape->ranks;
}

static Place noncontig_place(const Shape* shape, int64_t step, int64_t index) {
  (void)step;
  const int64_t in_chunk = shape->value[noncontig_elmtcount];
  const int64_t chunk = index / in_chunk, element = index % in_chunk;
  const bool file_gaps = shape->value[noncontig_file] == noncontiguous_word;
  const bool memory_gaps = shape->value[noncontig_memory] == noncontiguous_word;
  const int64_t file = file_gaps ? (chunk * shape->ranks + shape->rank) * in_chunk + element
                                 : shape->rank * shape->elements + index;
  const int64_t memory = memory_gaps ? chunk * shape->ranks * in_chunk + element : index;
  return (Place){shape->value[noncontig_header] + file * shape->element_bytes,
                 memory * shape->element_bytes};
}

/* `veclen` chunks with room for the other ranks' chunks after each. */
static MPI_Datatype noncontig_vector(const Shape* shape, MPI_Datatype element) {
  const int64_t* value = shape->value;
  const int64_t stride = value[noncontig_elmtcount] * shape->ranks;
  MPI_Datatype vector;
  MPI_Type_vector(as_int(value[noncontig_veclen]), as_int(value[noncontig_elmtcount]),
                  as_int(stride), element, &vector);
  return resized(vector, value[noncontig_veclen] * stride * value[noncontig_elmtsize]);
}

static Types noncontig_types(const Shape* shape, int64_t step) {
  (void)step;
  const int64_t* value = shape->value;
  const MPI_Datatype element = bytes_type(shape->element_bytes);
  const bool file_gaps = value[noncontig_file] == noncontiguous_word;
  const bool memory_gaps = value[noncontig_memory] == noncontiguous_word;
  const int64_t before =
      file_gaps ? shape->rank * value[noncontig_elmtcount] : shape->rank * shape->elements;
  return (Types){
      .count = as_int(memory_gaps ? value[noncontig_vectors] : shape->elements),
      .memory = memory_gaps ? noncontig_vector(shape, element) : element,
      .displacement = value[noncontig_header] + before * shape->element_bytes,
      .etype = element,
      .filetype = file_gaps ? noncontig_vector(shape, element) : element,
  };
}

static const Parameter noncontig_parameters[] = {
    {"vectors", NULL, 256, 64, 1, 1000000000, 1, "vectors of each rank"},
    {"veclen", NULL, 32, 32, 1, 100000000, 0, "chunks of a vector"},
    {"elmtcount", NULL, 32, 32, 1, 100000000, 0, "elements of a chunk"},
    {"elmtsize", NULL, 4, 4, 1, 1 << 20, 0, "bytes of an element"},
    {"header", NULL, 0, 0, 0, 1 << 30, 0, "bytes before the data"},
    {"memory", contiguity_words, 1, 1, 0, 1, 0, "in memory"},
    {"file", contiguity_words, 1, 1, 0, 1, 0, "in the file"},
    {0},
};
const Workload workload_noncontig = {
    .name = "noncontig",
    .paper = "003, figures 2 to 4",
    .sentence = "Vectors of small chunks, with gaps in memory, in the file, in both or in neither.",
    .parameters = noncontig_parameters,
    .plan = plan_noncontig,
    .place = noncontig_place,
    .types = noncontig_types,
};

/* ---- regions of HPIO, and the constant extent that fills ------------------------------------- */

enum { hpio_count, hpio_size, hpio_spacing, hpio_type, hpio_memory, hpio_file };
enum { succinct_word, vector_word, enumerated_word };
enum { fill_mib, fill_extent, fill_percent };

typedef struct {
  int64_t count; /* of this rank */
  int64_t file_first;
  int64_t file_stride, memory_stride; /* from one region to the next */
  int64_t kind;                       /* succinct_word, ... */
} Regions;

static void plan_regions(Shape* shape, Regions regions, int64_t bytes, int64_t spacing) {
  Regions* own = malloc(sizeof *own);
  require(own != NULL, "memory for the regions");
  *own = regions;
  shape->own = own;
  shape->steps = 1;
  shape->element_bytes = bytes;
  shape->elements = regions.count;
  shape->buffer_bytes = (regions.count - 1) * regions.memory_stride + bytes;
  shape->file_bytes = regions.count * shape->ranks * (bytes + spacing);
}

static void plan_hpio(Shape* shape) {
  const int64_t* value = shape->value;
  const int64_t bytes = value[hpio_size], slot = bytes + value[hpio_spacing];
  const bool file_gaps = value[hpio_file] == noncontiguous_word;
  const bool memory_gaps = value[hpio_memory] == noncontiguous_word;
  const Regions regions = {
      .count = value[hpio_count],
      .file_first = file_gaps ? shape->rank * slot : shape->rank * value[hpio_count] * bytes,
      .file_stride = file_gaps ? slot * shape->ranks : bytes,
      .memory_stride = memory_gaps ? slot : bytes,
      .kind = value[hpio_type],
  };
  plan_regions(shape, regions, bytes, file_gaps ? value[hpio_spacing] : 0);
}

static void plan_fill(Shape* shape) {
  const int64_t extent = shape->value[fill_extent];
  const int64_t whole = extent * shape->value[fill_percent] / 100;
  const int64_t bytes = whole > 0 ? whole : 1;
  const Regions regions = {
      .count = (shape->value[fill_mib] << 20) / (extent * shape->ranks),
      .file_first = shape->rank * extent,
      .file_stride = extent * shape->ranks,
      .memory_stride = bytes,
      .kind = succinct_word,
  };
  if (regions.count == 0) shape->refusal = "mib holds no extent for each rank";
  plan_regions(shape, regions, bytes, extent - bytes);
}

static Place regions_place(const Shape* shape, int64_t step, int64_t index) {
  (void)step;
  const Regions* own = shape->own;
  return (Place){own->file_first + index * own->file_stride, index * own->memory_stride};
}

static MPI_Datatype enumerated(const Regions* own, int64_t stride, MPI_Datatype region) {
  MPI_Aint* places = malloc((size_t)own->count * sizeof *places);
  require(places != NULL, "memory for the places of all regions");
  for (int64_t i = 0; i < own->count; ++i) places[i] = (MPI_Aint)(i * stride);
  MPI_Datatype made;
  MPI_Type_create_hindexed_block(as_int(own->count), 1, places, region, &made);
  free(places);
  return committed(made, region);
}

/* All regions of the rank, or one whose repetition makes them: `*repeats` times. */
static MPI_Datatype regions_type(const Shape* shape, int64_t stride, int* repeats) {
  const Regions* own = shape->own;
  const MPI_Datatype region = bytes_type(shape->element_bytes);
  *repeats = own->kind == succinct_word ? as_int(own->count) : 1;
  if (own->kind == succinct_word) return resized(region, stride);
  if (own->kind == enumerated_word) return enumerated(own, stride, region);
  MPI_Datatype made;
  MPI_Type_create_hvector(as_int(own->count), 1, (MPI_Aint)stride, region, &made);
  return committed(made, region);
}

static Types regions_types(const Shape* shape, int64_t step) {
  (void)step;
  const Regions* own = shape->own;
  int in_file;
  Types types = {.displacement = own->file_first, .etype = MPI_BYTE};
  types.memory = regions_type(shape, own->memory_stride, &types.count);
  types.filetype = regions_type(shape, own->file_stride, &in_file);
  return types;
}

static const Parameter hpio_parameters[] = {
    {"count", NULL, 4096, 4096, 1, 100000000, 1, "regions of each rank"},
    {"size", NULL, 512, 4096, 1, 1 << 30, 0, "bytes of a region (001: 8 to 4096)"},
    {"spacing", NULL, 128, 128, 0, 1 << 30, 0, "bytes between regions"},
    {"type", "succinct,vector,enumerated", 0, 0, 0, 2, 0,
     "one region and its extent, repeated; one vector; every region listed"},
    {"memory", contiguity_words, 1, 1, 0, 1, 0, "in memory"},
    {"file", contiguity_words, 1, 1, 0, 1, 0, "in the file"},
    {0},
};
const Workload workload_hpio = {
    .name = "hpio",
    .paper = "001, figure 4",
    .sentence =
        "Regions of the ranks in turn, by size, count and spacing, their type short or long.",
    .parameters = hpio_parameters,
    .plan = plan_hpio,
    .place = regions_place,
    .types = regions_types,
};

static const Parameter fill_parameters[] = {
    {"mib", NULL, 64, 1024, 1, 1 << 20, 1, "size of the file"},
    {"extent", NULL, 16384, 16384, 1, 1 << 30, 0, "bytes from one region to the next"},
    {"fill", NULL, 25, 25, 1, 100, 0, "per cent of each extent that are data (001: 3 to 100)"},
    {0},
};
const Workload workload_fill = {
    .name = "fill",
    .paper = "001, figure 5",
    .sentence = "Regions at a constant extent that fill it more and more: when does sieving pay?",
    .parameters = fill_parameters,
    .plan = plan_fill,
    .place = regions_place,
    .types = regions_types,
};

/* ---- time steps kept together by data point -------------------------------------------------- */

enum { timesteps_points, timesteps_steps, timesteps_elements, timesteps_size };

/* Elements of a data point that are this rank's. */
static int64_t of_point(const Shape* shape) {
  return (shape->value[timesteps_elements] - shape->rank + shape->ranks - 1) / shape->ranks;
}

static void plan_timesteps(Shape* shape) {
  const int64_t* value = shape->value;
  if (value[timesteps_elements] < shape->ranks) shape->refusal = "more ranks than elements";
  shape->view_moves = true;
  shape->steps = value[timesteps_steps];
  shape->element_bytes = value[timesteps_size];
  shape->elements = value[timesteps_points] * of_point(shape);
  shape->buffer_bytes = shape->elements * shape->element_bytes;
  shape->file_bytes =
      value[timesteps_points] * shape->steps * value[timesteps_elements] * shape->element_bytes;
}

static Place timesteps_place(const Shape* shape, int64_t step, int64_t index) {
  const int64_t* value = shape->value;
  const int64_t point = index / of_point(shape);
  const int64_t element = index % of_point(shape) * shape->ranks + shape->rank;
  const int64_t at = (point * shape->steps + step) * value[timesteps_elements] + element;
  return (Place){at * shape->element_bytes, index * shape->element_bytes};
}

static Types timesteps_types(const Shape* shape, int64_t step) {
  const int64_t in_step = shape->value[timesteps_elements] * shape->element_bytes;
  const MPI_Datatype element = bytes_type(shape->element_bytes);
  MPI_Datatype point;
  MPI_Type_vector(as_int(of_point(shape)), 1, shape->ranks, element, &point);
  return (Types){
      .count = as_int(shape->elements),
      .memory = element,
      .displacement = step * in_step + shape->rank * shape->element_bytes,
      .etype = element,
      .filetype = resized(point, shape->steps * in_step),
  };
}

static const Parameter timesteps_parameters[] = {
    {"points", NULL, 256, 2048, 1, 100000000, 1, "data points, each with all its time steps"},
    {"steps", NULL, 32, 32, 1, 100000, 0, "time steps, a call and a view for each"},
    {"elements", NULL, 100, 100, 1, 1000000, 0, "elements of a data point, the ranks' in turn"},
    {"size", NULL, 32, 32, 1, 1 << 20, 0, "bytes of an element"},
    {0},
};
const Workload workload_timesteps = {
    .name = "timesteps",
    .paper = "001, figures 6 and 7",
    .sentence = "Each time step goes into its slot of every data point: many small sparse calls.",
    .parameters = timesteps_parameters,
    .closes = true,
    .plan = plan_timesteps,
    .place = timesteps_place,
    .types = timesteps_types,
};
