#include "scale_paragon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fleet.hpp"
#include "sim/papers.hpp"

namespace tamis::scale {
namespace {

using sim::Fleet;
using sim::Part;

constexpr int kRanks = 256;
constexpr double kMega = 1 << 20;

/// A row of the paper: MB/s by Unix-style accesses, data sieving, collective I/O; 0: not measured.
struct Row {
  std::string_view table;
  Direction direction;
  double measured[3];
  bool fitted[3];  ///< the machine's figures were chosen to meet it
  Part (*part)(int rank, int ranks);
};

Part dist3d(int rank, int /*ranks*/) {
  return sim::block_part(std::array<std::int64_t, 3>{512, 512, 512},
                         std::array<std::int64_t, 3>{8, 8, 4}, 4, rank);
}
Part btio(int rank, int ranks) { return sim::btio_part(162, 40, rank, ranks); }
Part unstruc(int rank, int ranks) {
  return sim::scattered_part((8 << 20) / ranks, 64, rank, ranks);
}

constexpr Direction kRead = Direction::read;
constexpr Direction kWrite = Direction::write;
constexpr std::array kRows = {
    Row{"1: DIST3D, read", kRead, {3.01, 9.50, 132}, {true, true, true}, dist3d},
    Row{"2: DIST3D, write", kWrite, {1.12, 3.33, 183}, {true, false, true}, dist3d},
    Row{"3: BTIO, read", kRead, {2.28, 1.23, 82.0}, {false, false, false}, btio},
    Row{"4: BTIO, write", kWrite, {1.37, 0.45, 98.8}, {false, false, false}, btio},
    Row{"5: UNSTRUC, read", kRead, {0, 1.18, 78.4}, {false, false, false}, unstruc},
    Row{"6: UNSTRUC, write", kWrite, {0, 0.22, 94.9}, {false, false, false}, unstruc},
};

double wanted_bytes(const Row& row) {
  double bytes = 0;
  for (int rank = 0; rank < kRanks; ++rank)
    bytes += static_cast<double>(row.part(rank, kRanks).bytes);
  return bytes;
}

/// MB/s of all ranks with these hints.
double simulated(const Row& row, const std::vector<HintText>& hints, bool together) {
  Fleet fleet(sim::paragon(), kRanks);
  const auto parts = [&](int rank) { return row.part(rank, kRanks); };
  if (!fleet.open(hints).ok || !fleet.set_view(parts).ok) return 0;
  fleet.storage().set_size(std::int64_t{1} << 30);
  const sim::Cost cost = fleet.move(row.direction, parts, 0, together);
  static_cast<void>(fleet.close());
  return cost.ok ? wanted_bytes(row) / kMega / (cost.ns / 1e9) : 0;
}

/// MB/s of the original two-phase method by its formula.
double modelled(const Row& row) {
  sim::Job job{.direction = row.direction, .ranks = kRanks, .aggregators = kRanks};
  const Part part = row.part(kRanks / 2, kRanks);
  job.bytes = part.bytes;
  job.pieces = part.view.blocks_in(0, part.bytes);
  job.region = static_cast<std::int64_t>(wanted_bytes(row));
  const std::int64_t realm = job.region / kRanks;
  job.owners = 0;
  for (int i = 0; i < kRanks; ++i) {
    const std::int64_t first = std::min(part.view.position_of(i * realm), part.bytes);
    if (std::min(part.view.position_of((i + 1) * realm), part.bytes) > first) ++job.owners;
  }
  job.shares = job.owners;
  const sim::Estimate e = sim::original_two_phase(job, sim::paragon());
  return static_cast<double>(job.region) / kMega / (e.ns / 1e9);
}

std::string cell(double measured, double computed, bool fitted) {
  if (measured == 0) return fmt::format("– | {:.2f} | ", computed);
  return fmt::format("{} | {:.2f} | {:+.0f} %{}", measured, computed,
                     100 * (computed / measured - 1), fitted ? " (fitted)" : "");
}

}  // namespace

void print_paragon() {
  fmt::print(
      "| table of 000 | way | measured there, MB/s | computed, MB/s | off "
      "|\n|---|---|---:|---:|---|\n");
  const std::vector<HintText> unix_style = {{"tamis_method", "list"}};
  const std::vector<HintText> sieving = {
      {"tamis_method", "sieve"}, {"romio_ds_read", "enable"}, {"romio_ds_write", "enable"}};
  const std::vector<HintText> together = {{"romio_cb_read", "enable"},
                                          {"romio_cb_write", "enable"},
                                          {"cb_buffer_size", "4194304"},
                                          {"cb_nodes", "256"}};
  for (const Row& row : kRows) {
    const auto line = [&](std::string_view way, double measured, double computed, bool fitted) {
      fmt::print("| {} | {} | {} |\n", row.table, way, cell(measured, computed, fitted));
      std::fflush(stdout);
    };
    if (row.measured[0] > 0)
      line("Unix-style, Tamis's engine", row.measured[0], simulated(row, unix_style, false),
           row.fitted[0]);
    line("data sieving, Tamis's engine", row.measured[1], simulated(row, sieving, false),
         row.fitted[1]);
    line("collective, ROMIO's formula", row.measured[2], modelled(row), row.fitted[2]);
    if (row.measured[0] > 0)  // a random map of the whole file takes the simulation too long
      line("collective, Tamis's engine", 0, simulated(row, together, true), false);
  }
}

}  // namespace tamis::scale
