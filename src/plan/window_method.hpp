#pragma once

#include "plan/strategy.hpp"

namespace tamis {

/// What ranks have in a window of an aggregator.
struct WindowShape {
  std::int64_t bytes = 0;   ///< wanted
  std::int64_t span = 0;    ///< of the window, from the first to the last byte wanted
  std::int64_t blocks = 1;  ///< contiguous stretches of the file that the span is
  std::int64_t pieces = 0;  ///< contiguous in the file, of each rank by itself
  bool holes = false;       ///< in the span: bytes that nobody wants
};

/// What is the same for all windows of an access.
struct WindowTerms {
  Direction direction = Direction::read;
  Switch sieving = Switch::automatic;  ///< disable: nothing that nobody wants is moved
  int hands = 1;                       ///< ranks that work side by side
  int servers = 1;                     ///< of them, aggregators
};
WindowTerms window_terms(Direction direction, const Circumstances& circumstances,
                         const Strategy& strategy);

/// What moving a window with holes is expected to cost, until the next one can be moved.
struct WindowCosts {
  double sieve_ns = 0;  ///< holes and all, in large transfers; of a write: read first
  double list_ns = 0;   ///< each rank its own pieces
};
WindowCosts window_costs(const WindowShape& shape, const WindowTerms& terms,
                         const Capabilities& storage);

/// How a window is moved, by pure arithmetic: nothing, whole, sieve or list. The conditional
/// sieving of Coloma et al. 2006, with the storage's costs in the place of its threshold.
Method choose_window_method(const WindowShape& shape, const WindowTerms& terms,
                            const Capabilities& storage);

}  // namespace tamis
