#pragma once

#include <cstdint>

#include "base/direction.hpp"
#include "sim/machine.hpp"

namespace tamis::sim {

/// A collective access in the numbers by which the papers' algorithms can be told. Ranks are alike.
struct Job {
  Direction direction = Direction::write;
  int ranks = 1;
  int aggregators = 1;
  std::int64_t pieces = 0;              ///< M: contiguous pieces of a rank's access
  std::int64_t described = 0;           ///< D: offset-length pairs that describe its filetype once
  std::int64_t bytes = 0;               ///< of a rank
  std::int64_t region = 0;              ///< bytes from the first to the last one of all ranks
  std::int64_t owners = 1;              ///< aggregators a rank has bytes for
  std::int64_t shares = 1;              ///< windows a rank has bytes in
  std::int64_t window_bytes = 4 << 20;  ///< of an aggregator; ROMIO's default in paper 000
  bool holes = false;                   ///< writes read their windows first
};

/// What a model says of one collective call. Messages are those a rank sends and receives.
struct Estimate {
  double rank_messages = 0;
  double aggregator_messages = 0;
  double description_bytes = 0;  ///< a rank sends to describe its access
  double rank_memory = 0;        ///< beside the user's buffer
  double aggregator_memory = 0;
  double pairs = 0;  ///< offset-length pairs the busier of rank and aggregator handles
  double ns = 0;
};

/// The original extended two-phase method (Thakur, Gropp, Lusk 1999, section 4.2; in the words of
/// Coloma et al. 2006, section 5.3): every rank flattens its access into M pairs, all learn all
/// ranks' first and last offsets, every rank sends each aggregator the list of pairs in its file
/// domain, and in each round all ranks tell all others how many bytes they are going to send.
Estimate original_two_phase(const Job& job, const Machine& machine);

/// Flexible realms (Coloma et al. 2006, section 5.3): the filetype's D pairs go to every
/// aggregator; a rank processes its M pairs for each of A aggregators through a heap,
/// O(M A log A), and an aggregator those of every rank, O(M P), as far as whole filetypes cannot
/// be skipped; data goes by nonblocking messages without counts.
Estimate flexible_realms(const Job& job, const Machine& machine);

}  // namespace tamis::sim
