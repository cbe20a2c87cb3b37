// What is written of a job, file by file and event by event, is JSON and says what was left out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "file/job_document.hpp"

namespace tamis {
namespace {

using Json = nlohmann::json;

FileRecord record_of(const std::string& name) {
  FileRecord record;
  record.name = name;
  record.ranks = 4;
  return record;
}

Json read(void (*write)(const JobFacts&, const KeptRecords&, std::ostream&),
          const KeptRecords& records) {
  std::ostringstream text;
  write({}, records, text);
  return Json::parse(text.str());
}

TEST(JobDocument, of_more_files_than_are_kept_says_how_many_are_missing) {
  KeptRecords records(2);
  for (const char* name : {"a", "b", "c", "d", "e"}) records.keep(record_of(name));
  const Json job = read(write_job_document, records);
  EXPECT_EQ(job["files_left_out"], 3);
  ASSERT_EQ(job["files"].size(), 2U);
  EXPECT_EQ(job["files"][0]["name"], "a");
  EXPECT_EQ(job["files"][1]["name"], "b");
  EXPECT_EQ(read(write_trace_document, records)["otherData"]["files_left_out"], 3);
}

TEST(JobDocument, without_files_is_one_all_the_same) {
  const KeptRecords records(2);
  EXPECT_EQ(read(write_job_document, records)["files"], Json::array());
  EXPECT_EQ(read(write_trace_document, records)["traceEvents"], Json::array());
}

TEST(JobDocument, tells_requests_that_read_from_those_that_write) {
  FileRecord record = record_of("a");
  const Way way{Direction::write, true, Route::two_phase, Method::nothing};
  Recorder::Books books;
  Tally tally;
  tally.count_request(Direction::read, 20, 20);
  tally.count_request(Direction::write, 20, 20);
  tally.count_request(Direction::write, 40, 40);
  tally.windows = 1;
  books.ways.emplace_back(way, tally);
  record.add(0, books, 0);
  record.accesses_left_out = 7;
  KeptRecords records(1);
  records.keep(std::move(record));
  const Json file = read(write_job_document, records)["files"][0];
  const Json told = file["ways"][0];
  EXPECT_EQ(told["read_sizes"][1], 1);
  EXPECT_EQ(told["read_sizes"][2], 0);
  EXPECT_EQ(told["write_sizes"][1], 1);
  EXPECT_EQ(told["write_sizes"][2], 1);
  EXPECT_EQ(told["request_sizes"][1], 2);
  EXPECT_EQ(told["aggregators"], 1);
  EXPECT_EQ(told["method"], "exchange");
  EXPECT_EQ(file["accesses_left_out"], 7);
}

TEST(TraceDocument, has_an_event_for_each_stretch_in_microseconds) {
  FileRecord record = record_of("a \"file\" \xff");
  Recorder::Books books;
  books.stretches = {{.phase = Phase::transfer,
                      .begin_ns = 1500,
                      .length_ns = 250,
                      .file = {100, 60},
                      .bytes = 40},
                     {.phase = Phase::lock, .begin_ns = 2000, .length_ns = 10, .file = {0, 5}},
                     {.phase = Phase::wait, .begin_ns = 3000, .length_ns = 20},
                     {.begin_ns = 1000,
                      .length_ns = 9000,
                      .direction = Direction::write,
                      .is_call = true,
                      .collective = true,
                      .bytes = 44}};
  books.stretches_lost = 5;
  record.add(3, books, 1000);  // another node's clock is a microsecond behind
  KeptRecords records(1);
  records.keep(std::move(record));
  const Json trace = read(write_trace_document, records);
  EXPECT_EQ(trace["otherData"]["events_left_out"], 5);
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 6U);  // two of them are names
  const Json transfer = {{"name", "storage read"},
                         {"cat", "phase"},
                         {"ph", "X"},
                         {"pid", 0},
                         {"tid", 3},
                         {"ts", 2.5},
                         {"dur", 0.25},
                         {"args", {{"offset", 100}, {"span", 60}, {"bytes", 40}}}};
  EXPECT_EQ(events[2], transfer);
  EXPECT_EQ(events[3]["name"], "lock");
  EXPECT_EQ(events[3]["args"], Json({{"offset", 0}, {"span", 5}}));
  EXPECT_EQ(events[4]["name"], "wait");
  EXPECT_FALSE(events[4].contains("args"));
  EXPECT_EQ(events[5]["name"], "write_all");
  EXPECT_EQ(events[5]["cat"], "call");
  EXPECT_EQ(events[5]["args"], Json({{"bytes", 44}}));
}

TEST(TraceDocument, tells_of_ranks_all_of_whose_events_were_left_out) {
  FileRecord record = record_of("a");
  Recorder::Books books;
  books.stretches_lost = 9;
  record.add(0, books, 0);
  KeptRecords records(1);
  records.keep(std::move(record));
  EXPECT_EQ(read(write_trace_document, records)["otherData"]["events_left_out"], 9);
}

TEST(Moment, brings_steady_times_of_another_node_to_this_ones) {
  const Moment here{.steady_ns = 5'000, .wall_ns = 1'000'000};
  const Moment there{.steady_ns = 70'000, .wall_ns = 1'000'600};  // 600 ns later
  EXPECT_EQ(there.steady_ns + here.shift_of(there), 5'600);
}

}  // namespace
}  // namespace tamis
