#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"

namespace tamis::test {

/// Random datatypes of every constructor, nested, with odd bounds. Frees what it made.
class TypeMaker {
 public:
  explicit TypeMaker(std::uint64_t seed) : random_(seed) {}
  TypeMaker(const TypeMaker&) = delete;
  TypeMaker& operator=(const TypeMaker&) = delete;
  ~TypeMaker();

  /// A committed type of at most `depth` constructors; its data stays below some 100 KiB.
  MPI_Datatype make(int depth);
  /// How the last type was made.
  const std::string& story() const { return story_; }

  int number(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }

 private:
  MPI_Datatype named();
  MPI_Datatype derive(MPI_Datatype child);
  MPI_Datatype derive_regular(int kind, MPI_Datatype child);
  MPI_Datatype derive_listed(int kind, MPI_Datatype child);
  MPI_Datatype derive_struct(MPI_Datatype child);
  MPI_Datatype derive_subarray(MPI_Datatype child);
  MPI_Datatype derive_darray(MPI_Datatype child);
  MPI_Datatype derive_resized(MPI_Datatype child);
  bool large_counts();
  MPI_Datatype own(MPI_Datatype type, const char* maker);
  bool is_modest(MPI_Datatype type);

  std::mt19937_64 random_;
  std::vector<MPI_Datatype> made_;
  std::string story_;
};

}  // namespace tamis::test
