#include "random_io_types.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace random_io {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

Rng Rng::split(std::uint64_t salt) const { return Rng(mix(state_ ^ mix(salt))); }

std::uint64_t Rng::next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

std::int64_t Rng::below(std::int64_t bound) {
  return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
}

std::int64_t Rng::between(std::int64_t least, std::int64_t most) {
  return least + below(most - least + 1);
}

namespace {

/// Puts copies of types at byte displacements, in type-map order, and keeps the bounds.
class Assembly {
 public:
  void put(const Type& child, std::int64_t at) {
    for (const Run& run : child.runs) append({at + run.offset, run.length});
    lower_ = empty_ ? at + child.lb : std::min(lower_, at + child.lb);
    upper_ = empty_ ? at + child.lb + child.extent : std::max(upper_, at + child.lb + child.extent);
    result_.size += child.size;
    empty_ = false;
  }
  void put_block(const Type& child, std::int64_t at, int length) {
    for (int i = 0; i < length; ++i) put(child, at + i * child.extent);
  }
  Type finish(MPI_Datatype handle, std::string text) {
    result_.handle = handle;
    result_.text = std::move(text);
    result_.lb = lower_;
    result_.extent = upper_ - lower_;
    return std::move(result_);
  }

 private:
  void append(Run run) {
    auto& runs = result_.runs;
    if (!runs.empty() && runs.back().offset + runs.back().length == run.offset) {
      runs.back().length += run.length;
    } else {
      runs.push_back(run);
    }
  }
  Type result_;
  std::int64_t lower_ = 0, upper_ = 0;
  bool empty_ = true;
};

template <typename T>
std::string list(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < 12; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(values[i]);
  }
  return text + (values.size() > 12 ? ",.." + std::to_string(values.size()) + "]" : "]");
}

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

Builder::~Builder() {
  for (MPI_Datatype& type : made_) MPI_Type_free(&type);
}

MPI_Datatype Builder::keep(MPI_Datatype made) {
  made_.push_back(made);
  return made;
}

/// An MPI may round up the extent of what was placed in bytes (section 5.1.6 of the standard), so
/// such a type has its bounds set.
Type Builder::exact(const Type& type) { return resized(type, type.lb, type.extent); }

Type Builder::named(MPI_Datatype handle, std::int64_t size, const char* name) {
  return {handle, {{0, size}}, 0, size, size, name};
}

Type Builder::contiguous(int count, const Type& child) {
  Assembly assembly;
  assembly.put_block(child, 0, count);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) MPI_Type_contiguous(count, child.handle, &handle), keep(handle);
  return assembly.finish(handle, "contiguous(" + number(count) + "," + child.text + ")");
}

Type Builder::vector(int count, int length, int stride, const Type& child) {
  Assembly assembly;
  for (int i = 0; i < count; ++i) assembly.put_block(child, i * stride * child.extent, length);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) MPI_Type_vector(count, length, stride, child.handle, &handle), keep(handle);
  return assembly.finish(handle, "vector(" + number(count) + "," + number(length) + "," +
                                     number(stride) + "," + child.text + ")");
}

Type Builder::hvector(int count, int length, std::int64_t stride, const Type& child) {
  Assembly assembly;
  for (int i = 0; i < count; ++i) assembly.put_block(child, i * stride, length);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) MPI_Type_create_hvector(count, length, stride, child.handle, &handle), keep(handle);
  return exact(assembly.finish(handle, "hvector(" + number(count) + "," + number(length) + "," +
                                           number(stride) + "," + child.text + ")"));
}

Type Builder::indexed(const std::vector<int>& lengths, const std::vector<int>& places,
                      const Type& child) {
  Assembly assembly;
  for (std::size_t i = 0; i < places.size(); ++i) {
    assembly.put_block(child, places[i] * child.extent, lengths[i]);
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  const int count = static_cast<int>(places.size());
  if (real_) {
    MPI_Type_indexed(count, lengths.data(), places.data(), child.handle, &handle), keep(handle);
  }
  return assembly.finish(handle,
                         "indexed(" + list(lengths) + "," + list(places) + "," + child.text + ")");
}

Type Builder::hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places,
                       const Type& child) {
  Assembly assembly;
  for (std::size_t i = 0; i < places.size(); ++i) {
    assembly.put_block(child, places[i], lengths[i]);
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(),
                             child.handle, &handle);
    keep(handle);
  }
  return exact(assembly.finish(
      handle, "hindexed(" + list(lengths) + "," + list(places) + "," + child.text + ")"));
}

Type Builder::indexed_block(int length, const std::vector<int>& places, const Type& child) {
  Assembly assembly;
  for (const int place : places) assembly.put_block(child, place * child.extent, length);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_indexed_block(static_cast<int>(places.size()), length, places.data(),
                                  child.handle, &handle);
    keep(handle);
  }
  return assembly.finish(
      handle, "indexed_block(" + number(length) + "," + list(places) + "," + child.text + ")");
}

Type Builder::hindexed_block(int length, const std::vector<MPI_Aint>& places, const Type& child) {
  Assembly assembly;
  for (const MPI_Aint place : places) assembly.put_block(child, place, length);
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(),
                                   child.handle, &handle);
    keep(handle);
  }
  return exact(assembly.finish(
      handle, "hindexed_block(" + number(length) + "," + list(places) + "," + child.text + ")"));
}

