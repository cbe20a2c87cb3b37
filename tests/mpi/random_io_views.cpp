#include "random_io_views.hpp"

#include <algorithm>

namespace random_io {

namespace {

constexpr std::int64_t stretch = 192 << 10;  // bytes of file that a scenario touches, about
constexpr std::int64_t lane = 40 << 10;      // of them for each rank where ranks lie apart

/// Lower bound zero, so that the type can be put down anywhere without overlap.
Type from_zero(Builder& builder, const Type& type) {
  return type.lb == 0 ? type : builder.resized(type, 0, type.lb + type.extent);
}

/// Lengths and ascending places (in units) of blocks that do not touch each other's bytes.
struct Blocks {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
};

Blocks random_blocks(Rng& rng, std::int64_t block_units, bool equal_lengths, std::int64_t gap_units,
                     bool shuffled) {
  Blocks blocks;
  const int count = static_cast<int>(rng.between(1, 6));
  const int equal = static_cast<int>(rng.between(1, 3));
  MPI_Aint at = rng.percent(50) ? 0 : rng.below(gap_units + 1);
  for (int i = 0; i < count; ++i) {
    const bool empty = !equal_lengths && i > 0 && rng.percent(10);
    const int length = equal_lengths ? equal : static_cast<int>(empty ? 0 : rng.between(1, 4));
    blocks.lengths.push_back(length);
    blocks.places.push_back(at);
    at += length * block_units + rng.below(gap_units + 1);
  }
  for (std::size_t i = blocks.places.size(); shuffled && i > 1; --i) {
    const auto j = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(i)));
    std::swap(blocks.places[i - 1], blocks.places[j]);
    std::swap(blocks.lengths[i - 1], blocks.lengths[j]);
  }
  return blocks;
}

std::vector<int> narrow(const std::vector<MPI_Aint>& places) {
  return {places.begin(), places.end()};
}

std::vector<MPI_Aint> scaled(std::vector<MPI_Aint> places, std::int64_t unit) {
  for (MPI_Aint& place : places) place *= unit;
  return places;
}

/// Blocks placed in bytes: multiples of the etype in a file, any gap in memory.
Type random_byte_blocks(Builder& builder, Rng& rng, const Type& child, const Type& etype,
                        const Rules& rules) {
  const std::int64_t unit = rules.file ? etype.extent : 1;
  const bool shuffled = !rules.file && rng.percent(40);
  const bool equal = rng.percent(40);
  const Blocks blocks = random_blocks(rng, child.extent / unit, equal, 40 / unit + 2, shuffled);
  const std::vector<MPI_Aint> places = scaled(blocks.places, unit);
  if (equal && rng.percent(60)) return builder.hindexed_block(blocks.lengths[0], places, child);
  if (rng.percent(50)) return builder.hindexed(blocks.lengths, places, child);
  return builder.structure(blocks.lengths, places, std::vector<Type>(blocks.lengths.size(), child));
}

Type random_element_blocks(Builder& builder, Rng& rng, const Type& child, const Rules& rules) {
  const bool shuffled = !rules.file && rng.percent(40);
  const bool equal = rng.percent(40);
  const Blocks blocks = random_blocks(rng, 1, equal, 3, shuffled);
  if (equal) return builder.indexed_block(blocks.lengths[0], narrow(blocks.places), child);
  return builder.indexed(blocks.lengths, narrow(blocks.places), child);
}

/// Two different children side by side.
Type random_pair(Builder& builder, Rng& rng, const Type& child, const Type& etype,
                 const Rules& rules) {
  const std::int64_t unit = rules.file ? etype.extent : 1;
  const Type first = from_zero(builder, child);
  const int few = static_cast<int>(rng.between(1, 5));
  const std::int64_t gap = unit * rng.below(4);
  return builder.structure({1, few}, {0, first.extent + gap}, {first, etype});
}

