#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// What a datatype was made by and how many arguments that took (MPI 4.1, section 5.1.13).
struct Envelope {
  int combiner = MPI_COMBINER_NAMED;  ///< Fortran's removed constructors count as their successors
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;
  MPI_Count types = 0;

  /// The type is given by the standard: it must not be freed.
  bool is_predefined() const;
};

/// REQUIRES: find_host() has succeeded; `type` is a datatype.
Result<Envelope> envelope_of(MPI_Datatype type);

/// The arguments a datatype was made with. Owns the handles of the types among them, as the host
/// hands them out.
class TypeContents {
 public:
  /// REQUIRES: find_host() has succeeded; the envelope is that of `type`.
  static Result<TypeContents> of(MPI_Datatype type, const Envelope& envelope);

  TypeContents(TypeContents&&) = default;
  TypeContents& operator=(TypeContents&&) = delete;
  ~TypeContents();

  /// All numeric arguments in the order of the constructor's integers, followed by its addresses:
  /// one order for the int and the MPI_Count form of each constructor.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  TypeContents() = default;

  std::vector<std::int64_t> numbers_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace tamis
