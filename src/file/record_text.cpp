#include "file/record_text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "plan/explain.hpp"

namespace tamis {
namespace {

using Text = std::back_insert_iterator<std::string>;

std::string seconds_text(std::int64_t ns) {
  if (ns < 10'000'000) return fmt::format("{} us", ns / 1000);
  if (ns < 10'000'000'000) return fmt::format("{} ms", ns / 1'000'000);
  return fmt::format("{} s", ns / 1'000'000'000);
}

void add_requests(Text out, const char* what, std::int64_t requests, std::int64_t bytes) {
  if (requests == 0) return;
  fmt::format_to(out, "    {} {} of {} on average, {} in all\n", requests, what,
                 bytes_text(bytes / requests), bytes_text(bytes));
}

void add_sizes(Text out, const char* what, std::span<const std::int64_t> counts) {
  constexpr int kFirstBit = 3;
  std::string sizes;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::int64_t least = i == 0 ? 0 : std::int64_t{1} << (i + kFirstBit);
    fmt::format_to(std::back_inserter(sizes), "{}{} from {}", sizes.empty() ? "" : ", ", counts[i],
                   bytes_text(least));
  }
  if (!sizes.empty()) fmt::format_to(out, "    sizes of {}: {}\n", what, sizes);
}

void add_aggregators(Text out, const FileRecord& record, const Way& way, const Tally& tally) {
  if (way.route != Route::two_phase) return;
  fmt::format_to(out, "    {} of {} aggregators moved windows of at most {} for all ranks\n",
                 tally.aggregators, record.aggregators.size(), bytes_text(record.window_bytes));
}

void add_sums(Text out, const Tally& tally) {
  constexpr std::pair<const char*, std::int64_t Tally::*> sums[] = {
      {"bytes resent between ranks", &Tally::bytes_resent},
      {"of them in messages between nodes", &Tally::bytes_messages},
      {"bytes of announcements", &Tally::bytes_announced},
      {"windows", &Tally::windows},
      {"windows moved piece by piece", &Tally::windows_listed},
      {"windows read, changed and written back", &Tally::rewrites},
      {"bytes read for that", &Tally::bytes_rewritten},
      {"gaps between requests", &Tally::gaps},
      {"bytes in gaps", &Tally::bytes_gaps},
      {"byte-range locks", &Tally::locks},
      {"errors", &Tally::errors},
  };
  std::string text;
  for (const auto& [what, sum] : sums)
    if (tally.*sum != 0)
      fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", tally.*sum,
                     what);
  if (!text.empty()) fmt::format_to(out, "    {}\n", text);
}

void add_times(Text out, const Tally& tally) {
  fmt::format_to(out, "    time of all ranks {}, of the slowest {}:", seconds_text(tally.total_ns),
                 seconds_text(tally.slowest_ns));
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (tally.time(phase) > 0)
      fmt::format_to(out, " {} {},", name(phase), seconds_text(tally.time(phase)));
  }
  fmt::format_to(out, " buffers of a rank at most {}\n", bytes_text(tally.memory));
}

}  // namespace

WayNames names(const Way& way) {
  constexpr std::array routes = {"nothing", "alone", "two_phase"};
  const bool exchange = way.route == Route::two_phase;
  return {.direction = way.direction == Direction::write ? "write" : "read",
          .route = routes.at(static_cast<std::size_t>(way.route)),
          .method = exchange ? "exchange" : name(way.method)};
}

std::string way_text(const Way& way) {
  const char* verb = names(way).direction;
  const char* all = way.collective ? "_all" : "";
  if (way.route == Route::two_phase) return fmt::format("{}{} by two-phase", verb, all);
  if (way.method == Method::nothing) return fmt::format("{}{} of no bytes", verb, all);
  return fmt::format("{}{} by {}", verb, all, name(way.method));
}

std::string counters_text(const FileRecord& record) {
  std::string text;
  const Text out = std::back_inserter(text);
  const char* on = record.filesystem.empty() ? "" : " on ";
  fmt::format_to(out, "{}: {} ranks, {}{}{}, open for {}{}\n", record.name, record.ranks,
                 record.storage.name, on, record.filesystem,
                 seconds_text(record.closed_ns - record.opened_ns),
                 record.incomplete ? "; a rank's part is missing" : "");
  if (record.ways.empty()) fmt::format_to(out, "  no data access\n");
  for (const auto& [way, tally] : record.ways) {
    fmt::format_to(out, "  {}: {} calls, {} wanted in {} pieces, {} moved\n", way_text(way),
                   tally.calls, bytes_text(tally.bytes_wanted), tally.pieces,
                   bytes_text(tally.bytes_moved));
    add_requests(out, "reads", tally.reads, tally.bytes_read);
    add_requests(out, "writes", tally.writes, tally.bytes_written);
    add_sizes(out, "reads", tally.sizes(Direction::read));
    add_sizes(out, "writes", tally.sizes(Direction::write));
    add_aggregators(out, record, way, tally);
    add_sums(out, tally);
    add_times(out, tally);
  }
  return text;
}

}  // namespace tamis
