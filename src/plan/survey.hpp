#pragma once

#include <cstdint>
#include <limits>

#include "layout/coverage.hpp"
#include "plan/cost.hpp"
#include "plan/spread.hpp"

namespace tamis {

// Why a rank's storage forbids to read holes, change what lies between and write all back.
inline constexpr std::int32_t kNotReadable = 1;  ///< the file may be written, not read
inline constexpr std::int32_t kNoLocks = 2;  ///< it gives no locks, and the user no word instead
inline constexpr std::int32_t kOthersRewrite = 4;  ///< another open of the file has that right

/// What aggregators on other nodes do not know yet of a rank's access.
enum class News : std::uint8_t { nothing, range, view };

/// What ranks tell each other before a collective access. Constant size; combined by a reduction
/// whose result does not depend on the order.
struct Survey {
  Status worst;                    ///< errors ranks arrived with
  Coverage coverage;               ///< of all ranks: bounds, bytes, whether they tile the region
  Spread spread;                   ///< where they are wanted, of ranks with much data
  double alone_ns = 0;             ///< sum over ranks of moving their own bytes alone
  double alone_longest_ns = 0;     ///< and the longest of them
  double alone_apart_ns = 0;       ///< of the sum, what keeps no other writer of the file waiting
  std::int64_t file_blocks = 0;    ///< sum
  std::int64_t memory_blocks = 0;  ///< sum
  std::int32_t ranks_with_data = 0;
  std::int32_t ranks_unordered = 0;       ///< whose view cannot be searched by offset
  std::int32_t ranks_with_new_view = 0;   ///< whose view owners elsewhere do not know yet
  std::int32_t ranks_with_new_range = 0;  ///< whose range of it they do not know yet
  std::int32_t rewrite_obstacles = 0;     ///< of all ranks, or-ed: kNotReadable, ...
  std::int32_t directions = 0;            ///< bit 0: reads, bit 1: writes

  void merge(const Survey& other);
  /// Smallest extent with all bytes. REQUIRES: ranks_with_data > 0.
  Extent region() const { return between(coverage.first, coverage.last); }
};

/// One rank's contribution.
Survey survey_of(const Access& access, int rank, News news, const Hints& hints,
                 const Capabilities& storage);

}  // namespace tamis
