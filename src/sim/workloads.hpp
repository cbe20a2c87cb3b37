#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "layout/layout.hpp"

namespace tamis::sim {

/// What one rank has of a workload's file.
struct Part {
  Layout view;             ///< endless
  std::int64_t bytes = 0;  ///< of one call
};

/// A workload of the papers, scaled by the number of ranks so that every rank has about 8 KiB.
struct ScaledWorkload {
  std::string_view name;
  std::string_view paper;
  int calls;        ///< collective calls, each going on where the last one ended
  bool moves_view;  ///< each call has a view of its own
  /// The largest number of ranks up to this one with which it can be run.
  int (*ranks_up_to)(int ranks);
  Part (*part)(int rank, int ranks, int call);
};

std::span<const ScaledWorkload> scaled_workloads();

/// Rows of a (block, ..., block) part of an array of `element` bytes, the last dimension
/// contiguous; `parts` ranks along each dimension, the first slowest.
Part block_part(std::span<const std::int64_t> size, std::span<const std::int64_t> parts,
                std::int64_t element, int rank);
/// A rank's cells of NAS BTIO: `edge`^3 points, of which root^2 ranks have root cells each.
Part btio_part(std::int64_t edge, std::int64_t point, int rank, int ranks);
/// `count` elements at random places of a global array, each rank's another place than all others'.
Part scattered_part(std::int64_t count, std::int64_t element, int rank, int ranks);

}  // namespace tamis::sim
