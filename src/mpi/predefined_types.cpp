#include "mpi/predefined_types.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis {
namespace {

/// Handles of named types are the same for ever, so slots are only ever filled: a key, once it can
/// be read, stays, and so does the dataloop written before it.
struct Slot {
  std::atomic<std::uintptr_t> key{0};
  Dataloop loop;
};
constexpr unsigned kSlotBits = 8;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
constexpr std::size_t kMostKept = kSlots / 2;  // short probes; MPIs have about 90 named types

constinit std::array<Slot, kSlots> slots{};
constinit std::size_t kept = 0;

/// The handle as a number, whether the host has integers or pointers; 0 is no type in any host.
template <typename Handle>
std::uintptr_t key_of(Handle type) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(type);
  } else {
    return static_cast<std::uint32_t>(type);
  }
}

std::size_t home_of(std::uintptr_t key) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>((std::uint64_t{key} * kGolden) >> (64 - kSlotBits));
}

/// A value and an int, as in a C struct: the types of MPI_MINLOC (MPI 4.1, section 6.9.4).
struct PairType {
  MPI_Datatype handle;
  std::int64_t value_bytes;
  std::int64_t int_offset;
};

template <typename Value>
PairType pair_type(MPI_Datatype handle) {
  struct Pair {
    Value value;
    int index;
  };
  return {handle, sizeof(Value), offsetof(Pair, index)};
}

Result<Dataloop> describe_pair(const PairType& pair) {
  const std::array<std::int64_t, 2> lengths = {pair.value_bytes, sizeof(int)};
  const std::array<std::int64_t, 2> displacements = {0, pair.int_offset};
  return Dataloop::indexed(lengths, displacements, Dataloop::bytes(1));
}

Result<Dataloop> describe_data(MPI_Datatype type, std::int64_t size) {
  const PairType pairs[] = {
      pair_type<float>(MPI_FLOAT_INT), pair_type<double>(MPI_DOUBLE_INT),
      pair_type<long>(MPI_LONG_INT),   pair_type<int>(MPI_2INT),
      pair_type<short>(MPI_SHORT_INT), pair_type<long double>(MPI_LONG_DOUBLE_INT)};
  for (const PairType& pair : pairs) {
    if (pair.handle == type) return describe_pair(pair);
  }
  return Dataloop::bytes(size);
}

}  // namespace

const Dataloop* find_predefined(MPI_Datatype type) {
  const std::uintptr_t key = key_of(type);
  for (std::size_t at = home_of(key);; at = (at + 1) % kSlots) {
    const std::uintptr_t there = slots[at].key.load(std::memory_order_acquire);
    if (there == key) return &slots[at].loop;
    if (there == 0) return nullptr;
  }
}

const Dataloop* keep_predefined(MPI_Datatype type, const Dataloop& loop) {
  if (kept == kMostKept) return nullptr;
  const std::uintptr_t key = key_of(type);
  std::size_t at = home_of(key);
  while (slots[at].key.load(std::memory_order_relaxed) != 0) at = (at + 1) % kSlots;
  slots[at].loop = loop;
  slots[at].key.store(key, std::memory_order_release);
  ++kept;
  return &slots[at].loop;
}

Result<Dataloop> describe_predefined(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  int rc = host().Type_size_x(type, &size);
  if (rc == MPI_SUCCESS) rc = host().Type_get_extent_x(type, &lb, &extent);
  if (rc != MPI_SUCCESS) return host_status(rc, "the host MPI does not know the datatype");
  Result<Dataloop> data = describe_data(type, size);
  if (data.ok() && data->size() != size) {
    return failure(Errc::internal, "the host MPI has an unknown layout for a pair type");
  }
  if (!data.ok() || (data->lb() == lb && data->extent() == extent)) return data;
  return Dataloop::resized(lb, extent, *data);
}

}  // namespace tamis
