#include "layout_oracle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tamis::oracle {
namespace {

/// From 0 to `most`, but seldom 0: emptiness spreads through a nest.
std::int64_t draw_count(std::mt19937_64& rng, std::int64_t most) {
  return draw(rng, 0, 9) == 0 ? 0 : draw(rng, 1, most);
}

/// Displacements of blocks that span `reaches` bytes.
Words random_displacements(std::mt19937_64& rng, const Words& reaches, Kind kind) {
  Words displacements;
  std::int64_t at = kind == Kind::any ? draw(rng, -20, 20) : draw(rng, 0, 9);
  const bool regular = draw(rng, 0, 2) == 0;
  const std::int64_t gap = draw(rng, 0, 6);
  for (const std::int64_t reach : reaches) {
    displacements.push_back(at);
    const bool leap = kind == Kind::any && draw(rng, 0, 3) == 0;
    at += leap ? draw(rng, -30, 30) : reach + (regular ? gap : draw(rng, 0, 1) * draw(rng, 0, 9));
  }
  return displacements;
}

std::int64_t reach_of(const ByteMap& map, std::int64_t count) {
  if (map.bytes.empty()) return 0;
  const auto [low, high] = std::minmax_element(map.bytes.begin(), map.bytes.end());
  return *high + 1 - std::min<std::int64_t>(*low, 0) +
         std::max<std::int64_t>(count - 1, 0) * map.extent();
}

Twin random_vector(std::mt19937_64& rng, const Twin& child, Kind kind) {
  const std::int64_t count = draw_count(rng, 5);
  const std::int64_t length = draw_count(rng, 3);
  const std::int64_t reach = reach_of(child.map, length);
  std::int64_t stride = reach + draw(rng, 0, 1) * draw(rng, 0, 9);
  if (kind == Kind::any && draw(rng, 0, 2) == 0) stride = draw(rng, -40, 40);
  Twin twin{Dataloop::vector(count, length, stride, child.loop).value(), {}};
  for (std::int64_t i = 0; i < count; ++i) twin.map.append(child.map, i * stride, length);
  return twin;
}

Twin random_list(std::mt19937_64& rng, const Twin& child, Kind kind, bool equal) {
  Words lengths;
  Words reaches;
  const std::int64_t count = draw_count(rng, 5);
  const std::int64_t same = draw_count(rng, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(equal ? same : draw_count(rng, 3));
    reaches.push_back(reach_of(child.map, lengths.back()));
  }
  const Words displacements = random_displacements(rng, reaches, kind);
  Twin twin;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    twin.map.append(child.map, displacements[i], lengths[i]);
  twin.loop = equal ? Dataloop::blockindexed(same, displacements, child.loop).value()
                    : Dataloop::indexed(lengths, displacements, child.loop).value();
  return twin;
}

Twin random_struct(std::mt19937_64& rng, int depth, std::size_t limit, Kind kind) {
  const auto count = static_cast<std::size_t>(draw_count(rng, 4));
  Words lengths;
  Words reaches;
  std::vector<Dataloop> loops;
  std::vector<ByteMap> maps;
  for (std::size_t i = 0; i < count; ++i) {
    Twin child = random_type(rng, depth - 1, limit / count, kind);
    lengths.push_back(draw_count(rng, 2));
    reaches.push_back(reach_of(child.map, lengths.back()));
    loops.push_back(child.loop);
    maps.push_back(child.map);
  }
  const Words displacements = random_displacements(rng, reaches, kind);
  Twin twin{Dataloop::structure(lengths, displacements, loops).value(), {}};
  for (std::size_t i = 0; i < count; ++i) twin.map.append(maps[i], displacements[i], lengths[i]);
  return twin;
}

Twin random_resized(std::mt19937_64& rng, Twin twin, Kind kind) {
  const std::int64_t lb = kind == Kind::any ? draw(rng, -10, 10) : 0;
  const std::int64_t reach = reach_of(twin.map, 1);
  const std::int64_t extent = kind == Kind::any ? draw(rng, -20, 40) : reach + draw(rng, 0, 8);
  twin.loop = Dataloop::resized(lb, extent, twin.loop).value();
  twin.map.lb_marks = {lb};
  twin.map.ub_marks = {lb + extent};
  return twin;
}

Twin plain_bytes(std::int64_t n) {
  Twin twin{Dataloop::bytes(n), {}};
  for (std::int64_t i = 0; i < n; ++i) twin.map.bytes.push_back(i);
  return twin;
}

}  // namespace

void ByteMap::append(const ByteMap& child, std::int64_t displacement) {
  for (const std::int64_t byte : child.bytes) bytes.push_back(displacement + byte);
  for (const std::int64_t mark : child.lb_marks) lb_marks.push_back(displacement + mark);
  for (const std::int64_t mark : child.ub_marks) ub_marks.push_back(displacement + mark);
}

void ByteMap::append(const ByteMap& child, std::int64_t displacement, std::int64_t count) {
  const std::int64_t extent = child.extent();
  for (std::int64_t i = 0; i < count; ++i) append(child, displacement + i * extent);
}

std::int64_t ByteMap::lb() const {
  const Words& candidates = lb_marks.empty() ? bytes : lb_marks;
  return candidates.empty() ? 0 : *std::min_element(candidates.begin(), candidates.end());
}

std::int64_t ByteMap::ub() const {
  if (!ub_marks.empty()) return *std::max_element(ub_marks.begin(), ub_marks.end());
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end()) + 1;
}

void for_seeds(int count, const std::function<void(std::uint64_t)>& body) {
  const char* given = std::getenv("TAMIS_TEST_SEED");
  const std::uint64_t first = given != nullptr ? std::stoull(given) : std::random_device{}();
  // Said before the work, so that a run that is ended for its length can be repeated as well.
  fmt::print("{} seeds from {}\n", count, first);
  std::fflush(stdout);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("TAMIS_TEST_SEED=" + std::to_string(seed));
    body(seed);
  }
}

Twin random_type(std::mt19937_64& rng, int depth, std::size_t limit, Kind kind) {
  if (depth <= 0) return plain_bytes(draw(rng, draw(rng, 0, 4) == 0 ? 0 : 1, 9));
  const std::int64_t shape = draw(rng, 0, 5);
  if (shape == 5) {
    Twin twin = random_struct(rng, depth, limit, kind);
    return twin.map.bytes.size() <= limit ? twin : plain_bytes(3);
  }
  const Twin child = random_type(rng, depth - 1, limit, kind);
  if (shape == 4) return random_resized(rng, child, kind);
  if (child.map.bytes.size() * 15 > limit) return child;
  if (shape >= 2) return random_list(rng, child, kind, shape == 2);
  if (shape == 1) return random_vector(rng, child, kind);
  const std::int64_t count = draw_count(rng, 4);
  Twin twin{Dataloop::contig(count, child.loop).value(), {}};
  twin.map.append(child.map, 0, count);
  return twin;
}

TwinLayout random_layout(std::mt19937_64& rng, std::size_t limit, Kind kind) {
  const Twin type = random_type(rng, static_cast<int>(draw(rng, 1, 5)), limit, kind);
  TwinLayout twin{{type.loop, draw(rng, -50, 50), draw_count(rng, 4)}, {}};
  ByteMap copies;
  copies.append(type.map, twin.layout.displacement, twin.layout.repeat);
  twin.bytes = std::move(copies.bytes);
  return twin;
}

}  // namespace tamis::oracle
