#include "sim/workloads.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace tamis::sim {
namespace {

constexpr std::int64_t kDouble = 8;

Part endless(const Dataloop& loop, std::int64_t whole, std::int64_t place, std::int64_t bytes) {
  return {{*Dataloop::resized(0, whole, loop), place, Layout::kEndless}, bytes};
}

/// Powers of two whose product is the largest power of two up to `ranks`, the first ones larger.
template <std::size_t N>
std::array<std::int64_t, N> halved(int ranks) {
  std::array<std::int64_t, N> parts;
  parts.fill(1);
  for (std::size_t i = 0; ranks > 1; ranks /= 2, ++i) parts[i % N] *= 2;
  return parts;
}

int any(int ranks) { return ranks; }
int power_of_two(int ranks) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
}
int root_of(int ranks) {
  int root = 1;
  while ((root + 1) * (root + 1) <= ranks) ++root;
  return root;
}
int square(int ranks) { return root_of(ranks) * root_of(ranks); }

Part dist3d(int rank, int ranks, int /*call*/) {
  const auto parts = halved<3>(ranks);
  return block_part(std::array{parts[0] * 8, parts[1] * 8, parts[2] * 16}, parts, kDouble, rank);
}

Part block2d(int rank, int ranks, int /*call*/) {
  const auto parts = halved<2>(ranks);
  return block_part(std::array{parts[0] * 16, parts[1] * 64}, parts, kDouble, rank);
}

Part btio(int rank, int ranks, int /*call*/) {
  // Cells of so many points that a rank has about 8 KiB, but at least one.
  const int root = root_of(ranks);
  const std::int64_t side = root <= 32 ? 2 : 1;
  return btio_part(side * root, 5 * kDouble, rank, ranks);
}

Part hpio(int rank, int ranks, int /*call*/) {
  constexpr std::int64_t kRegion = 64;
  constexpr std::int64_t kRegions = 128;
  return endless(Dataloop::bytes(kRegion), ranks * kRegion, rank * kRegion, kRegion * kRegions);
}

Part unstruc(int rank, int ranks, int /*call*/) { return scattered_part(32, 64, rank, ranks); }

// Paper 001, section 6.4: all time steps of a data point lie together. A rank has some points, and
// writes one step of each: 32 bytes of every 32 * steps.
Part timesteps(int rank, int /*ranks*/, int call) {
  constexpr std::int64_t kElement = 32;
  constexpr std::int64_t kSteps = 8;
  constexpr std::int64_t kPoints = 64;
  const std::int64_t first = rank * kPoints * kSteps * kElement;
  return endless(Dataloop::bytes(kElement), kElement * kSteps, first + call * kElement,
                 kPoints * kElement);
}

}  // namespace

Part block_part(std::span<const std::int64_t> size, std::span<const std::int64_t> parts,
                std::int64_t element, int rank) {
  Dataloop loop = Dataloop::bytes(element);
  std::int64_t row = element;
  std::int64_t place = 0;
  std::int64_t bytes = element;
  for (std::size_t i = size.size(); i-- > 0;) {
    const std::int64_t length = size[i] / parts[i];
    place += rank % parts[i] * length * row;
    rank = static_cast<int>(rank / parts[i]);
    loop = *Dataloop::vector(length, 1, row, loop);
    row *= size[i];
    bytes *= length;
  }
  return endless(loop, row, place, bytes);
}

Part btio_part(std::int64_t edge, std::int64_t point, int rank, int ranks) {
  const std::int64_t root = root_of(ranks);
  const auto begin = [&](std::int64_t cell) { return cell * edge / root; };
  std::vector<Dataloop> cells;
  std::vector<std::int64_t> places;
  std::int64_t bytes = 0;
  for (std::int64_t z = 0; z < root; ++z) {
    const std::int64_t y = (rank / root - z + root) % root;
    const std::int64_t x = (rank % root + z) % root;
    const std::int64_t rows[3] = {begin(z + 1) - begin(z), begin(y + 1) - begin(y),
                                  begin(x + 1) - begin(x)};
    const Dataloop row = Dataloop::bytes(rows[2] * point);
    const Dataloop plane = *Dataloop::vector(rows[1], 1, edge * point, row);
    cells.push_back(*Dataloop::vector(rows[0], 1, edge * edge * point, plane));
    places.push_back(((begin(z) * edge + begin(y)) * edge + begin(x)) * point);
    bytes += rows[0] * rows[1] * rows[2] * point;
  }
  const std::vector<std::int64_t> once(cells.size(), 1);
  return endless(*Dataloop::structure(once, places, cells), edge * edge * edge * point, 0, bytes);
}

// Places are i * odd modulo a power of two, which meets every place once.
Part scattered_part(std::int64_t count, std::int64_t element, int rank, int ranks) {
  const auto all = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(ranks);
  const std::uint64_t places_in_all = std::bit_ceil(all);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(rank * count + i);
    const std::uint64_t place = number * 0x9e3779b97f4a7c15u % places_in_all;
    places.push_back(static_cast<std::int64_t>(place) * element);
  }
  std::ranges::sort(places);
  const auto whole = static_cast<std::int64_t>(places_in_all) * element;
  return endless(*Dataloop::blockindexed(1, places, Dataloop::bytes(element)), whole, 0,
                 count * element);
}

std::span<const ScaledWorkload> scaled_workloads() {
  static constexpr std::array kAll = {
      ScaledWorkload{"dist3d", "000, tables 1, 2", 1, false, power_of_two, dist3d},
      ScaledWorkload{"block2d", "002, figure 1", 1, false, power_of_two, block2d},
      ScaledWorkload{"btio", "000, tables 3, 4", 1, false, square, btio},
      ScaledWorkload{"hpio", "001, figure 4", 1, false, any, hpio},
      ScaledWorkload{"unstruc", "000, tables 5, 6", 1, false, power_of_two, unstruc},
      ScaledWorkload{"checkpoints", "000, section 5.1", 4, false, power_of_two, dist3d},
      ScaledWorkload{"timesteps", "001, figures 6, 7", 4, true, any, timesteps},
  };
  return kAll;
}

}  // namespace tamis::sim
