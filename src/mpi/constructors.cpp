#include "mpi/constructors.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/checked.hpp"
#include "mpi/mpi.hpp"

namespace tamis {
namespace {

using Numbers = std::span<const std::int64_t>;

constexpr Status kWrongArguments = {.code = Errc::internal,
                                    .note = "the host MPI tells nonsense about a datatype"};

/// One dimension of an array type: `count` elements of which some are taken.
struct Dimension {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< subarray: the taken ones
  std::int64_t taken = 0;
  int distribution = 0;  ///< darray: MPI_DISTRIBUTE_*, its argument, process grid
  std::int64_t argument = 0;
  std::int64_t processes = 1;
  std::int64_t process = 0;
};

/// Arrays nest from their fastest dimension outwards; hands them out in that order.
template <typename Nest>
Result<Dataloop> nest_dimensions(std::span<Dimension> slowest_first, const Dataloop& element,
                                 Nest nest) {
  Dataloop array = element;
  for (std::size_t i = slowest_first.size(); i > 0; --i) {
    const Dimension& dimension = slowest_first[i - 1];
    const auto extent = checked_mul(dimension.count, array.extent());
    if (!extent) return failure(Errc::arg, "an array type is larger than 64 bits can tell");
    Result<Dataloop> next = nest(dimension, array);
    if (next.ok()) next = Dataloop::resized(0, *extent, *next);
    if (!next.ok()) return next;
    array = *std::move(next);
  }
  return array;
}

void order_slowest_first(std::vector<Dimension>& dimensions, std::int64_t order) {
  if (order == MPI_ORDER_FORTRAN) std::reverse(dimensions.begin(), dimensions.end());
}

Result<Dataloop> block_at(std::int64_t first, std::int64_t count, const Dataloop& child) {
  const auto displacement = checked_mul(first, child.extent());
  if (!displacement) return failure(Errc::arg, "a displacement is larger than 64 bits can tell");
  return Dataloop::indexed(std::array{count}, std::array{*displacement}, child);
}

/// Arguments: dimensions, sizes, subsizes, starts, order.
Result<Dataloop> subarray(Numbers numbers, const Dataloop& element) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  if (numbers.size() != 3 * n + 2) return kWrongArguments;
  std::vector<Dimension> dimensions(n);
  for (std::size_t i = 0; i < n; ++i) {
    dimensions[i] = {
        .count = numbers[1 + i], .first = numbers[1 + 2 * n + i], .taken = numbers[1 + n + i]};
  }
  order_slowest_first(dimensions, numbers[1 + 3 * n]);
  return nest_dimensions(dimensions, element, [](const Dimension& d, const Dataloop& child) {
    return block_at(d.first, d.taken, child);
  });
}

std::int64_t block_length(const Dimension& d) {
  if (d.distribution == MPI_DISTRIBUTE_NONE) return d.count;
  if (d.argument != MPI_DISTRIBUTE_DFLT_DARG) return d.argument;
  if (d.distribution == MPI_DISTRIBUTE_CYCLIC) return 1;
  return (d.count + d.processes - 1) / d.processes;
}

/// Every `processes`-th block of the dimension, from the process's own on; the last block of the
/// dimension may be short. (The function `cyclic` of MPI 4.1, section 5.1.4.)
Result<Dataloop> cyclic(const Dimension& d, const Dataloop& child) {
  const std::int64_t block = block_length(d);
  if (block <= 0 || d.processes <= 0) return kWrongArguments;
  const std::int64_t blocks = (d.count + block - 1) / block;
  if (d.process >= blocks) return Dataloop();
  const std::int64_t mine = (blocks - 1 - d.process) / d.processes + 1;
  const std::int64_t last = d.process + (mine - 1) * d.processes;
  const std::int64_t short_count = last == blocks - 1 ? d.count - last * block : block;

  const auto stride = checked_mul(block * d.processes, child.extent());
  if (!stride) return failure(Errc::arg, "a stride is larger than 64 bits can tell");
  Result<Dataloop> whole = Dataloop::vector(mine - 1, block, *stride, child);
  Result<Dataloop> end = block_at(last * block, short_count, child);
  if (!whole.ok()) return whole;
  if (!end.ok()) return end;
  const std::array displacements = {d.process * block * child.extent(), std::int64_t{0}};
  return Dataloop::structure(std::array<std::int64_t, 2>{1, 1}, displacements,
                             std::array{*whole, *end});
}

/// Arguments: size, rank, dimensions, gsizes, distributions, their arguments, process grid, order.
Result<Dataloop> darray(Numbers numbers, const Dataloop& element) {
  if (numbers.size() < 4) return kWrongArguments;
  const auto n = static_cast<std::size_t>(numbers[2]);
  if (numbers.size() != 4 * n + 4) return kWrongArguments;
  std::vector<Dimension> dimensions(n);
  std::int64_t rank = numbers[1];  // in the grid's row-major order, whatever the array's
  for (std::size_t i = n; i > 0; --i) {
    const std::size_t at = 3 + i - 1;
    const std::int64_t processes = numbers[at + 3 * n];
    if (processes <= 0) return kWrongArguments;
    dimensions[i - 1] = {.count = numbers[at],
                         .distribution = static_cast<int>(numbers[at + n]),
                         .argument = numbers[at + 2 * n],
                         .processes = processes,
                         .process = rank % processes};
    rank /= processes;
  }
  order_slowest_first(dimensions, numbers[3 + 4 * n]);
  return nest_dimensions(dimensions, element, cyclic);
}

/// Displacements in bytes from those in units of `unit` bytes.
Result<std::vector<std::int64_t>> in_bytes(Numbers displacements, std::int64_t unit) {
  std::vector<std::int64_t> scaled(displacements.begin(), displacements.end());
  for (std::int64_t& displacement : scaled) {
    const auto bytes = checked_mul(displacement, unit);
    if (!bytes) return failure(Errc::arg, "a displacement is larger than 64 bits can tell");
    displacement = *bytes;
  }
  return scaled;
}

/// Arguments: count, block lengths, displacements.
Result<Dataloop> indexed(Numbers numbers, std::int64_t unit, const Dataloop& child) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  if (numbers.size() != 2 * n + 1) return kWrongArguments;
  const auto displacements = in_bytes(numbers.subspan(1 + n), unit);
  if (!displacements.ok()) return displacements.status();
  return Dataloop::indexed(numbers.subspan(1, n), *displacements, child);
}

