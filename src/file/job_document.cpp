#include "file/job_document.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "file/file.hpp"
#include "file/record_text.hpp"

namespace tamis {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::array kDirections = {Direction::read, Direction::write};

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

Json sizes_json(const Tally& tally) {
  Json sums = Json::array();
  for (std::size_t i = 0; i < Tally::kSizes; ++i)
    sums.push_back(tally.request_sizes[0][i] + tally.request_sizes[1][i]);
  return sums;
}

Json way_json(const Way& way, const Tally& tally) {
  const WayNames words = names(way);
  Json json = {{"direction", words.direction},
               {"collective", way.collective},
               {"route", words.route},
               {"method", words.method}};
  for (const TallyField& field : tally_fields())
    if (field.sum != &Tally::total_ns) json[field.name] = tally.*field.sum;
  json["request_sizes"] = sizes_json(tally);
  json["read_sizes"] = tally.sizes(Direction::read);
  json["write_sizes"] = tally.sizes(Direction::write);
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
    list.push_back({{"direction", names(access.way).direction},
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
          {"accesses_left_out", file.accesses_left_out},
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
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The events of a timeline, one after the other.
class Events {
 public:
  Events(std::ostream& out, std::int64_t began_ns) : out_(out), began_ns_(began_ns) {}

  void label(const char* what, std::size_t file, std::int32_t rank, const std::string& text) {
    put(dump(
        {{"name", what}, {"ph", "M"}, {"pid", file}, {"tid", rank}, {"args", {{"name", text}}}}));
  }
  void stretch(const Stretch& stretch, std::size_t file, std::int32_t rank);

 private:
  void put(std::string_view event) {
    out_ << (first_ ? "\n" : ",\n") << event;
    first_ = false;
  }

  std::ostream& out_;
  std::int64_t began_ns_;
  bool first_ = true;
};

const char* name_of(const Stretch& stretch) {
  const bool write = stretch.direction == Direction::write;
  if (stretch.is_call && stretch.collective) return write ? "write_all" : "read_all";
  if (stretch.is_call) return write ? "write" : "read";
  if (stretch.phase == Phase::transfer) return write ? "storage write" : "storage read";
  return name(stretch.phase);
}

/// What is known of a stretch beside its times.
std::string args_of(const Stretch& stretch) {
  const Extent& file = stretch.file;
  if (stretch.is_call) return fmt::format(R"(,"args":{{"bytes":{}}})", stretch.bytes);
  if (stretch.phase == Phase::transfer)
    return fmt::format(R"(,"args":{{"offset":{},"span":{},"bytes":{}}})", file.offset, file.length,
                       stretch.bytes);
  if (stretch.phase == Phase::lock)
    return fmt::format(R"(,"args":{{"offset":{},"span":{}}})", file.offset, file.length);
  return {};
}

void Events::stretch(const Stretch& stretch, std::size_t file, std::int32_t rank) {
  const double begin_us = static_cast<double>(stretch.begin_ns - began_ns_) / 1e3;
  const double length_us = static_cast<double>(stretch.length_ns) / 1e3;
  put(fmt::format(
      R"({{"name":"{}","cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}{}}})",
      name_of(stretch), stretch.is_call ? "call" : "phase", file, rank, begin_us, length_us,
      args_of(stretch)));
}

std::int64_t events_left_out(const KeptRecords& records) {
  std::int64_t lost = 0;
  for (const FileRecord& file : records.files())
    for (const FileRecord::Timeline& timeline : file.timelines) lost += timeline.lost;
  return lost;
}

}  // namespace

void KeptRecords::keep(FileRecord record) {
  if (files_.size() < most_)
    files_.push_back(std::move(record));
  else
    left_out_ += 1;
}

void write_job_document(const JobFacts& job, const KeptRecords& records, std::ostream& out) {
  Json json = facts_json(job);
  bool incomplete = false;
  int nodes = 0;
  int cores = 0;
  for (const FileRecord& file : records.files()) {
    incomplete |= file.incomplete;
    nodes = std::max(nodes, file.nodes);
    cores = std::max(cores, file.cores);
  }
  json["nodes"] = nodes;
  json["cores"] = cores;
  json["incomplete"] = incomplete;
  json["files_left_out"] = records.left_out();
  std::string head = dump(json);
  head.pop_back();  // the brace
  out << head << R"(,"files":[)";
  const char* between = "\n";
  for (const FileRecord& file : records.files()) {
    out << between << dump(file_json(job, file));
    between = ",\n";
  }
  out << "]}\n";
}

void write_trace_document(const JobFacts& job, const KeptRecords& records, std::ostream& out) {
  Json facts = facts_json(job);
  facts["events_left_out"] = events_left_out(records);
  facts["files_left_out"] = records.left_out();
  out << R"({"displayTimeUnit":"ms","otherData":)" << dump(facts) << R"(,"traceEvents":[)";
  Events events(out, job.began_ns);
  for (std::size_t i = 0; i < records.files().size(); ++i) {
    const FileRecord& file = records.files()[i];
    events.label("process_name", i, 0, file.name);
    for (const FileRecord::Timeline& timeline : file.timelines) {
      events.label("thread_name", i, timeline.rank, fmt::format("rank {}", timeline.rank));
      for (const Stretch& stretch : timeline.stretches) events.stretch(stretch, i, timeline.rank);
    }
  }
  out << "]}\n";
}

}  // namespace tamis
