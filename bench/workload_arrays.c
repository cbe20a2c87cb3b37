/* Distributed arrays in row-major order: one block for each rank of a grid of ranks. */
#include <stdlib.h>

#include "bench.h"
#include "workload.h"

enum { max_axes = 3 };

typedef struct {
  int axes;
  int grid[max_axes];                                 /* of ranks */
  int size[max_axes], sub[max_axes], start[max_axes]; /* the array, this rank's block in it */
} Block;

/* A grid of ranks, and this rank's coordinate on each axis, the last one running fastest. */
static Block* grid_of_ranks(Shape* shape, int axes, int coordinate[max_axes]) {
  Block* block = calloc(1, sizeof *block);
  require(block != NULL, "memory for the block");
  block->axes = axes;
  MPI_Dims_create(shape->ranks, axes, block->grid);
  int left = shape->rank;
  for (int d = axes - 1; d >= 0; --d) {
    coordinate[d] = left % block->grid[d];
    left /= block->grid[d];
  }
  shape->own = block;
  return block;
}

static void finish_plan(Shape* shape, const Block* block, int64_t steps, int64_t element_bytes) {
  int64_t all = 1;
  shape->steps = steps;
  shape->element_bytes = element_bytes;
  shape->elements = 1;
  for (int d = 0; d < block->axes; ++d) {
    shape->elements *= block->sub[d];
    all *= block->size[d];
  }
  shape->buffer_bytes = shape->elements * element_bytes;
  shape->file_bytes = all * steps * element_bytes;
}

static Place array_place(const Shape* shape, int64_t step, int64_t index) {
  const Block* block = shape->own;
  int64_t left = index, at = 0, stride = 1;
  for (int d = block->axes - 1; d >= 0; --d) {
    at += (block->start[d] + left % block->sub[d]) * stride;
    left /= block->sub[d];
    stride *= block->size[d];
  }
  return (Place){(step * stride + at) * shape->element_bytes, index * shape->element_bytes};
}

/* ---- (block, block, block) and (block, block) ----------------------------------------------- */

static void plan_blocks(Shape* shape, int axes) {
  int coordinate[max_axes];
  Block* block = grid_of_ranks(shape, axes, coordinate);
  const int64_t n = shape->value[0];
  for (int d = 0; d < axes; ++d) {
    block->size[d] = (int)n;
    block->start[d] = (int)(n * coordinate[d] / block->grid[d]);
    block->sub[d] = (int)(n * (coordinate[d] + 1) / block->grid[d]) - block->start[d];
    if (n < block->grid[d]) shape->refusal = "n is smaller than the grid of ranks";
  }
  finish_plan(shape, block, 1, 4);
}

static void plan_dist3d(Shape* shape) { plan_blocks(shape, 3); }
static void plan_block2d(Shape* shape) { plan_blocks(shape, 2); }

static Types subarray_types(const Shape* shape, MPI_Datatype etype) {
  const Block* block = shape->own;
  MPI_Datatype filetype;
  MPI_Type_create_subarray(block->axes, block->size, block->sub, block->start, MPI_ORDER_C, etype,
                           &filetype);
  return (Types){.count = as_int(shape->elements),
                 .memory = etype,
                 .etype = etype,
                 .filetype = committed(filetype, MPI_DATATYPE_NULL)};
}

static Types block_types(const Shape* shape, int64_t step) {
  (void)step;
  return subarray_types(shape, MPI_INT);
}

static const Parameter dist3d_parameters[] = {
    {"n", NULL, 128, 512, 1, 1290, 3, "edge of the array of 4-byte integers"},
    {0},
};
const Workload workload_dist3d = {
    .name = "dist3d",
    .paper = "000, tables 1 and 2; 002, table 1",
    .sentence = "A three-dimensional array distributed (block, block, block) over the ranks.",
    .parameters = dist3d_parameters,
    .plan = plan_dist3d,
    .place = array_place,
    .types = block_types,
};

static const Parameter block2d_parameters[] = {
    {"n", NULL, 2048, 8192, 1, 46000, 2,
     "edge of the array of 4-byte integers (002 names no size)"},
    {0},
};
const Workload workload_block2d = {
    .name = "block2d",
    .paper = "002, figure 1",
    .sentence = "A two-dimensional array distributed (block, block) over the ranks.",
    .parameters = block2d_parameters,
    .plan = plan_block2d,
    .place = array_place,
    .types = block_types,
};