Type random_subarray(Builder& builder, Rng& rng, const Type& child) {
  std::vector<int> sizes, subsizes, starts;
  const int dims = static_cast<int>(rng.between(1, 3));
  for (int d = 0; d < dims; ++d) {
    sizes.push_back(static_cast<int>(rng.between(1, 6)));
    subsizes.push_back(static_cast<int>(rng.between(1, sizes.back())));
    starts.push_back(static_cast<int>(rng.between(0, sizes.back() - subsizes.back())));
  }
  return builder.subarray(sizes, subsizes, starts,
                          rng.percent(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                          from_zero(builder, child));
}

Type random_resized(Builder& builder, Rng& rng, const Type& child, const Type& etype,
                    const Rules& rules) {
  const std::int64_t unit = rules.file ? etype.extent : 1;
  const std::int64_t floor = rules.file ? 0 : child.lb - 20;
  const std::int64_t lower = child.lb - unit * rng.between(0, (child.lb - floor) / unit);
  const std::int64_t upper = child.lb + child.extent + unit * rng.below(20);
  return builder.resized(child, lower, upper - lower);
}

Type wrap(Builder& builder, Rng& rng, const Type& child, const Type& etype, const Rules& rules) {
  const auto few = [&](int most) { return static_cast<int>(rng.between(1, most)); };
  const int length = few(3);
  switch (rng.below(9)) {
    case 0:
      return builder.contiguous(few(5), child);
    case 1:
      return builder.vector(few(6), length, length + static_cast<int>(rng.below(4)), child);
    case 2: {
      const std::int64_t unit = rules.file ? etype.extent : 1;
      return builder.hvector(few(6), length, length * child.extent + unit * rng.below(9), child);
    }
    case 3:
      return random_element_blocks(builder, rng, child, rules);
    case 4:
      return random_byte_blocks(builder, rng, child, etype, rules);
    case 5:
      return random_pair(builder, rng, child, etype, rules);
    case 6:
      return random_subarray(builder, rng, child);
    case 7:
      return random_resized(builder, rng, child, etype, rules);
    default:
      return builder.dup(child);
  }
}

}  // namespace

Type random_type(Builder& builder, Rng& rng, const Type& etype, const Rules& rules) {
  Type type = etype;
  const std::int64_t depth = rng.between(0, rules.depth);
  for (std::int64_t level = 0; level < depth; ++level) {
    Type next = wrap(builder, rng, type, etype, rules);
    const bool fits = static_cast<int>(next.runs.size()) <= rules.most_runs &&
                      next.extent <= rules.most_extent && next.size > 0;
    if (!fits) break;
    type = std::move(next);
  }
  return type;
}

