#include "file/job_document.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "file/file.hpp"
#include "file/record_text.hpp"

namespace tamis {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::array kDirections = {Direction::read, Direction::write};

const char* text_of(Direction direction) {
  return direction == Direction::write ? "write" : "read";
}

const char* text_of(Route route) {
  constexpr std::array names = {"nothing", "alone", "two_phase"};
  return names[static_cast<std::size_t>(route)];
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string amode_text(unsigned amode) {
  constexpr std::array<std::pair<unsigned, const char*>, 9> names = {
      {{kReadOnly, "RDONLY"},
       {kWriteOnly, "WRONLY"},
       {kReadWrite, "RDWR"},
       {kCreate, "CREATE"},
       {kExclusive, "EXCL"},
       {kDeleteOnClose, "DELETE_ON_CLOSE"},
       {kUniqueOpen, "UNIQUE_OPEN"},
       {kSequential, "SEQUENTIAL"},
       {kAppend, "APPEND"}}};
  std::string text;
  for (const auto& [bit, name] : names)
    if ((amode & bit) != 0) text.append(text.empty() ? "" : "|").append(name);
  return text;
}

Json way_json(const Way& way, const Tally& tally) {
  const bool alone = way.route == Route::alone;
  Json json = {{"direction", text_of(way.direction)},
               {"collective", way.collective},
               {"route", text_of(way.route)},
               {"method", way.route == Route::two_phase ? "exchange"
                          : alone                       ? name(way.method)
                                                        : "nothing"}};
  for (const TallyField& field : tally_fields())
    if (field.sum != &Tally::total_ns) json[field.name] = tally.*field.sum;
  json["request_sizes"] = tally.request_sizes;
  Json& times = json["ns"] = Json::object();
  for (std::size_t i = 0; i < kPhases; ++i) times[name(static_cast<Phase>(i))] = tally.phase_ns[i];
  times["total"] = tally.total_ns;
  json["slowest_ns"] = tally.slowest_ns;
  json["memory"] = tally.memory;
  return json;
}

Json accesses_json(const FileRecord& file) {
  Json list = Json::array();
  for (const DistinctAccess& access : file.accesses)
    list.push_back({{"direction", text_of(access.way.direction)},
                    {"collective", access.way.collective},
                    {"calls", access.calls},
                    {"bytes", access.bytes},
                    {"pieces", access.pieces},
                    {"span", access.span},
                    {"text", access.text}});
  return list;
}

Json pattern_json(const FileRecord& file) {
  std::int64_t width = 1;
  for (const auto& rows : file.pattern)
    for (const Bins& bins : rows) width = std::max(width, bins.width());
  Json json = {{"rows", file.rows()}, {"columns", Bins::kCount}, {"column_bytes", width}};
  for (const Direction direction : kDirections) {
    Json rows = Json::array();
    for (Bins bins : file.pattern[static_cast<std::size_t>(direction)]) {
      bins.widen(width);
      rows.push_back(bins.sums());
    }
    json[direction == Direction::write ? "written" : "read"] = std::move(rows);
  }
  return json;
}

Json times_json(const FileRecord& file) {
  const std::int64_t width = std::max(file.times[0].width(), file.times[1].width());
  Json json = {{"columns", Bins::kCount}, {"column_ns", width}};
  for (const Direction direction : kDirections) {
    Bins bins = file.times[static_cast<std::size_t>(direction)];
    bins.widen(width);
    json[direction == Direction::write ? "written" : "read"] = bins.sums();
  }
  return json;
}

Json file_json(const JobFacts& job, const FileRecord& file) {
  Json hints = Json::object();
  Json sources = Json::object();
  for (const HintText& hint : to_texts(file.hints)) {
    hints[hint.key] = hint.value;
    const auto given = file.hint_sources.find(hint.key);
    sources[hint.key] = given == file.hint_sources.end() ? "default" : given->second;
  }
  Json ways = Json::array();
  for (const auto& [way, tally] : file.ways) ways.push_back(way_json(way, tally));
  return {{"name", file.name},
          {"path", file.path},
          {"driver", file.storage.name},
          {"filesystem", file.filesystem},
          {"ranks", file.ranks},
          {"nodes", file.nodes},
          {"opens", 1},
          {"began", seconds(file.opened_ns - job.began_ns)},
          {"seconds", seconds(file.closed_ns - file.opened_ns)},
          {"incomplete", file.incomplete},
          {"amode", amode_text(file.amode)},
          {"hints", std::move(hints)},
          {"hint_sources", std::move(sources)},
          {"aggregators", file.aggregators},
          {"window_bytes", file.window_bytes},
          {"stripe_bytes", file.storage.stripe_bytes},
          {"costs",
           {{"read_ns", file.storage.read_ns},
            {"write_ns", file.storage.write_ns},
            {"byte_ns", file.storage.byte_ns},
            {"lock_ns", file.storage.lock_ns},
            {"source", file.storage.costs_source}}},
          {"ways", std::move(ways)},
          {"accesses", accesses_json(file)},
          {"pattern", pattern_json(file)},
          {"timeline", times_json(file)}};
}

Json facts_json(const JobFacts& job) {
  return {{"format", 1},
          {"tamis", job.tamis},
          {"mpi", job.mpi},
          {"program", job.program},
          {"host", job.host},
          {"rank", job.rank},
          {"ranks", job.ranks},
          {"began", job.began},
          {"seconds", seconds(job.ended_ns - job.began_ns)}};
}

/// What is no UTF-8 in names is replaced rather than refused.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json event(const Stretch& stretch, std::size_t file, std::int32_t rank, std::int64_t began_ns) {
  Json json = {{"name", name(stretch.phase)},
               {"ph", "X"},
               {"pid", file},
               {"tid", rank},
               {"ts", static_cast<double>(stretch.begin_ns - began_ns) / 1e3},
               {"dur", static_cast<double>(stretch.length_ns) / 1e3}};
  if (stretch.phase == Phase::transfer || stretch.phase == Phase::lock)
    json["args"] = {{"offset", stretch.file.offset}, {"bytes", stretch.file.length}};
  if (stretch.phase == Phase::transfer) json["name"] = text_of(stretch.direction);
  return json;
}

Json label(const char* what, std::size_t file, std::int32_t rank, const std::string& text) {
  return {{"name", what}, {"ph", "M"}, {"pid", file}, {"tid", rank}, {"args", {{"name", text}}}};
}

}  // namespace

