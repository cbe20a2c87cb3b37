#pragma once

#include <array>
#include <cstdint>

#include "drivers/driver.hpp"
#include "plan/access.hpp"
#include "plan/hints.hpp"
#include "plan/method.hpp"

namespace tamis {

/// The shape of an access as far as costs depend on it: constant size, told without walking.
struct Shape {
  std::int64_t bytes = 0;
  std::int64_t span = 0;           ///< bytes from the first to the last one in the file; 0: unknown
  std::int64_t file_blocks = 0;    ///< contiguous pieces in the file
  std::int64_t memory_blocks = 0;  ///< and in memory
  bool ordered = true;             ///< the view can be searched by offset, so it can be sieved
};
Shape shape_of(const Access& access);

/// A method with what it is expected to cost and why it was taken.
struct Choice {
  Method method = Method::nothing;
  double cost_ns = 0;
  const char* reason = "";
  const char* hint_refused = nullptr;  ///< why it is not the one that tamis_method asks for
};

// Costs of moving bytes inside a process: one copy, and one piece met on the joint walk. Measured
// by what gathering 1 MiB from pieces of 32, 128, 512 and 4096 bytes takes longer than one write:
// 159, 91, 45 and 35 us.
inline constexpr double kCopyByteNs = 0.05;
inline constexpr double kPieceNs = 3;

/// A method that was weighed. Not `refused`: it was possible.
struct Candidate {
  Method method = Method::nothing;
  double cost_ns = 0;
  const char* refused = nullptr;  ///< why it was out of the question
};
/// What is weighed for a shape that holds data: list (or direct, where it is one piece), gather,
/// sieve, in this order.
std::array<Candidate, 3> candidates(Direction direction, const Shape& shape, const Hints& hints,
                                    const Capabilities& storage);

/// The part of a method's cost in which a rank needs its core and its memory only: nobody who
/// writes the same file waits for it. Sieving writes are under a lock all along, and the kernel
/// gathers the pieces of a vectored write while it holds the file.
double apart_ns(Method method, const Shape& shape);

/// Most bytes of a window of a rank's own bytes: as many as stay in cache and on pages that are
/// soon touched again, more where the storage's fixed costs ask for it, and no more than the hint
/// allows.
std::int64_t own_window(Direction direction, const Hints& hints, const Capabilities& storage);

/// Whether this direction is to be sieved, by the hints for it or for all own bytes.
Switch sieve_wish(Direction direction, const Hints& hints);
/// The same for windows of collective accesses.
Switch window_sieving(Direction direction, const Hints& hints);

/// The way a hint asks for where it is possible, else the cheapest one for a rank to move its own
/// bytes: pure arithmetic on shape, hints and what the driver says of itself. Large holes make
/// sieving dearer than single transfers (the BTIO case of Thakur, Gropp, Lusk 1999), small ones the
/// other way round.
Choice choose_method(Direction direction, const Shape& shape, const Hints& hints,
                     const Capabilities& storage);

}  // namespace tamis
