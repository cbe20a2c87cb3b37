#include "workload_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { longest_piece = 1 << 30, first_room = 64 };

static void append(Pieces* pieces, int64_t* room, Piece piece) {
  if (pieces->count > 0) {
    Piece* last = &pieces->list[pieces->count - 1];
    const bool follows =
        last->file + last->bytes == piece.file && last->memory + last->bytes == piece.memory;
    if (follows && last->bytes + piece.bytes <= longest_piece) {
      last->bytes += piece.bytes;
      return;
    }
  }
  if (pieces->count == *room) {
    *room *= 2;
    pieces->list = realloc(pieces->list, (size_t)*room * sizeof *pieces->list);
    require(pieces->list != NULL, "memory for the pieces");
  }
  pieces->list[pieces->count++] = piece;
}

Pieces pieces_of(const Shape* shape, int64_t step) {
  int64_t room = first_room;
  Pieces pieces = {.list = malloc((size_t)room * sizeof(Piece))};
  require(pieces.list != NULL, "memory for the pieces");
  for (int64_t i = 0; i < shape->elements; ++i) {
    const Place place = shape->workload->place(shape, step, i);
    append(&pieces, &room, (Piece){place.file, place.memory, shape->element_bytes});
    pieces.bytes += shape->element_bytes;
  }
  return pieces;
}

static int by_file(const void* a, const void* b) {
  const int64_t x = ((const Piece*)a)->file, y = ((const Piece*)b)->file;
  return (x > y) - (x < y);
}

static int by_memory(const void* a, const void* b) {
  const int64_t x = ((const Piece*)a)->memory, y = ((const Piece*)b)->memory;
  return (x > y) - (x < y);
}

int64_t runs_of(const Pieces* pieces, bool in_file) {
  if (pieces->count == 0) return 0;
  Piece* sorted = malloc((size_t)pieces->count * sizeof *sorted);
  require(sorted != NULL, "memory for the sorted pieces");
  memcpy(sorted, pieces->list, (size_t)pieces->count * sizeof *sorted);
  qsort(sorted, (size_t)pieces->count, sizeof *sorted, in_file ? by_file : by_memory);
  int64_t runs = 1;
  for (int64_t i = 1; i < pieces->count; ++i) {
    const Piece *last = &sorted[i - 1], *next = &sorted[i];
    runs += in_file ? last->file + last->bytes != next->file
                    : last->memory + last->bytes != next->memory;
  }
  free(sorted);
  return runs;
}

Reach reach_of(const Pieces* pieces) {
  Reach reach = {INT64_MAX, 0};
  for (int64_t i = 0; i < pieces->count; ++i) {
    const Piece* piece = &pieces->list[i];
    if (piece->file < reach.first) reach.first = piece->file;
    if (piece->file + piece->bytes > reach.end) reach.end = piece->file + piece->bytes;
  }
  return pieces->count > 0 ? reach : (Reach){0, 0};
}

/* The eight bytes that belong at offset 8 * index in round `seed`. */
static uint64_t pattern_word(uint64_t index, uint32_t seed) {
  uint64_t x = index * 0x9e3779b97f4a7c15u + (uint64_t)seed * 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 29);
}

void pattern_fill(uint8_t* out, int64_t offset, int64_t bytes, uint32_t seed) {
  while (bytes > 0) {
    const int64_t inside = offset % 8;
    const int64_t part = bytes < 8 - inside ? bytes : 8 - inside;
    const uint64_t word = pattern_word((uint64_t)offset / 8, seed);
    if (part == 8) {
      memcpy(out, &word, 8);
    } else {
      memcpy(out, (const uint8_t*)&word + inside, (size_t)part);
    }
    out += part;
    offset += part;
    bytes -= part;
  }
}

Coverage coverage_of(int64_t first, int64_t bytes) {
  Coverage coverage = {first, bytes, calloc((size_t)bytes / 8 + 1, 1)};
  require(coverage.bits != NULL, "memory for what of the file is covered");
  return coverage;
}

bool covered(const Coverage* coverage, int64_t offset) {
  const int64_t at = offset - coverage->first;
  return (coverage->bits[at / 8] >> at % 8 & 1) != 0;
}

bool coverage_add(Coverage* coverage, const Piece* piece) {
  const int64_t limit = coverage->first + coverage->bytes;
  const int64_t end = piece->file + piece->bytes < limit ? piece->file + piece->bytes : limit;
  bool alone = true;
  for (int64_t i = piece->file > coverage->first ? piece->file : coverage->first; i < end; ++i) {
    alone &= !covered(coverage, i);
    uint8_t* eight = &coverage->bits[(i - coverage->first) / 8];
    *eight = (uint8_t)(*eight | 1 << (i - coverage->first) % 8);
  }
  return alone;
}

int64_t coverage_end(const Coverage* coverage) {
  for (int64_t i = coverage->first + coverage->bytes - 1; i >= coverage->first; --i) {
    if (covered(coverage, i)) return i + 1;
  }
  return 0;
}

void coverage_expect(const Coverage* coverage, uint8_t* out, int64_t offset, int64_t bytes,
                     uint32_t seed, uint32_t ground) {
  for (int64_t done = 0; done < bytes; done += 8) {
    const int64_t part = bytes - done < 8 ? bytes - done : 8;
    const uint64_t index = (uint64_t)(offset + done) / 8;
    const uint64_t data = pattern_word(index, seed);
    const uint64_t rest = ground == zeros ? 0 : pattern_word(index, ground);
    const uint8_t bits = coverage->bits[(offset + done - coverage->first) / 8];
    for (int64_t i = 0; i < part; ++i) {
      out[done + i] = ((const uint8_t*)(bits >> i & 1 ? &data : &rest))[i];
    }
  }
}