/// Arguments: count, block length, displacements.
Result<Dataloop> blockindexed(Numbers numbers, std::int64_t unit, const Dataloop& child) {
  if (numbers.size() != static_cast<std::size_t>(numbers[0]) + 2) return kWrongArguments;
  const auto displacements = in_bytes(numbers.subspan(2), unit);
  if (!displacements.ok()) return displacements.status();
  return Dataloop::blockindexed(numbers[1], *displacements, child);
}

/// Arguments: count, block length, stride.
Result<Dataloop> vector(Numbers numbers, std::int64_t unit, const Dataloop& child) {
  if (numbers.size() != 3) return kWrongArguments;
  const auto stride = checked_mul(numbers[2], unit);
  if (!stride) return failure(Errc::arg, "a stride is larger than 64 bits can tell");
  return Dataloop::vector(numbers[0], numbers[1], *stride, child);
}

/// Arguments: count, block lengths, displacements.
Result<Dataloop> structure(Numbers numbers, std::span<const Dataloop> types) {
  const std::size_t n = types.size();
  if (numbers.size() != 2 * n + 1) return kWrongArguments;
  return Dataloop::structure(numbers.subspan(1, n), numbers.subspan(1 + n), types);
}

/// Makes the data of a constructor that takes one type. REQUIRES: numbers are not empty.
using Builder = Result<Dataloop> (*)(Numbers, const Dataloop& child);

/// nullptr for a combiner that takes no or several types, or is none that Tamis knows.
Builder builder_of(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return [](Numbers n, const Dataloop& child) { return Dataloop::contig(n[0], child); };
    case MPI_COMBINER_VECTOR:
      return [](Numbers n, const Dataloop& child) { return vector(n, child.extent(), child); };
    case MPI_COMBINER_HVECTOR:
      return [](Numbers n, const Dataloop& child) { return vector(n, 1, child); };
    case MPI_COMBINER_INDEXED:
      return [](Numbers n, const Dataloop& child) { return indexed(n, child.extent(), child); };
    case MPI_COMBINER_HINDEXED:
      return [](Numbers n, const Dataloop& child) { return indexed(n, 1, child); };
    case MPI_COMBINER_INDEXED_BLOCK:
      return
          [](Numbers n, const Dataloop& child) { return blockindexed(n, child.extent(), child); };
    case MPI_COMBINER_HINDEXED_BLOCK:
      return [](Numbers n, const Dataloop& child) { return blockindexed(n, 1, child); };
    case MPI_COMBINER_SUBARRAY:
      return subarray;
    case MPI_COMBINER_DARRAY:
      return darray;
    case MPI_COMBINER_RESIZED:  // the data is the same; the bounds are the host's
      return [](Numbers, const Dataloop& child) { return Result<Dataloop>(child); };
    default:
      return nullptr;
  }
}

}  // namespace

Result<Dataloop> construct(const ConstructorCall& call) {
  const Numbers numbers = call.numbers;
  if (call.combiner == MPI_COMBINER_STRUCT) {
    return numbers.empty() ? kWrongArguments : structure(numbers, call.types);
  }
  if (call.combiner == MPI_COMBINER_DUP) {
    return call.types.size() == 1 ? Result<Dataloop>(call.types.front()) : kWrongArguments;
  }
  const Builder build = builder_of(call.combiner);
  if (build == nullptr) {
    return failure(Errc::type, "the datatype was made in a way unknown to Tamis");
  }
  if (call.types.size() != 1 || numbers.empty()) return kWrongArguments;
  return build(numbers, call.types.front());
}

}  // namespace tamis
