#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.hpp"

// Accesses as people describe them: "blocks piece=512 stride=4096 count=1000".
namespace tamis::patterns {

/// A description that makes no sense; what() says why, in plain words.
struct Unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one rank has in the file.
struct Share {
  Layout layout;
  std::int64_t bytes = 0;
};

/// The share of `rank`. Throws Unfit.
Share file_share(std::string_view pattern, int rank, int ranks);

/// A buffer of at least `bytes` bytes: the pattern's pieces, repeated as often as needed. Throws
/// Unfit.
Layout memory_layout(std::string_view pattern, std::int64_t bytes);

/// A file realm: the pattern's pieces, laid end to end without end. Throws Unfit.
Layout realm_layout(std::string_view pattern);

/// "4096", "4k", "4KiB", "1M", "1GiB". Throws Unfit.
std::int64_t parse_size(std::string_view text);

/// `total` as a product of `dimensions` factors as near to each other as can be, the largest first:
/// what MPI_Dims_create gives. REQUIRES: total >= 1, 1 <= dimensions <= 3.
std::vector<std::int64_t> divide_ranks(std::int64_t total, int dimensions);

}  // namespace tamis::patterns