Type Builder::structure(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places,
                        const std::vector<Type>& children) {
  Assembly assembly;
  std::vector<MPI_Datatype> handles;
  std::string text = "struct(" + list(lengths) + "," + list(places);
  for (std::size_t i = 0; i < children.size(); ++i) {
    assembly.put_block(children[i], places[i], lengths[i]);
    handles.push_back(children[i].handle);
    if (i < 4) text += "," + children[i].text;
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_struct(static_cast<int>(children.size()), lengths.data(), places.data(),
                           handles.data(), &handle);
    keep(handle);
  }
  return exact(assembly.finish(handle, text + ")"));
}

namespace {

/// Calls `visit(element index)` for every index vector inside the box, in the order of the array.
template <typename Owns, typename Visit>
void walk_array(const std::vector<int>& sizes, int order, Owns owns, Visit visit) {
  const std::size_t dims = sizes.size();
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                                           [](std::int64_t a, int b) { return a * b; });
  std::vector<int> index(dims);
  for (std::int64_t element = 0; element < all; ++element) {
    std::int64_t rest = element;
    for (std::size_t i = 0; i < dims; ++i) {
      const std::size_t d = order == MPI_ORDER_C ? dims - 1 - i : i;  // the fastest first
      index[d] = static_cast<int>(rest % sizes[d]);
      rest /= sizes[d];
    }
    if (owns(index)) visit(element);
  }
}

Type whole_array(Type type, std::int64_t elements, const Type& child) {
  type.lb = 0;
  type.extent = elements * child.extent;
  return type;
}

}  // namespace

Type Builder::subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes,
                       const std::vector<int>& starts, int order, const Type& child) {
  Assembly assembly;
  const auto inside = [&](const std::vector<int>& index) {
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < starts[d] || index[d] >= starts[d] + subsizes[d]) return false;
    }
    return true;
  };
  walk_array(sizes, order, inside,
             [&](std::int64_t at) { assembly.put(child, at * child.extent); });
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), subsizes.data(),
                             starts.data(), order, child.handle, &handle);
    keep(handle);
  }
  std::int64_t elements = 1;
  for (const int size : sizes) elements *= size;
  return whole_array(
      assembly.finish(handle, "subarray(" + list(sizes) + "," + list(subsizes) + "," +
                                  list(starts) + (order == MPI_ORDER_C ? ",C," : ",F,") +
                                  child.text + ")"),
      elements, child);
}

Type Builder::darray(int rank, const std::vector<Dimension>& dimensions, int order,
                     const Type& child) {
  std::vector<int> sizes, distributions, arguments, processes, coords(dimensions.size());
  int ranks = 1, rest = rank;
  for (const Dimension& d : dimensions) {
    sizes.push_back(d.size);
    distributions.push_back(d.distribution);
    arguments.push_back(d.argument);
    processes.push_back(d.processes);
    ranks *= d.processes;
  }
  for (std::size_t d = dimensions.size(); d-- > 0; rest /= processes[d])
    coords[d] = rest % processes[d];
  const auto owned = [&](const std::vector<int>& index) {
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (distributions[d] == MPI_DISTRIBUTE_NONE) continue;
      const int block = index[d] / arguments[d];
      if ((distributions[d] == MPI_DISTRIBUTE_BLOCK ? block : block % processes[d]) != coords[d]) {
        return false;
      }
    }
    return true;
  };
  Assembly assembly;
  walk_array(sizes, order, owned, [&](std::int64_t at) { assembly.put(child, at * child.extent); });
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  if (real_) {
    MPI_Type_create_darray(ranks, rank, static_cast<int>(sizes.size()), sizes.data(),
                           distributions.data(), arguments.data(), processes.data(), order,
                           child.handle, &handle);
    keep(handle);
  }
  std::int64_t elements = 1;
  for (const int size : sizes) elements *= size;
  return whole_array(
      assembly.finish(handle, "darray(rank " + number(rank) + "," + list(sizes) + ",dist" +
                                  list(distributions) + ",args" + list(arguments) + ",grid" +
                                  list(processes) + (order == MPI_ORDER_C ? ",C," : ",F,") +
                                  child.text + ")"),
      elements, child);
}

Type Builder::resized(const Type& child, std::int64_t lb, std::int64_t extent) {
  Type type = child;
  type.lb = lb;
  type.extent = extent;
  type.text = "resized(" + number(lb) + "," + number(extent) + "," + child.text + ")";
  if (real_) {
    MPI_Type_create_resized(child.handle, lb, extent, &type.handle);
    keep(type.handle);
  }
  return type;
}

Type Builder::dup(const Type& child) {
  Type type = child;
  type.text = "dup(" + child.text + ")";
  if (real_) MPI_Type_dup(child.handle, &type.handle), keep(type.handle);
  return type;
}

void Builder::commit(Type& type) {
  if (!real_) return;
  MPI_Type_commit(&type.handle);
  MPI_Aint lb = 0, extent = 0;
  int size = 0;
  MPI_Type_get_extent(type.handle, &lb, &extent);
  MPI_Type_size(type.handle, &size);
  if (lb == type.lb && extent == type.extent && size == type.size) return;
  std::fprintf(stderr,
               "random_io: the MPI and the oracle disagree on a type (lb %ld/%ld, extent %ld/%ld, "
               "size %d/%ld): %s\n",
               static_cast<long>(lb), static_cast<long>(type.lb), static_cast<long>(extent),
               static_cast<long>(type.extent), size, static_cast<long>(type.size),
               type.text.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
}

}  // namespace random_io
