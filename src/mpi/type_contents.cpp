#include "mpi/type_contents.hpp"

#include <algorithm>
#include <utility>

#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis {
namespace {

constexpr const char* kUnreadable = "the host MPI cannot tell how the datatype was made";

/// Combiners of constructors that MPI 3.0 removed and that old Fortran programs still reach: their
/// displacements are integers instead of addresses, in the same order.
int modern(int combiner) {
#if defined(OPEN_MPI)
  constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR - 1;
  constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED - 1;
  constexpr int kStructInteger = MPI_COMBINER_STRUCT - 1;
#else
  constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR_INTEGER;
  constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED_INTEGER;
  constexpr int kStructInteger = MPI_COMBINER_STRUCT_INTEGER;
#endif
  switch (combiner) {
    case kHvectorInteger:
      return MPI_COMBINER_HVECTOR;
    case kHindexedInteger:
      return MPI_COMBINER_HINDEXED;
    case kStructInteger:
      return MPI_COMBINER_STRUCT;
    default:
      return combiner;
  }
}

/// Hosts are handed the address of at least one element, however few there are to be written.
template <typename Element>
std::vector<Element> room_for(MPI_Count n) {
  std::vector<Element> elements;
  elements.reserve(static_cast<std::size_t>(std::max<MPI_Count>(n, 1)));
  elements.resize(static_cast<std::size_t>(n));
  return elements;
}

/// A host with large counts does not tell of types made with them through the int functions.
bool has_large_counts() {
  return host().Type_get_envelope_c != nullptr && host().Type_get_contents_c != nullptr;
}

/// Joins the arguments of a large-count constructor in the order of its int form. Only the two
/// array constructors have integers too; there the arrays of counts come after the number of
/// dimensions.
std::vector<std::int64_t> joined(int combiner, const std::vector<int>& integers,
                                 const std::vector<MPI_Count>& counts) {
  std::ptrdiff_t leading = 0;
  if (combiner == MPI_COMBINER_SUBARRAY) leading = 1;  // dimensions
  if (combiner == MPI_COMBINER_DARRAY) leading = 3;    // size, rank, dimensions
  std::vector<std::int64_t> numbers(integers.begin(), integers.begin() + leading);
  numbers.insert(numbers.end(), counts.begin(), counts.end());
  numbers.insert(numbers.end(), integers.begin() + leading, integers.end());
  return numbers;
}

}  // namespace

bool Envelope::is_predefined() const {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

Result<Envelope> envelope_of(MPI_Datatype type) {
  Envelope seen;
  int rc = MPI_SUCCESS;
  if (has_large_counts()) {
    rc = host().Type_get_envelope_c(type, &seen.integers, &seen.addresses, &seen.counts,
                                    &seen.types, &seen.combiner);
  } else {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    rc = host().Type_get_envelope(type, &integers, &addresses, &types, &seen.combiner);
    seen.integers = integers;
    seen.addresses = addresses;
    seen.types = types;
  }
  if (rc != MPI_SUCCESS) return host_status(rc, kUnreadable);
  seen.combiner = modern(seen.combiner);
  return seen;
}

Result<TypeContents> TypeContents::of(MPI_Datatype type, const Envelope& envelope) {
  TypeContents made;
  if (envelope.is_predefined()) return made;
  auto integers = room_for<int>(envelope.integers);
  auto addresses = room_for<MPI_Aint>(envelope.addresses);
  auto counts = room_for<MPI_Count>(envelope.counts);
  auto types = room_for<MPI_Datatype>(envelope.types);
  const int rc = has_large_counts()
                     ? host().Type_get_contents_c(type, envelope.integers, envelope.addresses,
                                                  envelope.counts, envelope.types, integers.data(),
                                                  addresses.data(), counts.data(), types.data())
                     : host().Type_get_contents(type, static_cast<int>(envelope.integers),
                                                static_cast<int>(envelope.addresses),
                                                static_cast<int>(envelope.types), integers.data(),
                                                addresses.data(), types.data());
  if (rc != MPI_SUCCESS) return host_status(rc, kUnreadable);
  made.types_ = std::move(types);
  if (counts.empty()) {
    made.numbers_.assign(integers.begin(), integers.end());
    made.numbers_.insert(made.numbers_.end(), addresses.begin(), addresses.end());
  } else {
    made.numbers_ = joined(envelope.combiner, integers, counts);
  }
  return made;
}

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    const Result<Envelope> envelope = envelope_of(type);
    if (envelope.ok() && !envelope->is_predefined()) host().Type_free(&type);
  }
}

}  // namespace tamis