std::string job_document(const JobFacts& job, std::span<const FileRecord> files) {
  Json json = facts_json(job);
  Json list = Json::array();
  bool incomplete = false;
  int nodes = 0;
  int cores = 0;
  for (const FileRecord& file : files) {
    list.push_back(file_json(job, file));
    incomplete |= file.incomplete;
    nodes = std::max(nodes, file.nodes);
    cores = std::max(cores, file.cores);
  }
  json["nodes"] = nodes;
  json["cores"] = cores;
  json["incomplete"] = incomplete;
  json["files"] = std::move(list);
  return dump(json);
}

std::string trace_document(const JobFacts& job, std::span<const FileRecord> files) {
  Json events = Json::array();
  std::int64_t lost = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    events.push_back(label("process_name", i, 0, files[i].name));
    for (const FileRecord::Timeline& timeline : files[i].timelines) {
      events.push_back(
          label("thread_name", i, timeline.rank, "rank " + std::to_string(timeline.rank)));
      for (const Stretch& stretch : timeline.stretches)
        events.push_back(event(stretch, i, timeline.rank, job.began_ns));
      lost += timeline.lost;
    }
  }
  Json json = {{"displayTimeUnit", "ms"}, {"otherData", facts_json(job)}};
  json["otherData"]["events_left_out"] = lost;
  json["traceEvents"] = std::move(events);
  return dump(json);
}

}  // namespace tamis
