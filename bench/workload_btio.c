/* NAS BTIO: a grid of points of five doubles in column-major order, multipartitioned: the square
   number of ranks divides each axis by its root, and every rank has one cell on each diagonal
   plane, so that it has work wherever a sweep through the grid has come to. In memory each cell has
   layers of neighbours' points around it. */
#include <stdlib.h>

#include "bench.h"
#include "workload.h"

enum { btio_class, btio_steps, btio_ghost };
enum { point_doubles = 5, point_bytes = 40, axis_z = 0, axis_y = 1, axis_x = 2 };
static const int class_edge[] = {12, 24, 64, 102, 162};

typedef struct {
  int low[3], size[3]; /* by axis: z, y, x */
  int64_t first;       /* its first element among the rank's */
} Cell;

typedef struct {
  int edge, cells;
  int side; /* of a cell's array in memory */
  Cell cell[];
} Cells;

static int root_of(int ranks) {
  int root = 0;
  while ((root + 1) * (root + 1) <= ranks) ++root;
  return root;
}

/* Part `place` of `parts`; the first ones are longer by one where it does not come out even. */
static void cut(int edge, int parts, int place, int* low, int* size) {
  const int longer = edge % parts;
  *size = edge / parts + (place < longer ? 1 : 0);
  *low = edge / parts * place + (place < longer ? place : longer);
}

static void plan_btio(Shape* shape) {
  const int root = root_of(shape->ranks), edge = class_edge[shape->value[btio_class]];
  if (root * root != shape->ranks) {
    shape->refusal = "the multipartition needs a square number of ranks: 1, 4, 9, 16, ...";
    return;
  }
  if (edge < root) {
    shape->refusal = "more cells than points on an axis";
    return;
  }
  Cells* own = malloc(sizeof *own + (size_t)root * sizeof(Cell));
  require(own != NULL, "memory for the cells");
  const int ghost = (int)shape->value[btio_ghost];
  *own = (Cells){.edge = edge, .cells = root, .side = (edge + root - 1) / root + 2 * ghost};
  shape->elements = 0;
  for (int c = 0; c < root; ++c) {
    Cell* cell = &own->cell[c];
    cut(edge, root, c, &cell->low[axis_z], &cell->size[axis_z]);
    cut(edge, root, (shape->rank / root - c + root) % root, &cell->low[axis_y],
        &cell->size[axis_y]);
    cut(edge, root, (shape->rank % root + c) % root, &cell->low[axis_x], &cell->size[axis_x]);
    cell->first = shape->elements;
    shape->elements += (int64_t)cell->size[0] * cell->size[1] * cell->size[2];
  }
  shape->own = own;
  shape->steps = shape->value[btio_steps];
  shape->element_bytes = point_bytes;
  shape->buffer_bytes = (int64_t)root * own->side * own->side * own->side * point_bytes;
  shape->file_bytes = shape->steps * edge * edge * edge * point_bytes;
}

static Place btio_place(const Shape* shape, int64_t step, int64_t index) {
  const Cells* own = shape->own;
  int c = own->cells - 1;
  while (index < own->cell[c].first) --c;
  const Cell* cell = &own->cell[c];
  const int64_t in_cell = index - cell->first, ghost = shape->value[btio_ghost];
  const int64_t x = in_cell % cell->size[axis_x];
  const int64_t y = in_cell / cell->size[axis_x] % cell->size[axis_y];
  const int64_t z = in_cell / cell->size[axis_x] / cell->size[axis_y];
  const int64_t edge = own->edge, side = own->side;
  const int64_t file =
      ((step * edge + cell->low[axis_z] + z) * edge + cell->low[axis_y] + y) * edge +
      cell->low[axis_x] + x;
  const int64_t memory = ((c * side + ghost + z) * side + ghost + y) * side + ghost + x;
  return (Place){file * point_bytes, memory * point_bytes};
}

/* All cells in one type: of the whole grid, or of the rank's memory. */
static MPI_Datatype cells_type(const Shape* shape, MPI_Datatype point, bool memory) {
  const Cells* own = shape->own;
  const int ghost = (int)shape->value[btio_ghost], edge = memory ? own->side : own->edge;
  const int whole[3] = {edge, edge, edge}, inner[3] = {ghost, ghost, ghost};
  MPI_Datatype* parts = malloc((size_t)own->cells * sizeof *parts);
  MPI_Aint* places = malloc((size_t)own->cells * sizeof *places);
  int* ones = malloc((size_t)own->cells * sizeof *ones);
  require(parts != NULL && places != NULL && ones != NULL, "memory for the cells' types");
  for (int c = 0; c < own->cells; ++c) {
    const Cell* cell = &own->cell[c];
    MPI_Type_create_subarray(3, whole, cell->size, memory ? inner : cell->low, MPI_ORDER_C, point,
                             &parts[c]);
    places[c] = memory ? (MPI_Aint)c * edge * edge * edge * point_bytes : 0;
    ones[c] = 1;
  }
  MPI_Datatype made;
  MPI_Type_create_struct(own->cells, ones, places, parts, &made);
  for (int c = 0; c < own->cells; ++c) MPI_Type_free(&parts[c]);
  free(parts);
  free(places);
  free(ones);
  return committed(made, MPI_DATATYPE_NULL);
}

static Types btio_types(const Shape* shape, int64_t step) {
  (void)step;
  MPI_Datatype point;
  MPI_Type_contiguous(point_doubles, MPI_DOUBLE, &point);
  MPI_Type_commit(&point);
  return (Types){.count = 1,
                 .memory = cells_type(shape, point, true),
                 .etype = point,
                 .filetype = cells_type(shape, point, false)};
}

static const Parameter btio_parameters[] = {
    {"class", "S,W,A,B,C", 2, 4, 0, 4, 0, "edge of the grid: 12, 24, 64, 102, 162 points"},
    {"steps", NULL, 5, 40, 1, 100000, 1, "solutions written, one after the other"},
    {"ghost", NULL, 2, 2, 0, 16, 0, "layers of neighbours' points around a cell in memory"},
    {0},
};
const Workload workload_btio = {
    .name = "btio",
    .paper = "000, tables 3 and 4",
    .sentence = "NAS BTIO: time steps of a multipartitioned grid; a square number of ranks.",
    .parameters = btio_parameters,
    .plan = plan_btio,
    .place = btio_place,
    .types = btio_types,
};
