/* What a workload comes to in bytes: contiguous pieces, what a file holds, and what is expected. */
#pragma once

#include "workload.h"

/* Contiguous in the file and in memory, and no longer than one call can say. */
typedef struct {
  int64_t file, memory, bytes;
} Piece;

typedef struct {
  Piece* list;
  int64_t count, bytes;
} Pieces;

/* One step of one rank, element by element, neighbours joined. The list is the caller's to free. */
Pieces pieces_of(const Shape* shape, int64_t step);

/* How often the pieces' places do not follow on one another: in the file, or in memory. */
int64_t runs_of(const Pieces* pieces, bool in_file);

/* First byte and end of what the pieces touch in the file. */
typedef struct {
  int64_t first, end;
} Reach;
Reach reach_of(const Pieces* pieces);

/* ---- patterns: 8 bytes at a time, well mixed, so that a byte from another place or round shows */
void pattern_fill(uint8_t* out, int64_t offset, int64_t bytes, uint32_t seed);

/* ---- coverage: which bytes of [first, first + bytes) of a file are written --------------------
 */
typedef struct {
  int64_t first, bytes;
  uint8_t* bits;
} Coverage;

Coverage coverage_of(int64_t first, int64_t bytes);
/* Marks what of `piece` lies in the range; false where a byte was marked before. */
bool coverage_add(Coverage* coverage, const Piece* piece);
bool covered(const Coverage* coverage, int64_t offset);
/* One past the last marked byte of the file; 0 without any. */
int64_t coverage_end(const Coverage* coverage);
/* What must stand at [offset, offset + bytes), inside the range and starting on a multiple of 8:
   the pattern of `seed` where covered, else that of `ground`, or zeros where ground is `zeros`. */
enum { zeros = 0 };
void coverage_expect(const Coverage* coverage, uint8_t* out, int64_t offset, int64_t bytes,
                     uint32_t seed, uint32_t ground);
