#pragma once

#include <functional>

#include "random_io_types.hpp"

namespace random_io {

/// How the ranks' views lie to each other. All but `overlapping` share no byte.
enum class Pattern { bytes, zones, slots, subarray, darray, separate, overlapping };

struct View {
  std::int64_t disp = 0;
  Type etype;
  Type filetype;
  std::int64_t limit = 0;  ///< etypes of the stream that stay inside the scenario's stretch of file
};

/// The view of `rank`; `common` is equal on all ranks, so any rank can make the view of any other.
View make_view(Builder& builder, Pattern pattern, const Rng& common, int rank, int ranks);

/// Calls `visit(file offset, bytes)` for the stream's bytes [first, first + bytes), in order.
void walk(const View& view, std::int64_t first, std::int64_t bytes,
          const std::function<void(std::int64_t, std::int64_t)>& visit);

/// Hints, equal on all ranks: small buffers, methods on and off. `text` says which.
MPI_Info random_hints(Rng& rng, std::string& text);

}  // namespace random_io
