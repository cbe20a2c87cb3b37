#include "engine/recorder.hpp"

#include <algorithm>
#include <numeric>

#include "base/attempt.hpp"

namespace tamis {

Entry Recorder::begin(Direction direction, bool collective) {
  Entry entry;
  entry.begun_ns = clock_ns();
  entry.way = {.direction = direction, .collective = collective};
  entry.sink = wishes_.timeline ? this : nullptr;
  return entry;
}

Tally& Recorder::tally_of(const Way& way) {
  for (auto& [known, tally] : books_.ways)
    if (known == way) return tally;
  return books_.ways.emplace_back(way, Tally{}).second;
}

void Recorder::post(Entry& entry, const Access& access, const Outcome& outcome) {
  const std::int64_t begun_ns = entry.begun_ns;
  const std::int64_t ended_ns = clock_ns();
  const Shape& shape = entry.shape;
  Tally& tally = entry.tally;
  tally.calls = 1;
  tally.errors = outcome.status.ok() ? 0 : 1;
  tally.bytes_wanted = access.bytes;
  tally.bytes_moved = outcome.bytes;
  tally.pieces = shape.file_blocks;
  tally.total_ns = ended_ns - begun_ns;
  if (entry.rest) {
    const std::int64_t known =
        std::accumulate(tally.phase_ns.begin(), tally.phase_ns.end(), std::int64_t{0});
    tally.time(*entry.rest) += std::max<std::int64_t>(tally.total_ns - known, 0);
  }

  const std::lock_guard held(mutex_);
  const auto direction = static_cast<std::size_t>(access.direction);
  // Without memory for a new way its sums are not kept; the access itself has not failed.
  static_cast<void>(attempt([&] {
    tally_of(entry.way).add(tally);
    return Status{};
  }));
  if (access.bytes > 0 && shape.ordered) {
    const Extent span = access.span();
    books_.offsets[direction].add(span.offset, span.end(), access.bytes);
  }
  if (wishes_.timeline) {
    keep({.begin_ns = begun_ns,
          .length_ns = tally.total_ns,
          .direction = access.direction,
          .is_call = true,
          .collective = entry.way.collective,
          .bytes = outcome.bytes});
  }
  if (outcome.bytes > 0)
    books_.times[direction].add(begun_ns - opened_ns_,
                                std::max(ended_ns, begun_ns + 1) - opened_ns_, outcome.bytes);
}

void Recorder::post_late(Entry& entry) {
  entry.tally.total_ns = clock_ns() - entry.begun_ns;
  const std::lock_guard held(mutex_);
  static_cast<void>(attempt([&] {
    tally_of(entry.way).add(entry.tally);
    return Status{};
  }));
}

bool Recorder::count(const Way& way, const Shape& shape) {
  const auto is_met = [&](const DistinctAccess& known) {
    return known.way == way && known.bytes == shape.bytes && known.pieces == shape.file_blocks &&
           known.span == shape.span && known.memory_pieces == shape.memory_blocks;
  };
  std::vector<DistinctAccess>& all = books_.accesses;
  if (met_last_ < known_from_ || met_last_ >= all.size() || !is_met(all[met_last_])) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(known_from_);
    const auto known = std::find_if(first, all.end(), is_met);
    if (known == all.end()) return false;
    met_last_ = static_cast<std::size_t>(known - all.begin());
  }
  all[met_last_].calls += 1;
  return true;
}

bool Recorder::knows(const Way& way, const Shape& shape) {
  {
    const std::lock_guard held(mutex_);
    if (count(way, shape)) return true;
    if (books_.accesses.size() < kMostDistinct) return false;
    books_.accesses_left_out += 1;
    if (books_.accesses_left_out > 1) return true;
  }
  if (wishes_.decisions && wishes_.say) wishes_.say("further kinds of access are not told");
  return true;
}

void Recorder::forget_decisions() {
  const std::lock_guard held(mutex_);
  known_from_ = books_.accesses.size();
}

void Recorder::learn(const Way& way, const Shape& shape, const std::string& text) {
  {
    const std::lock_guard held(mutex_);
    // Another thread may have met such an access meanwhile.
    if (count(way, shape)) return;
    if (books_.accesses.size() == kMostDistinct) return;
    books_.accesses.push_back(
        {way, shape.bytes, shape.file_blocks, shape.span, shape.memory_blocks, 1, text});
  }
  if (wishes_.decisions && wishes_.say) wishes_.say(text);
}

void Recorder::note(const Stretch& stretch) {
  const std::lock_guard held(mutex_);
  keep(stretch);
}

// Called at the end of a Span's life, which may not throw.
void Recorder::keep(const Stretch& stretch) {
  const Status kept = attempt([&]() -> Status {
    if (wishes_.stretches == nullptr || !wishes_.stretches->take())
      return failure(Errc::no_memory, nullptr);
    books_.stretches.push_back(stretch);
    return {};
  });
  if (!kept.ok()) books_.stretches_lost += 1;
}

std::vector<std::pair<Way, Tally>> Recorder::ways() const {
  const std::lock_guard held(mutex_);
  return books_.ways;
}

Recorder::Books Recorder::books() const {
  const std::lock_guard held(mutex_);
  return books_;
}

}  // namespace tamis
