#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "layout/dataloop.hpp"

namespace tamis {

/// A call of a datatype constructor, as the host remembers it.
struct ConstructorCall {
  int combiner = 0;                       ///< MPI_COMBINER_*
  std::span<const std::int64_t> numbers;  ///< integers, then addresses, in the standard's order
  std::span<const Dataloop> types;
};

/// The data that the constructor makes (MPI 4.1, sections 5.1.2 to 5.1.4). The bounds are the
/// builders', without the padding that hosts give structs: the caller asks the host for them.
/// Errors: type for an unknown combiner, internal for a wrong number of arguments, and those of
/// the builders.
Result<Dataloop> construct(const ConstructorCall& call);

}  // namespace tamis
