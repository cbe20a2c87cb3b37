#pragma once

#include <array>
#include <cstdint>

#include "drivers/driver.hpp"
#include "plan/access.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// How one rank moves its own bytes, or an aggregator a window.
enum class Method : std::uint8_t {
  nothing,  ///< no bytes
  direct,   ///< one transfer, straight from or to the user's memory
  list,     ///< the same for many runs, handed to the driver in batches (list I/O)
  gather,   ///< packed in stream order through a bounded buffer, one transfer per run of the file
  sieve,    ///< whole windows of the file; a write reads them first and holds a lock
};
const char* name(Method method);

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
};

// Costs of moving bytes inside a process: one copy, and one piece met on the joint walk.
inline constexpr double kCopyByteNs = 0.2;
inline constexpr double kPieceNs = 2.5;

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

/// The cheapest way for a rank to move its own bytes: pure arithmetic on shape, hints and what the
/// driver says of itself. Large holes make sieving dearer than single transfers (the BTIO case of
/// Thakur, Gropp, Lusk 1999), small ones the other way round.
Choice choose_method(Direction direction, const Shape& shape, const Hints& hints,
                     const Capabilities& storage);

}  // namespace tamis