namespace {

Type random_etype(Builder& builder, Rng& rng) {
  switch (rng.below(7)) {
    case 0:
    case 1:
      return builder.named(MPI_BYTE, 1, "byte");
    case 2:
      return builder.named(MPI_SHORT, 2, "short");
    case 3:
      return builder.named(MPI_INT, 4, "int");
    case 4:
      return builder.named(MPI_DOUBLE, 8, "double");
    case 5:
      return builder.contiguous(3, builder.named(MPI_BYTE, 1, "byte"));
    default:
      return builder.contiguous(2, builder.named(MPI_INT, 4, "int"));
  }
}

/// Each rank its own nest of types; the nests lie side by side in a tile that repeats.
Type zones(Builder& builder, const Rng& common, const Type& etype, int rank, int ranks) {
  Builder shape(false);
  const Rules rules{.file = true, .depth = 3, .most_runs = 200, .most_extent = 4096};
  std::int64_t at = 0, mine = 0;
  for (int r = 0; r < ranks; ++r) {
    Rng rng = common.split(static_cast<std::uint64_t>(1000 + r));
    const Type nest = random_type(shape, rng, etype, rules);
    if (r == rank) mine = at;
    at += nest.lb + nest.extent + etype.extent * rng.below(4);
  }
  Rng rng = common.split(static_cast<std::uint64_t>(1000 + rank));
  const Type nest = random_type(builder, rng, etype, rules);
  return builder.resized(builder.hindexed({1}, {mine}, nest), 0, at);
}

/// Who owns which slot of a tile; -1: nobody.
std::vector<int> slot_owners(Rng& rng, int ranks) {
  std::vector<int> owners;
  const int count = static_cast<int>(rng.between(ranks, 30 * ranks));
  const int run = static_cast<int>(rng.between(1, 5));
  const bool cyclic = rng.percent(40);
  const int holes = rng.percent(50) ? 0 : static_cast<int>(rng.below(60));
  for (int i = 0; i < count; ++i) {
    const int owner = cyclic ? i / run % ranks : static_cast<int>(rng.below(ranks));
    owners.push_back(rng.percent(holes) ? -1 : owner);
  }
  for (int r = 0; r < ranks; ++r) owners[static_cast<std::size_t>(count - 1 - r)] = r;
  return owners;
}

Type slots(Builder& builder, const Rng& common, const Type& etype, int rank, int ranks) {
  Rng rng = common.split(1);
  const std::vector<int> owners = slot_owners(rng, ranks);
  Rng own = common.split(static_cast<std::uint64_t>(2000 + rank));
  const bool merged = own.percent(60);
  std::vector<int> lengths, places;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] != rank) continue;
    if (merged && !places.empty() && places.back() + lengths.back() == static_cast<int>(i)) {
      ++lengths.back();
    } else {
      places.push_back(static_cast<int>(i));
      lengths.push_back(1);
    }
  }
  std::vector<MPI_Aint> offsets;
  for (const int place : places) offsets.push_back(place * etype.extent);
  Type type;
  switch (own.below(merged ? 3 : 5)) {
    case 0:
      type = builder.indexed(lengths, places, etype);
      break;
    case 1:
      type = builder.hindexed(lengths, offsets, etype);
      break;
    case 2:
      type = builder.structure(lengths, offsets, std::vector<Type>(lengths.size(), etype));
      break;
    case 3:
      type = builder.indexed_block(1, places, etype);
      break;
    default:
      type = builder.hindexed_block(1, offsets, etype);
      break;
  }
  return builder.resized(type, 0, static_cast<std::int64_t>(owners.size()) * etype.extent);
}

/// A grid of `ranks` processes over up to three dimensions.
std::vector<int> random_grid(Rng& rng, int ranks) {
  std::vector<int> grid(static_cast<std::size_t>(rng.between(1, 3)), 1);
  for (int factor = 2; ranks > 1; ++factor) {
    for (; ranks % factor == 0; ranks /= factor)
      grid[rng.below(static_cast<int>(grid.size()))] *= factor;
  }
  return grid;
}

