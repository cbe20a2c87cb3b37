#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

/// Random datatypes with an oracle: every constructor makes the MPI datatype and, beside it and
/// without asking the MPI, the plain list of bytes that it means.
namespace random_io {

/// A small generator; equal seeds give equal scenarios on every rank and machine.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  /// A generator of its own for a purpose or a rank.
  Rng split(std::uint64_t salt) const;
  std::uint64_t next();
  std::int64_t below(std::int64_t bound);  ///< in [0, bound)
  std::int64_t between(std::int64_t least, std::int64_t most);
  bool percent(int chance) { return below(100) < chance; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

std::uint64_t mix(std::uint64_t value);

struct Run {
  std::int64_t offset;  ///< bytes
  std::int64_t length;
};

struct Type {
  MPI_Datatype handle = MPI_DATATYPE_NULL;  ///< null where only the oracle was asked for
  std::vector<Run> runs;                    ///< in the order of the type map, touching ones merged
  std::int64_t lb = 0;
  std::int64_t extent = 0;
  std::int64_t size = 0;
  std::string text;
};

/// Makes types and frees them all at its end.
class Builder {
 public:
  /// `real`: make MPI datatypes; else oracles only (another rank's types).
  explicit Builder(bool real) : real_(real) {}
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Type named(MPI_Datatype handle, std::int64_t size, const char* name);
  Type contiguous(int count, const Type& child);
  Type vector(int count, int length, int stride, const Type& child);
  Type hvector(int count, int length, std::int64_t stride, const Type& child);
  Type indexed(const std::vector<int>& lengths, const std::vector<int>& places, const Type& child);
  Type hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places,
                const Type& child);
  Type indexed_block(int length, const std::vector<int>& places, const Type& child);
  Type hindexed_block(int length, const std::vector<MPI_Aint>& places, const Type& child);
  Type structure(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places,
                 const std::vector<Type>& children);
  Type subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes,
                const std::vector<int>& starts, int order, const Type& child);
  struct Dimension {
    int size, distribution, argument, processes;
  };
  Type darray(int rank, const std::vector<Dimension>& dimensions, int order, const Type& child);
  Type resized(const Type& child, std::int64_t lb, std::int64_t extent);
  Type dup(const Type& child);

  /// Ready for use in a call; also compares size, lb and extent with what the MPI says of it.
  void commit(Type& type);

 private:
  MPI_Datatype keep(MPI_Datatype made);
  Type exact(const Type& type);
  bool real_;
  std::vector<MPI_Datatype> made_;
};

/// What a random type may look like.
struct Rules {
  bool file = false;    ///< ascending, holes in multiples of the etype
  int depth = 2;        ///< constructors upon each other
  int most_runs = 600;  ///< pieces in one instance
  std::int64_t most_extent = 16384;
};

/// A random nest of constructors around `etype`. No byte comes twice.
Type random_type(Builder& builder, Rng& rng, const Type& etype, const Rules& rules);

/// Number of elementary units in one instance.
inline std::int64_t etypes_in(const Type& type, const Type& etype) {
  return type.size / etype.size;
}

}  // namespace random_io
