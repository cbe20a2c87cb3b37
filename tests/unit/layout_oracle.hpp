#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "layout/dataloop.hpp"
#include "layout/layout.hpp"

namespace tamis::oracle {

using Words = std::vector<std::int64_t>;

/// A datatype as the list of its bytes, put together by the definitions of MPI 4.1, section 5.1.
struct ByteMap {
  Words bytes;     ///< offsets in type-map order
  Words lb_marks;  ///< explicit bounds: they prevail over the data
  Words ub_marks;

  void append(const ByteMap& child, std::int64_t displacement);
  /// `count` copies, one extent apart.
  void append(const ByteMap& child, std::int64_t displacement, std::int64_t count);
  std::int64_t lb() const;
  std::int64_t ub() const;
  std::int64_t extent() const { return ub() - lb(); }
};

/// The same datatype twice: as the code under test builds it and as the oracle does.
struct Twin {
  Dataloop loop;
  ByteMap map;
};

enum class Kind { any, ordered };

/// A random nest of constructors of at most about `limit` bytes. Kind::ordered: offsets increase.
Twin random_type(std::mt19937_64& rng, int depth, std::size_t limit, Kind kind);

/// Random copies of a random type; repeat is finite (0 to 4).
struct TwinLayout {
  Layout layout;
  Words bytes;
};
TwinLayout random_layout(std::mt19937_64& rng, std::size_t limit, Kind kind);

/// Runs `body(seed)` for `count` seeds that differ from run to run, until one fails; failures name
/// the seed. TAMIS_TEST_SEED sets the first one.
void for_seeds(int count, const std::function<void(std::uint64_t)>& body);

inline std::int64_t draw(std::mt19937_64& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

}  // namespace tamis::oracle
