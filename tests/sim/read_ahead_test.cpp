#include <gtest/gtest.h>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

using Bytes = std::vector<std::byte>;
const std::vector<std::int64_t> kTwo = {0, 0};

Bytes numbered(std::size_t bytes) {
  Bytes all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 7 % 251);
  return all;
}

void open(Crew& crew, const char* ahead) {
  for (const Status& status :
       crew.open(kReadWrite, {{"tamis_read_ahead", ahead}, {"tamis_counters", "enable"}}))
    ASSERT_TRUE(status.ok()) << status.to_string();
}

/// Both ranks have blocks of 4 bytes in turn.
void view_turns(Crew& crew) {
  crew.each([](File& f, int rank) { return f.set_view(strided_view(rank, 2, 4), {}, {}); });
}

/// `bytes` of rank 0 from position `first` of its view on.
Bytes read(Crew& crew, std::int64_t first, std::size_t bytes) {
  Bytes got = filled(bytes, 1);
  const Outcome outcome = crew.file(0).access(request_at(Direction::read, first, got));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  got.resize(static_cast<std::size_t>(outcome.bytes));
  return got;
}

/// The same by the oracle.
Bytes true_bytes(const Bytes& file, std::size_t first, std::size_t bytes) {
  Bytes all;
  for (std::size_t i = first; i < first + bytes; ++i)
    if (i / 4 * 8 + i % 4 < file.size()) all.push_back(file[i / 4 * 8 + i % 4]);
  return all;
}

std::int64_t reads_of_first(Crew& crew) {
  std::int64_t reads = 0;
  for (const auto& [way, tally] : crew.file(0).recorder()->ways()) reads += tally.reads;
  return reads;
}

TEST(ReadAhead, makes_few_requests_of_a_walk_along_the_view) {
  const Bytes file = numbered(8000);
  std::int64_t reads[2];
  for (const bool ahead : {false, true}) {
    Crew crew(kTwo);
    crew.store(file);
    open(crew, ahead ? "1000" : "0");
    view_turns(crew);
    for (std::size_t at = 0; at < 4000; at += 10)
      ASSERT_EQ(read(crew, static_cast<std::int64_t>(at), 10), true_bytes(file, at, 10)) << at;
    reads[ahead ? 1 : 0] = reads_of_first(crew);
    crew.close();
  }
  EXPECT_GE(reads[0], 400);
  EXPECT_LT(reads[1], 20);
}

TEST(ReadAhead, ends_where_the_file_ends_and_sees_it_grow) {
  Bytes file = numbered(400);
  Crew crew(kTwo);
  crew.store(file);
  open(crew, "1000");
  view_turns(crew);
  for (std::size_t at = 0; at < 190; at += 10)
    ASSERT_EQ(read(crew, static_cast<std::int64_t>(at), 10), true_bytes(file, at, 10));
  EXPECT_EQ(read(crew, 190, 20).size(), 10U);
  file = numbered(440);
  crew.store(file);
  EXPECT_EQ(read(crew, 190, 20), true_bytes(file, 190, 20));
}

TEST(ReadAhead, forgets_what_may_have_changed) {
  using Change = std::function<void(Crew&)>;
  Bytes data = filled(16, 200);
  const AccessRequest write = request_at(Direction::write, 24, data);
  const std::pair<const char*, Change> changes[] = {
      {"own write", [&](Crew& crew) { crew.file(0).access(write); }},
      {"collective write",
       [&](Crew& crew) { crew.all<Outcome>([&](File& f, int) { return f.access_all(write); }); }},
      {"sync",
       [&](Crew& crew) {
         crew.file(1).access(write);
         crew.each([](File& f, int) { return f.sync({}); });
       }},
      {"size", [](Crew& crew) { crew.each([](File& f, int) { return f.set_size(60, {}); }); }},
      {"view",
       [](Crew& crew) {
         crew.each([](File& f, int) { return f.set_view(strided_view(1, 2, 4), {}, {}); });
         crew.each([](File& f, int) { return f.set_view(strided_view(0, 2, 4), {}, {}); });
       }},
      {"atomic mode", [](Crew& crew) {
         for (const bool atomic : {true, false})
           crew.each([&](File& f, int) { return f.set_atomicity(atomic, {}); });
       }}};
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    Crew crew(kTwo);
    crew.store(numbered(400));
    open(crew, "1000");
    view_turns(crew);
    for (std::size_t at = 0; at < 24; at += 4) read(crew, static_cast<std::int64_t>(at), 4);
    const std::int64_t before = reads_of_first(crew);
    change(crew);
    const Bytes now = crew.stored();
    EXPECT_EQ(read(crew, 24, 4), true_bytes(now, 24, 4));
    EXPECT_GT(reads_of_first(crew), before);
  }
}

TEST(ReadAhead, that_fails_leaves_the_read_itself_to_tell) {
  // The second read is the one ahead; the third fails as well, on behalf of the program.
  FaultPlan plan;
  for (const std::uint64_t nth : {2, 3})
    plan.faults.push_back({.direction = Direction::read, .nth = nth, .code = Errc::io});
  Crew crew(kTwo, {plan});
  const Bytes file = numbered(400);
  crew.store(file);
  open(crew, "100");
  crew.each([](File& f, int) { return f.set_view(strided_view(0, 1, 1), {}, {}); });
  Bytes got = filled(4, 0);
  int errors = 0;
  for (std::int64_t at = 0; at < 40; at += 4) {
    const Outcome outcome = crew.file(0).access(request_at(Direction::read, at, got));
    errors += outcome.status.ok() ? 0 : 1;
    if (outcome.status.ok()) {
      EXPECT_TRUE(std::equal(got.begin(), got.end(), file.begin() + at)) << at;
    }
  }
  EXPECT_EQ(errors, 1);
}

}  // namespace
}  // namespace tamis::sim
