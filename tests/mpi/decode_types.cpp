#include "decode_types.hpp"

#include <algorithm>
#include <array>

namespace tamis::test {
namespace {

constexpr int kKinds = 14;

#if defined(OPEN_MPI)
constexpr bool kNestsEmptyTypes = true;
#else
// MPICH 4.0 divides by zero when it packs a struct that holds a type without bytes.
constexpr bool kNestsEmptyTypes = false;
#endif

/// Widens the arguments of a constructor's int form for its MPI_Count form.
[[maybe_unused]] std::vector<MPI_Count> wide(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TypeMaker::~TypeMaker() {
  for (MPI_Datatype& type : made_) MPI_Type_free(&type);
}

bool TypeMaker::large_counts() { return MPI_VERSION >= 4 && number(0, 1) == 1; }

MPI_Datatype TypeMaker::own(MPI_Datatype type, const char* maker) {
  if (type == MPI_DATATYPE_NULL) return type;
  story_ = std::string(maker) + '(' + story_ + ')';
  made_.push_back(type);
  return type;
}

bool TypeMaker::is_modest(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_true_extent_x(type, &lb, &extent);
  return (size > 0 || kNestsEmptyTypes) && size <= 4000 && extent <= 200000 && lb > -200000 &&
         lb < 200000;
}

MPI_Datatype TypeMaker::make(int depth) {
  story_.clear();
  MPI_Datatype type = named();
  for (int i = 0; i < depth && is_modest(type); ++i) {
    // Hosts refuse some arrays that the standard allows (Open MPI: darrays of which a rank has
    // none).
    const MPI_Datatype next = derive(type);
    if (next != MPI_DATATYPE_NULL) type = next;
  }
  if (!made_.empty()) MPI_Type_commit(&type);
  return type;
}

// Without long double: hosts do not copy the bytes that fill it up.
MPI_Datatype TypeMaker::named() {
  const std::array types = {MPI_BYTE,       MPI_CHAR,      MPI_SHORT,           MPI_INT,
                            MPI_DOUBLE,     MPI_PACKED,    MPI_COUNT,           MPI_UNSIGNED,
                            MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_UNSIGNED_CHAR,   MPI_2INT,
                            MPI_FLOAT_INT,  MPI_LONG_INT,  MPI_C_BOOL,          MPI_OFFSET,
                            MPI_INT64_T,    MPI_INTEGER,   MPI_DOUBLE_COMPLEX,  MPI_2INTEGER,
                            MPI_AINT,       MPI_CHARACTER, MPI_C_DOUBLE_COMPLEX};
  const int pick = number(0, static_cast<int>(types.size()) + 2);
  MPI_Datatype parameterised = MPI_DATATYPE_NULL;
  if (pick == static_cast<int>(types.size())) MPI_Type_create_f90_real(6, 30, &parameterised);
  if (pick == static_cast<int>(types.size()) + 1) MPI_Type_create_f90_integer(9, &parameterised);
  if (pick == static_cast<int>(types.size()) + 2)
    MPI_Type_create_f90_complex(12, 100, &parameterised);
  story_ = "named " + std::to_string(pick);
  return parameterised != MPI_DATATYPE_NULL ? parameterised : types[static_cast<std::size_t>(pick)];
}

MPI_Datatype TypeMaker::derive(MPI_Datatype child) {
  const int kind = number(0, kKinds - 1);
  if (kind <= 3) return derive_regular(kind, child);
  if (kind <= 7) return derive_listed(kind - 4, child);
  if (kind <= 9) return derive_struct(child);
  if (kind == 10) return derive_subarray(child);
  if (kind <= 12) return derive_darray(child);
  return derive_resized(child);
}

MPI_Datatype TypeMaker::derive_regular(int kind, MPI_Datatype child) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int count = number(0, 5);
  const int block = number(0, 4);
  int stride = number(-9, 12);
  if (stride == -1) stride = -2;  // Open MPI 4.1 takes -1 for contiguous
  const bool large = large_counts();
  static_cast<void>(large);
  switch (kind) {
    case 0:
      MPI_Type_dup(child, &type);
      return own(type, "dup");
    case 1:
#if MPI_VERSION >= 4
      if (large) return MPI_Type_contiguous_c(count, child, &type), own(type, "contiguous_c");
#endif
      MPI_Type_contiguous(count, child, &type);
      return own(type, "contiguous");
    case 2:
#if MPI_VERSION >= 4
      if (large)
        return MPI_Type_vector_c(count, block, stride, child, &type), own(type, "vector_c");
#endif
      MPI_Type_vector(count, block, stride, child, &type);
      return own(type, "vector");
    default:
#if MPI_VERSION >= 4
      if (large) {
        return MPI_Type_create_hvector_c(count, block, stride * 7, child, &type),
               own(type, "hvector_c");
      }
#endif
      MPI_Type_create_hvector(count, block, stride * 7, child, &type);
      return own(type, "hvector");
  }
}

MPI_Datatype TypeMaker::derive_listed(int kind, MPI_Datatype child) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int count = number(0, 5);
  std::vector<int> blocks(1);
  std::vector<int> places(1);
  blocks.resize(static_cast<std::size_t>(std::max(count, 1)));
  places.resize(blocks.size());
  for (int& block : blocks) block = number(0, 4);
  for (int& place : places) place = number(-10, 30);
  const std::vector<MPI_Aint> addresses(places.begin(), places.end());
#if MPI_VERSION >= 4
  if (large_counts()) {
    const std::vector<MPI_Count> lengths = wide(blocks);
    const std::vector<MPI_Count> offsets = wide(places);
    switch (kind) {
      case 0:
        MPI_Type_indexed_c(count, lengths.data(), offsets.data(), child, &type);
        return own(type, "indexed_c");
      case 1:
        MPI_Type_create_hindexed_c(count, lengths.data(), offsets.data(), child, &type);
        return own(type, "hindexed_c");
      case 2:
        MPI_Type_create_indexed_block_c(count, blocks[0], offsets.data(), child, &type);
        return own(type, "indexed_block_c");
      default:
        MPI_Type_create_hindexed_block_c(count, blocks[0], offsets.data(), child, &type);
        return own(type, "hindexed_block_c");
    }
  }
#endif
  switch (kind) {
    case 0:
      MPI_Type_indexed(count, blocks.data(), places.data(), child, &type);
      return own(type, "indexed");
    case 1:
      MPI_Type_create_hindexed(count, blocks.data(), addresses.data(), child, &type);
      return own(type, "hindexed");
    case 2:
      MPI_Type_create_indexed_block(count, blocks[0], places.data(), child, &type);
      return own(type, "indexed_block");
    default:
      MPI_Type_create_hindexed_block(count, blocks[0], addresses.data(), child, &type);
      return own(type, "hindexed_block");
  }
}

MPI_Datatype TypeMaker::derive_struct(MPI_Datatype child) {
  const int count = number(1, 4);
  std::vector<int> blocks;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(number(0, 3));
    places.push_back(number(-20, 200));
    const int pick = number(0, 2);
    types.push_back(pick == 0 ? MPI_DOUBLE : pick == 1 && !made_.empty() ? made_.front() : child);
    if (!is_modest(types.back())) types.back() = MPI_CHAR;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
  if (large_counts()) {
    const std::vector<MPI_Count> lengths = wide(blocks);
    const std::vector<MPI_Count> offsets(places.begin(), places.end());
    MPI_Type_create_struct_c(count, lengths.data(), offsets.data(), types.data(), &type);
    return own(type, "struct_c");
  }
#endif
  MPI_Type_create_struct(count, blocks.data(), places.data(), types.data(), &type);
  return own(type, "struct");
}

MPI_Datatype TypeMaker::derive_subarray(MPI_Datatype child) {
  const int dimensions = number(1, 4);
  const int order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes;
  std::vector<int> taken;
  std::vector<int> starts;
  for (int i = 0; i < dimensions; ++i) {
    sizes.push_back(number(1, 5));
    taken.push_back(number(1, sizes.back()));
    starts.push_back(number(0, sizes.back() - taken.back()));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
  if (large_counts()) {
    MPI_Type_create_subarray_c(dimensions, wide(sizes).data(), wide(taken).data(),
                               wide(starts).data(), order, child, &type);
    return own(type, "subarray_c");
  }
#endif
  MPI_Type_create_subarray(dimensions, sizes.data(), taken.data(), starts.data(), order, child,
                           &type);
  return own(type, "subarray");
}

MPI_Datatype TypeMaker::derive_darray(MPI_Datatype child) {
  const int dimensions = number(1, 3);
  const int order = number(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  const std::array distributions = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                    MPI_DISTRIBUTE_NONE};
  std::vector<int> sizes;
  std::vector<int> kinds;
  std::vector<int> arguments;
  std::vector<int> grid;
  int processes = 1;
  for (int i = 0; i < dimensions; ++i) {
    sizes.push_back(number(1, 9));
    kinds.push_back(distributions[static_cast<std::size_t>(number(0, 2))]);
    grid.push_back(kinds.back() == MPI_DISTRIBUTE_NONE ? 1 : number(1, 3));
    const int least =
        kinds.back() == MPI_DISTRIBUTE_BLOCK ? (sizes.back() + grid.back() - 1) / grid.back() : 1;
    const bool chosen = kinds.back() != MPI_DISTRIBUTE_NONE && number(0, 1) == 1;
    arguments.push_back(chosen ? number(least, least + 3) : MPI_DISTRIBUTE_DFLT_DARG);
    processes *= grid.back();
  }
  const int rank = number(0, processes - 1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
  if (large_counts()) {
    MPI_Type_create_darray_c(processes, rank, dimensions, wide(sizes).data(), kinds.data(),
                             arguments.data(), grid.data(), order, child, &type);
    return own(type, "darray_c");
  }
#endif
  MPI_Type_create_darray(processes, rank, dimensions, sizes.data(), kinds.data(), arguments.data(),
                         grid.data(), order, child, &type);
  return own(type, "darray");
}

MPI_Datatype TypeMaker::derive_resized(MPI_Datatype child) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int lb = number(-40, 40);
  const int extent = number(0, 300);
#if MPI_VERSION >= 4
  if (large_counts()) {
    MPI_Type_create_resized_c(child, lb, extent, &type);
    return own(type, "resized_c");
  }
#endif
  MPI_Type_create_resized(child, lb, extent, &type);
  return own(type, "resized");
}

}  // namespace tamis::test
