/* The checkpoint of FLASH: in memory blocks of cells of variables, guard cells around each block;
   in the file variable after variable, the blocks of all ranks in each. */
#include "bench.h"
#include "workload.h"

enum { flash_blocks, flash_cells, flash_guard, flash_variables };

/* Values of one variable on one rank. */
static int64_t of_variable(const Shape* shape) {
  const int64_t cells = shape->value[flash_cells];
  return shape->value[flash_blocks] * cells * cells * cells;
}

static int64_t side_of(const Shape* shape) {
  return shape->value[flash_cells] + 2 * shape->value[flash_guard];
}

static void plan_flash(Shape* shape) {
  const int64_t side = side_of(shape), variables = shape->value[flash_variables];
  shape->steps = 1;
  shape->element_bytes = 8;
  shape->elements = of_variable(shape) * variables;
  shape->buffer_bytes = shape->value[flash_blocks] * side * side * side * variables * 8;
  shape->file_bytes = shape->elements * shape->ranks * 8;
}

static Place flash_place(const Shape* shape, int64_t step, int64_t index) {
  (void)step;
  const int64_t cells = shape->value[flash_cells], guard = shape->value[flash_guard];
  const int64_t variable = index / of_variable(shape), value = index % of_variable(shape);
  const int64_t x = value % cells, y = value / cells % cells;
  const int64_t z = value / cells / cells % cells, block = value / cells / cells / cells;
  const int64_t side = side_of(shape);
  const int64_t cell = ((block * side + guard + z) * side + guard + y) * side + guard + x;
  return (Place){((variable * shape->ranks + shape->rank) * of_variable(shape) + value) * 8,
                 (cell * shape->value[flash_variables] + variable) * 8};
}

/* One variable of all cells inside the guards, block by block; then the next variable. */
static MPI_Datatype memory_type(const Shape* shape) {
  const int side = as_int(side_of(shape)), cells = as_int(shape->value[flash_cells]);
  const int guard = as_int(shape->value[flash_guard]);
  const int variables = as_int(shape->value[flash_variables]);
  const int sizes[3] = {side, side, side}, sub[3] = {cells, cells, cells};
  const int start[3] = {guard, guard, guard};
  MPI_Datatype cell, block, blocks, all;
  MPI_Type_create_resized(MPI_DOUBLE, 0, (MPI_Aint)variables * 8, &cell);
  MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, cell, &block);
  MPI_Type_contiguous(as_int(shape->value[flash_blocks]), block, &blocks);
  MPI_Type_create_hvector(variables, 1, 8, blocks, &all);
  MPI_Type_free(&cell);
  MPI_Type_free(&block);
  return committed(all, blocks);
}

static Types flash_types(const Shape* shape, int64_t step) {
  (void)step;
  const int64_t run = of_variable(shape);
  MPI_Datatype filetype;
  MPI_Type_vector(as_int(shape->value[flash_variables]), as_int(run), as_int(run * shape->ranks),
                  MPI_DOUBLE, &filetype);
  return (Types){.count = 1,
                 .memory = memory_type(shape),
                 .displacement = shape->rank * run * 8,
                 .etype = MPI_DOUBLE,
                 .filetype = committed(filetype, MPI_DATATYPE_NULL)};
}

static const Parameter flash_parameters[] = {
    {"blocks", NULL, 10, 80, 1, 1000000, 1, "blocks of each rank"},
    {"cells", NULL, 8, 8, 1, 1024, 0, "edge of a block, in cells"},
    {"guard", NULL, 4, 4, 0, 64, 0, "guard cells on each side"},
    {"variables", NULL, 24, 24, 1, 10000, 0, "doubles of a cell"},
    {0},
};
const Workload workload_flash = {
    .name = "flash",
    .paper = "004, table 3 and figure 12",
    .sentence = "FLASH's checkpoint: eight-byte pieces in memory become long runs by variable.",
    .parameters = flash_parameters,
    .plan = plan_flash,
    .place = flash_place,
    .types = flash_types,
};