/* ---- ROMIO's three-dimensional block test: the same picture, told as a darray ---------------- */

static void plan_block3d(Shape* shape) {
  int coordinate[max_axes];
  Block* block = grid_of_ranks(shape, 3, coordinate);
  const int n = (int)shape->value[0];
  for (int d = 0; d < 3; ++d) {
    /* The standard's default block: every rank has the rounded-up share but the last. */
    const int share = (n + block->grid[d] - 1) / block->grid[d];
    if (share * (block->grid[d] - 1) >= n) {
      shape->refusal = "n leaves some rank of the grid without a block";
      return;
    }
    block->size[d] = n;
    block->start[d] = share * coordinate[d];
    block->sub[d] = n - block->start[d] < share ? n - block->start[d] : share;
  }
  finish_plan(shape, block, 1, 4);
}

static Types block3d_types(const Shape* shape, int64_t step) {
  (void)step;
  const Block* block = shape->own;
  const int distribution[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int argument[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                           MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype filetype;
  MPI_Type_create_darray(shape->ranks, shape->rank, 3, block->size, distribution, argument,
                         block->grid, MPI_ORDER_C, MPI_INT, &filetype);
  return (Types){.count = as_int(shape->elements),
                 .memory = MPI_INT,
                 .etype = MPI_INT,
                 .filetype = committed(filetype, MPI_DATATYPE_NULL)};
}

static const Parameter block3d_parameters[] = {
    {"n", NULL, 150, 600, 1, 1290, 3, "edge of the array of 4-byte integers"},
    {0},
};
const Workload workload_block3d = {
    .name = "block3d",
    .paper = "004, table 2 and figure 10",
    .sentence = "ROMIO's three-dimensional block test, its blocks told as a distributed array.",
    .parameters = block3d_parameters,
    .plan = plan_block3d,
    .place = array_place,
    .types = block3d_types,
};

/* ---- tile reader ----------------------------------------------------------------------------- */

enum { tile_frames, tile_width, tile_height, tile_overlap_x, tile_overlap_y, tile_pixel };

static void plan_tile(Shape* shape) {
  int coordinate[max_axes];
  Block* block = grid_of_ranks(shape, 2, coordinate);
  const int columns = block->grid[0], rows = block->grid[1];
  const int column = shape->rank % columns, row = shape->rank / columns;
  const int width = (int)shape->value[tile_width], height = (int)shape->value[tile_height];
  const int overlap_x = (int)shape->value[tile_overlap_x];
  const int overlap_y = (int)shape->value[tile_overlap_y];
  if (overlap_x >= width || overlap_y >= height) {
    shape->refusal = "tiles overlap by less than their size";
    return;
  }
  block->size[0] = rows * (height - overlap_y) + overlap_y;
  block->size[1] = columns * (width - overlap_x) + overlap_x;
  block->start[0] = row * (height - overlap_y);
  block->start[1] = column * (width - overlap_x);
  block->sub[0] = height;
  block->sub[1] = width;
  finish_plan(shape, block, shape->value[tile_frames], shape->value[tile_pixel]);
}

static Types tile_types(const Shape* shape, int64_t step) {
  (void)step;
  return subarray_types(shape, bytes_type(shape->element_bytes));
}

static const Parameter tile_parameters[] = {
    {"frames", NULL, 10, 100, 1, 1000000, 1, "frames played in sequence, a call for each"},
    {"width", NULL, 1024, 1024, 1, 100000, 0, "pixels of a tile"},
    {"height", NULL, 768, 768, 1, 100000, 0, "rows of a tile"},
    {"overlap_x", NULL, 270, 270, 0, 99999, 0, "pixels that neighbours share"},
    {"overlap_y", NULL, 128, 128, 0, 99999, 0, "rows that neighbours share"},
    {"pixel", NULL, 3, 3, 1, 64, 0, "bytes of a pixel"},
    {0},
};
const Workload workload_tile = {
    .name = "tile",
    .paper = "004, table 1 and figure 8",
    .sentence =
        "A wall of displays reads its overlapping tiles of each frame; six ranks are 3 x 2.",
    .parameters = tile_parameters,
    .overlaps = true,
    .plan = plan_tile,
    .place = array_place,
    .types = tile_types,
};