Type block_subarray(Builder& builder, const Rng& common, const Type& etype, int rank, int ranks) {
  Rng rng = common.split(1);
  const std::vector<int> grid = random_grid(rng, ranks);
  const int order = rng.percent(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes, subsizes, starts;
  for (std::size_t d = 0; d < grid.size(); ++d) {
    const int size =
        grid[d] * static_cast<int>(rng.between(1, 7)) + static_cast<int>(rng.below(grid[d]));
    const int coord = rank % grid[d];
    rank /= grid[d];
    const int start = size * coord / grid[d];
    sizes.push_back(size);
    starts.push_back(start);
    subsizes.push_back(size * (coord + 1) / grid[d] - start);
  }
  return builder.subarray(sizes, subsizes, starts, order, etype);
}

Type block_darray(Builder& builder, const Rng& common, const Type& etype, int rank, int ranks) {
  Rng rng = common.split(1);
  std::vector<Builder::Dimension> dimensions;
  for (const int processes : random_grid(rng, ranks)) {
    const int k = static_cast<int>(rng.between(1, 3));
    const int blocks = processes * static_cast<int>(rng.between(1, 3));
    const auto ragged = static_cast<int>(rng.below(k));
    if (rng.percent(50)) {
      dimensions.push_back({blocks * k - ragged, MPI_DISTRIBUTE_CYCLIC, k, processes});
    } else if (processes == 1 && rng.percent(50)) {
      dimensions.push_back({blocks, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 1});
    } else {
      dimensions.push_back({processes * k - ragged, MPI_DISTRIBUTE_BLOCK, k, processes});
    }
  }
  const int order = rng.percent(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  return builder.darray(rank, dimensions, order, etype);
}

}  // namespace

View make_view(Builder& builder, Pattern pattern, const Rng& common, int rank, int ranks) {
  Rng rng = common.split(7);
  View view;
  view.etype = random_etype(builder, rng);
  view.disp = rng.percent(40) ? 0 : rng.below(3000);
  Rng own = common.split(static_cast<std::uint64_t>(3000 + rank));
  const Rules rules{.file = true, .depth = 3, .most_extent = lane};
  std::int64_t reach = stretch;
  switch (pattern) {
    case Pattern::bytes:
      view.filetype = view.etype;
      view.disp += rank * lane;
      reach = lane;
      break;
    case Pattern::zones:
      view.filetype = zones(builder, common, view.etype, rank, ranks);
      break;
    case Pattern::slots:
      view.filetype = slots(builder, common, view.etype, rank, ranks);
      break;
    case Pattern::subarray:
      view.filetype = block_subarray(builder, common, view.etype, rank, ranks);
      break;
    case Pattern::darray:
      view.filetype = block_darray(builder, common, view.etype, rank, ranks);
      break;
    case Pattern::separate:
      view.filetype = random_type(builder, own, view.etype, rules);
      view.disp += rank * 2 * lane;
      reach = lane;
      break;
    case Pattern::overlapping:
      view.filetype = random_type(builder, own, view.etype, rules);
      view.disp = own.below(20000);
      break;
  }
  const std::int64_t tiles = std::max<std::int64_t>(1, reach / view.filetype.extent);
  view.limit = tiles * etypes_in(view.filetype, view.etype);
  builder.commit(view.etype);
  builder.commit(view.filetype);
  return view;
}

void walk(const View& view, std::int64_t first, std::int64_t bytes,
          const std::function<void(std::int64_t, std::int64_t)>& visit) {
  const Type& type = view.filetype;
  std::int64_t tile = first / type.size, skip = first % type.size;
  for (; bytes > 0; ++tile) {
    const std::int64_t base = view.disp + tile * type.extent;
    for (const Run& run : type.runs) {
      if (bytes == 0) break;
      const std::int64_t unused = std::min(skip, run.length);
      skip -= unused;
      const std::int64_t length = std::min(run.length - unused, bytes);
      if (length > 0) visit(base + run.offset + unused, length);
      bytes -= length;
    }
  }
}

MPI_Info random_hints(Rng& rng, std::string& text) {
  struct Choice {
    const char* key;
    std::vector<const char*> values;
  };
  const std::vector<const char*> switches = {"automatic", "enable", "disable"};
  const std::vector<Choice> choices = {
      {"cb_buffer_size", {"4096", "5000", "16384", "65536"}},
      {"ind_rd_buffer_size", {"512", "4096", "5000", "65536"}},
      {"ind_wr_buffer_size", {"512", "4096", "5000", "65536"}},
      {"romio_cb_read", switches},
      {"romio_cb_write", switches},
      {"romio_ds_read", switches},
      {"romio_ds_write", switches},
      {"cb_nodes", {"1", "2", "3", "8"}},
      {"striping_unit", {"4096", "1000"}},
      {"tamis_pretend_nodes", {"1", "2", "3", "4"}},
      {"tamis_shared_memory", {"automatic", "enable", "disable"}},
      {"tamis_realms", {"automatic", "even", "balanced", "cyclic", "persistent"}},
      {"tamis_async", {"automatic", "disable", "enable", "io_uring"}},
      {"tamis_write_behind", {"0", "0", "1", "20000", "1M"}},
  };
  MPI_Info info;
  MPI_Info_create(&info);
  text.clear();
  for (const Choice& choice : choices) {
    const char* value = rng.pick(choice.values);
    if (rng.percent(40)) continue;
    MPI_Info_set(info, choice.key, value);
    text += std::string(" ") + choice.key + "=" + value;
  }
  return info;
}

}  // namespace random_io
