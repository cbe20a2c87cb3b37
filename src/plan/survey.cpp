#include "plan/survey.hpp"

#include <algorithm>
#include <cmath>

namespace tamis {
namespace {

std::int32_t obstacles_to_rewriting(const Hints& hints, const Capabilities& storage) {
  std::int32_t obstacles = 0;
  if (!storage.can_read_back) obstacles |= kNotReadable;
  if (!storage.locks && hints.tamis_locks != Switch::disable) obstacles |= kNoLocks;
  if (!storage.may_rewrite) obstacles |= kOthersRewrite;
  return obstacles;
}

}  // namespace

void Survey::merge(const Survey& other) {
  worst.merge(other.worst);
  coverage.add(other.coverage);
  spread.merge(other.spread);
  alone_ns += other.alone_ns;
  alone_apart_ns += other.alone_apart_ns;
  alone_longest_ns = std::max(alone_longest_ns, other.alone_longest_ns);
  file_blocks += other.file_blocks;
  memory_blocks += other.memory_blocks;
  ranks_with_data += other.ranks_with_data;
  ranks_unordered += other.ranks_unordered;
  ranks_with_new_view += other.ranks_with_new_view;
  ranks_with_new_range += other.ranks_with_new_range;
  rewrite_obstacles |= other.rewrite_obstacles;
  directions |= other.directions;
}

Survey survey_of(const Access& access, int rank, News news, const Hints& hints,
                 const Capabilities& storage) {
  Survey survey;
  survey.worst = access.error.travelling(rank);
  survey.ranks_with_new_view = news == News::view ? 1 : 0;
  survey.ranks_with_new_range = news == News::range ? 1 : 0;
  survey.rewrite_obstacles = obstacles_to_rewriting(hints, storage);
  survey.directions = access.direction == Direction::read ? 1 : 2;
  if (access.bytes == 0) return survey;

  const Shape shape = shape_of(access);
  survey.ranks_with_data = 1;
  survey.file_blocks = shape.file_blocks;
  survey.memory_blocks = shape.memory_blocks;
  // Rounded, so that sums are exact and equal on every rank whatever the order of adding.
  const Choice alone = choose_method(access.direction, shape, hints, storage);
  survey.alone_ns = std::round(alone.cost_ns);
  survey.alone_apart_ns = std::round(apart_ns(alone.method, shape));
  survey.alone_longest_ns = survey.alone_ns;
  if (!shape.ordered) {
    survey.ranks_unordered = 1;
    survey.coverage.bytes = access.bytes;
    return survey;
  }
  // Where it is, matters only where it is much.
  constexpr std::int64_t kMuch = 64 << 10;
  if (access.bytes >= kMuch || hints.tamis_realms == RealmKind::balanced)
    survey.spread = Spread::of(*access.file, access.first, access.bytes);
  if (access.direction == Direction::write) {
    survey.coverage = cover(*access.file, access.first, access.bytes);
  } else {  // holes do not matter to a read: bounds are enough
    const Extent span = access.span();
    survey.coverage = {
        .bytes = access.bytes, .balance = {}, .first = span.offset, .last = span.end()};
  }
  return survey;
}

}  // namespace tamis
