#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "file/record_text.hpp"
#include "tamis/counters.h"

namespace tamis::abi {
namespace {

static_assert(TAMIS_REQUEST_SIZES == Tally::kSizes);

using Ways = std::vector<std::pair<Way, Tally>>;

tamis_counters told(const Tally& tally) {
  tamis_counters counters = {.calls = tally.calls,
                             .errors = tally.errors,
                             .bytes_wanted = tally.bytes_wanted,
                             .bytes_moved = tally.bytes_moved,
                             .pieces = tally.pieces,
                             .reads = tally.reads,
                             .bytes_read = tally.bytes_read,
                             .writes = tally.writes,
                             .bytes_written = tally.bytes_written,
                             .lists = tally.lists,
                             .bytes_resent = tally.bytes_resent,
                             .bytes_messages = tally.bytes_messages,
                             .bytes_announced = tally.bytes_announced,
                             .windows = tally.windows,
                             .rewrites = tally.rewrites,
                             .bytes_rewritten = tally.bytes_rewritten,
                             .gaps = tally.gaps,
                             .bytes_gaps = tally.bytes_gaps,
                             .locks = tally.locks,
                             .total_ns = tally.total_ns,
                             .survey_ns = tally.time(Phase::survey),
                             .announce_ns = tally.time(Phase::announce),
                             .pack_ns = tally.time(Phase::pack),
                             .wait_ns = tally.time(Phase::wait),
                             .transfer_ns = tally.time(Phase::transfer),
                             .lock_ns = tally.time(Phase::lock),
                             .agree_ns = tally.time(Phase::agree),
                             .memory = tally.memory,
                             .read_sizes = {},
                             .write_sizes = {},
                             .aggregates = tally.aggregators > 0 ? 1 : 0,
                             .windows_listed = tally.windows_listed};
  std::ranges::copy(tally.sizes(Direction::read), counters.read_sizes);
  std::ranges::copy(tally.sizes(Direction::write), counters.write_sizes);
  return counters;
}

void fill(tamis_counters* counters, std::size_t size, const Tally& tally) {
  const tamis_counters known = told(tally);
  std::memset(counters, 0, size);
  std::memcpy(counters, &known, std::min(size, sizeof known));
}

/// The ways of the rank; `tell(const Ways&)`, a Status, says something of them.
template <typename Tell>
int ask(const char* call, MPI_File fh, bool has_place, Tell tell) {
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(call);
  if (!has_place) return finish(call, fh, *file, failure(Errc::arg, "a result has no place"));
  const Recorder* recorder = file->file->recorder();
  if (recorder == nullptr)
    return finish(call, fh, *file,
                  failure(Errc::unsupported_operation,
                          "nothing is counted: open the file with tamis_counters=enable"));
  Ways ways = recorder->ways();
  for (auto& [way, tally] : ways) tally.aggregators = has_aggregated(way, tally) ? 1 : 0;
  return finish(call, fh, *file, tell(ways));
}

int file_counters(MPI_File fh, tamis_counters* counters, std::size_t size) {
  return ask("tamis_file_counters", fh, counters != nullptr, [&](const Ways& ways) {
    Tally all;
    for (const auto& [way, tally] : ways) all.add(tally);
    fill(counters, size, all);
    return Status{};
  });
}

int file_ways(MPI_File fh, int* count) {
  return ask("tamis_file_ways", fh, count != nullptr, [&](const Ways& ways) {
    *count = static_cast<int>(ways.size());
    return Status{};
  });
}

int file_way(MPI_File fh, int index, tamis_way* way, tamis_counters* counters, std::size_t size) {
  const bool has_place = way != nullptr && counters != nullptr;
  return ask("tamis_file_way", fh, has_place, [&](const Ways& ways) {
    const auto place = static_cast<std::size_t>(index);
    if (index < 0 || place >= ways.size())
      return failure(Errc::arg, "there is no way of that number");
    const auto& [found, tally] = ways[place];
    const WayNames words = names(found);
    *way = {words.direction, words.route, words.method, found.collective ? 1 : 0};
    fill(counters, size, tally);
    return Status{};
  });
}

}  // namespace
}  // namespace tamis::abi

TAMIS_EXPORT int tamis_file_counters(MPI_File file, tamis_counters* counters, size_t size) {
  return tamis::abi::guard([&] { return tamis::abi::file_counters(file, counters, size); });
}

TAMIS_EXPORT int tamis_file_ways(MPI_File file, int* count) {
  return tamis::abi::guard([&] { return tamis::abi::file_ways(file, count); });
}

TAMIS_EXPORT int tamis_file_way(MPI_File file, int index, tamis_way* way, tamis_counters* counters,
                                size_t size) {
  return tamis::abi::guard([&] { return tamis::abi::file_way(file, index, way, counters, size); });
}
