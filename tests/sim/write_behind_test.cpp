#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/crew.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis::sim {
namespace {

using Bytes = std::vector<std::byte>;
const std::vector<std::int64_t> kOneNode = {0, 0, 0};
const std::vector<std::int64_t> kTwoNodes = {0, 1, 0, 1};

std::vector<HintText> hints_for(const char* bytes, const char* buffer = "400") {
  return {{"tamis_write_behind", bytes}, {"cb_buffer_size", buffer}, {"tamis_counters", "enable"}};
}

void expect_all(const std::vector<Status>& statuses, Errc code) {
  for (std::size_t rank = 0; rank < statuses.size(); ++rank)
    EXPECT_EQ(statuses[rank].code, code) << "rank " << rank << ": " << statuses[rank].to_string();
}

/// Ranks take turns with `block` bytes each.
void view_turns(Crew& crew, std::int64_t block) {
  expect_all(crew.each([&](File& f, int rank) {
    return f.set_view(strided_view(rank, crew.size(), block), {}, {});
  }),
             Errc::ok);
}

/// Every rank writes `bytes` bytes of `value` at `offset` of its view.
std::vector<Outcome> write_all(Crew& crew, std::int64_t offset, std::size_t bytes, int value) {
  Bytes all = filled(bytes, value);
  return crew.all<Outcome>(
      [&](File& file, int) { return file.access_all(request_at(Direction::write, offset, all)); });
}

void expect_written(const std::vector<Outcome>& outcomes, std::int64_t bytes) {
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    EXPECT_EQ(outcome.bytes, bytes);
  }
}

/// Opens the file; every rank has 200 bytes of 7, in turns of 10, that wait.
void leave_waiting(Crew& crew) {
  expect_all(crew.open(kReadWrite | kCreate, hints_for("100k")), Errc::ok);
  view_turns(crew, 10);
  expect_written(write_all(crew, 0, 200, 7), 200);
}

std::vector<Status> sync(Crew& crew) {
  return crew.each([](File& file, int) { return file.sync({}); });
}

Tally totals(Crew& crew) {
  Tally sum;
  for (int rank = 0; rank < crew.size(); ++rank)
    for (const auto& [way, tally] : crew.file(rank).recorder()->ways()) sum.add(tally);
  return sum;
}

TEST(WriteBehind, stores_nothing_before_a_sync_and_everything_at_it) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Crew crew(nodes);
    leave_waiting(crew);
    EXPECT_TRUE(crew.stored().empty());
    const std::size_t end = 200 * static_cast<std::size_t>(crew.size());
    for (int rank = 0; rank < crew.size(); ++rank)
      EXPECT_EQ(*crew.file(rank).size(), static_cast<std::int64_t>(end));
    expect_all(sync(crew), Errc::ok);
    EXPECT_EQ(crew.stored(), filled(end, 7));
    expect_all(crew.close(), Errc::ok);
  }
}

TEST(WriteBehind, stores_at_close_what_was_never_synced) {
  for (const auto& nodes : {std::vector<std::int64_t>{0}, kOneNode, kTwoNodes}) {
    Crew crew(nodes);
    leave_waiting(crew);
    expect_all(crew.close(), Errc::ok);
    EXPECT_EQ(crew.stored(), filled(200 * nodes.size(), 7));
  }
}

/// Step s writes byte s of every 8 bytes of a rank's block.
View step_view(int rank, int ranks, int step) {
  const Result<Dataloop> byte = Dataloop::resized(0, 8, Dataloop::bytes(1));
  const Result<Dataloop> block = Dataloop::resized(0, 64 * ranks, *Dataloop::contig(8, *byte));
  View view;
  view.layout = {*block, 64 * rank + step, Layout::kEndless};
  return view;
}

TEST(WriteBehind, makes_few_large_writes_of_many_small_time_steps) {
  Crew crew(kOneNode);
  expect_all(crew.open(kReadWrite | kCreate, hints_for("100k")), Errc::ok);
  for (int step = 0; step < 8; ++step) {
    expect_all(crew.each([&](File& f, int rank) {
      return f.set_view(step_view(rank, crew.size(), step), {}, {});
    }),
               Errc::ok);
    expect_written(write_all(crew, 0, 80, 5), 80);
  }
  expect_all(sync(crew), Errc::ok);
  const Tally sum = totals(crew);
  EXPECT_EQ(sum.bytes_written, 3 * 80 * 8);  // each byte once
  EXPECT_EQ(sum.reads, 0);
  EXPECT_LE(sum.writes, 3 * 80 * 8 / 200 + 3);  // windows of 200 bytes
  expect_all(crew.close(), Errc::ok);
  EXPECT_EQ(crew.stored(), filled(3 * 80 * 8, 5));
}

TEST(WriteBehind, makes_room_by_storing_the_window_not_used_for_longest) {
  Crew crew({0});
  expect_all(crew.open(kReadWrite | kCreate, hints_for("1")), Errc::ok);
  // Two places for windows of 200 bytes; the second window is the one not used for longest.
  for (const std::int64_t window : {0, 1, 0, 2})
    expect_written(write_all(crew, window * 200, 200, 5), 200);
  Bytes expected = filled(200, 0);
  expected.resize(400, std::byte{5});
  EXPECT_EQ(crew.stored(), expected);
  expect_all(crew.close(), Errc::ok);
  EXPECT_EQ(crew.stored(), filled(600, 5));
}

TEST(WriteBehind, makes_room_for_more_than_it_may_keep) {
  Crew crew(kOneNode);
  // Two windows of 200 bytes for each aggregator, and much more to write.
  expect_all(crew.open(kReadWrite | kCreate, hints_for("1")), Errc::ok);
  view_turns(crew, 10);
  for (int step = 0; step < 10; ++step) expect_written(write_all(crew, step * 1000, 1000, 3), 1000);
  EXPECT_GT(crew.stored().size(), 20000U);
  expect_all(crew.close(), Errc::ok);
  EXPECT_EQ(crew.stored(), filled(30000, 3));
}

TEST(WriteBehind, never_stores_a_byte_that_nobody_wrote) {
  Crew crew(kOneNode);
  crew.store(filled(3000, 9));
  expect_all(crew.open(kReadWrite, hints_for("100k")), Errc::ok);
  expect_all(
      crew.each([](File& f, int rank) { return f.set_view(strided_view(rank, 6, 10), {}, {}); }),
      Errc::ok);
  expect_written(write_all(crew, 0, 300, 4), 300);
  // Somebody else writes into the holes meanwhile.
  Bytes other = filled(3000, 1);
  crew.store(other);
  expect_all(crew.close(), Errc::ok);
  for (std::size_t i = 0; i < other.size(); ++i)
    if (i < 1800 && i / 10 % 6 < 3) other[i] = std::byte{4};
  EXPECT_EQ(crew.stored(), other);
}

TEST(WriteBehind, is_seen_by_collective_reads) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Crew crew(nodes);
    leave_waiting(crew);
    std::vector<Bytes> got(nodes.size(), filled(200, 0));
    expect_written(crew.all<Outcome>([&](File& file, int rank) {
      return file.access_all(request_at(Direction::read, 0, got[static_cast<std::size_t>(rank)]));
    }),
                   200);
    for (const Bytes& bytes : got) EXPECT_EQ(bytes, filled(200, 7));
    expect_all(crew.close(), Errc::ok);
  }
}

TEST(WriteBehind, is_seen_by_independent_accesses_of_one_node) {
  Crew crew(kOneNode);
  leave_waiting(crew);
  Bytes got = filled(200, 0);
  for (int rank = 0; rank < crew.size(); ++rank) {
    EXPECT_EQ(crew.file(rank).access(request_at(Direction::read, 0, got)).bytes, 200);
    EXPECT_EQ(got, filled(200, 7));
  }
  // What is written now stays over what waited.
  expect_written(write_all(crew, 0, 200, 8), 200);
  Bytes newer = filled(10, 1);
  EXPECT_EQ(crew.file(1).access(request_at(Direction::write, 0, newer)).bytes, 10);
  expect_all(crew.close(), Errc::ok);
  Bytes expected = filled(600, 8);
  std::fill_n(expected.begin() + 10, 10, std::byte{1});
  EXPECT_EQ(crew.stored(), expected);
}

TEST(WriteBehind, makes_the_file_as_long_as_it_will_be) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Crew crew(nodes);
    expect_all(crew.open(kReadWrite | kCreate, hints_for("100k")), Errc::ok);
    view_turns(crew, 10);
    expect_written(write_all(crew, 100, 10, 7), 10);
    Bytes got = filled(20, 1);
    if (nodes == kOneNode) {
      EXPECT_EQ(crew.file(1).access(request_at(Direction::read, 0, got)).bytes, 20);
      EXPECT_EQ(got, filled(20, 0));
      expect_written(write_all(crew, 200, 10, 7), 10);
    }
    expect_written(crew.all<Outcome>([&](File& file, int) {
      return file.access_all(request_at(Direction::read, 50, got));
    }),
                   20);
    expect_all(crew.close(), Errc::ok);
  }
}

TEST(WriteBehind, across_nodes_refuses_a_rank_its_own_bytes_until_a_sync) {
  Crew crew(kTwoNodes);
  leave_waiting(crew);
  Bytes got = filled(200, 0);
  for (int rank = 0; rank < crew.size(); ++rank) {
    const Outcome refused = crew.file(rank).access(request_at(Direction::read, 0, got));
    EXPECT_EQ(refused.status.code, Errc::unsupported_operation);
    EXPECT_EQ(refused.bytes, 0);
    // What it did not write lies elsewhere.
    EXPECT_TRUE(crew.file(rank).access(request_at(Direction::read, 500, got)).status.ok());
  }
  expect_all(sync(crew), Errc::ok);
  for (int rank = 0; rank < crew.size(); ++rank) {
    EXPECT_EQ(crew.file(rank).access(request_at(Direction::read, 0, got)).bytes, 200);
    EXPECT_EQ(got, filled(200, 7));
  }
  expect_all(crew.close(), Errc::ok);
}

TEST(WriteBehind, is_stored_before_the_file_is_resized_or_anything_about_it_changes) {
  using Call = std::function<Task<Status>(File&, int)>;
  const std::pair<const char*, Call> calls[] = {
      {"set_size", [](File& f, int) { return f.set_size(1000, {}); }},
      {"preallocate", [](File& f, int) { return f.preallocate(100, {}); }},
      {"atomic", [](File& f, int) { return f.set_atomicity(true, {}); }},
      {"hints",
       [](File& f, int) {
         return f.set_info({{"tamis_write_behind", "0"}}, {});
       }},
      {"realms",
       [](File& f, int) { return f.set_realms({Layout::contiguous(Layout::kEndless)}, {}); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    Crew crew(kTwoNodes);
    leave_waiting(crew);
    EXPECT_TRUE(crew.stored().empty());
    expect_all(crew.each(call), Errc::ok);
    Bytes stored = crew.stored();
    ASSERT_GE(stored.size(), 800U);
    stored.resize(800);
    EXPECT_EQ(stored, filled(800, 7));
    expect_all(crew.close(), Errc::ok);
  }
}

TEST(WriteBehind, reports_a_full_disk_at_the_sync_and_stores_once_there_is_room) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    // The first writes of each rank find no room, but for some leading bytes.
    FaultPlan full;
    for (const std::uint64_t nth : {1, 2, 3})
      full.faults.push_back(
          {.direction = Direction::write, .nth = nth, .code = Errc::no_space, .after_bytes = 30});
    Crew crew(nodes, Crew::Plans(nodes.size(), full));
    leave_waiting(crew);
    int failed = 0;
    std::vector<Status> told = sync(crew);
    for (; !told[0].ok() && failed < 100; ++failed, told = sync(crew))
      expect_all(told, Errc::no_space);
    EXPECT_GT(failed, 0);
    expect_all(told, Errc::ok);
    EXPECT_EQ(crew.stored(), filled(200 * nodes.size(), 7));
    expect_all(crew.close(), Errc::ok);
  }
}

TEST(WriteBehind, whose_storing_fails_at_close_is_an_error_on_every_rank) {
  const FaultPlan broken{
      .faults = {{.direction = Direction::write, .nth = 1, .lasting = true, .code = Errc::io}}};
  Crew crew(kTwoNodes, {broken});
  leave_waiting(crew);
  expect_all(crew.close(), Errc::io);
}

TEST(WriteBehind, goes_on_where_one_window_cannot_be_stored) {
  // The first window meets a bad block once, when room is needed; the other one can be stored.
  const FaultPlan bad{.faults = {{.direction = Direction::write, .nth = 1, .code = Errc::io}}};
  Crew crew({0}, {bad});
  expect_all(crew.open(kReadWrite | kCreate, hints_for("1")), Errc::ok);
  for (const std::int64_t window : {0, 1, 2})
    expect_written(write_all(crew, window * 200, 200, 5), 200);
  expect_all(crew.close(), Errc::ok);
  EXPECT_EQ(crew.stored(), filled(600, 5));
}

TEST(WriteBehind, goes_without_where_there_is_no_memory_for_it) {
  Crew crew(kOneNode);
  // More than any machine has.
  expect_all(crew.open(kReadWrite | kCreate, hints_for("1024G", "8M")), Errc::ok);
  view_turns(crew, 10);
  expect_written(write_all(crew, 0, 200, 7), 200);
  EXPECT_EQ(crew.stored(), filled(600, 7));
  expect_all(crew.close(), Errc::ok);
}

/// Random calls on a file that is written behind, some of whose transfers fail; beside it what each
/// byte may be. A failed sync loses nothing: all that was written is stored by one that succeeds.
class RandomWriteBehind {
 public:
  explicit RandomWriteBehind(std::uint64_t seed)
      : rng_(seed), crew_(random_nodes(), random_faults()), bytes_(kMost, {std::byte{0}}) {}

  void run() {
    std::vector<HintText> hints = random_hints();
    hints.push_back({"cb_buffer_size", std::to_string(one_of({64, 300, 1000, 5000}))});
    hints.push_back({"cb_nodes", std::to_string(draw(1, crew_.size()))});
    expect_all(crew_.open(kReadWrite | kCreate, hints), Errc::ok);
    for (int i = 0; i < 25 && !testing::Test::HasFailure(); ++i) operate();
    std::vector<Status> told = sync(crew_);
    for (int i = 0; i < 100 && !told[0].ok(); ++i) told = sync(crew_);
    expect_all(told, Errc::ok);
    expect_stored();
    expect_all(crew_.close(), Errc::ok);
  }

 private:
  static constexpr std::int64_t kMost = 6000;

  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
  }
  std::int64_t one_of(std::initializer_list<std::int64_t> choices) {
    return *(choices.begin() + draw(0, static_cast<std::int64_t>(choices.size()) - 1));
  }

  std::vector<std::int64_t> random_nodes() {
    std::vector<std::int64_t> labels(static_cast<std::size_t>(draw(1, 5)));
    const std::int64_t nodes = draw(1, 3);
    for (std::int64_t& label : labels) label = draw(1, nodes);
    return labels;
  }

  Crew::Plans random_faults() {
    Crew::Plans plans(static_cast<std::size_t>(draw(0, 5)));
    for (FaultPlan& plan : plans)
      for (std::int64_t i = draw(0, 4); i > 0; --i)
        plan.faults.push_back({.verb = one_of({0, 0, 1}) == 0 ? Verb::transfer : Verb::lock,
                               .nth = static_cast<std::uint64_t>(draw(1, 30)),
                               .code = Errc::no_space,
                               .after_bytes = draw(0, 50)});
    return plans;
  }

  std::vector<HintText> random_hints() {
    return {{"tamis_write_behind", std::to_string(one_of({0, 1, 300, 2000, 100000}))},
            {"romio_ds_write", one_of({0, 1}) == 0 ? "enable" : "automatic"}};
  }

  bool one_node() { return crew_.world().comm(0, 0)->topology().node_count() == 1; }

  void operate() {
    switch (draw(0, 9)) {
      default:
        return write_together();
      case 5:
        return read_together();
      case 6:
        return move_alone();
      case 7:
        static_cast<void>(told_alike(sync(crew_)));
        return;
      case 8:
        return resize();
      case 9:
        static_cast<void>(told_alike(
            crew_.each([hints = random_hints()](File& f, int) { return f.set_info(hints, {}); })));
    }
  }

  /// Whether a collective call succeeded: on all ranks, or on none.
  bool told_alike(const std::vector<Status>& told) {
    for (const Status& status : told) EXPECT_EQ(status.ok(), told[0].ok());
    return told[0].ok();
  }

  void note_written(std::int64_t at, std::byte value, bool certain) {
    std::vector<std::byte>& allowed = bytes_[static_cast<std::size_t>(at)];
    if (certain) allowed.clear();
    allowed.push_back(value);
    size_ = std::max(size_, at + 1);
    certain_ = certain_ && certain;
  }

  /// Ranks have turns of `block` bytes, some of which are nobody's.
  void write_together() {
    const std::int64_t block = draw(1, 40);
    const std::int64_t parts = crew_.size() + draw(0, 2);
    const std::int64_t bytes = draw(1, 60) * block;
    const std::int64_t first = draw(0, 30);
    if ((first + bytes) / block * parts * block + parts * block > kMost) return;
    expect_all(crew_.each([&](File& f, int rank) {
      return f.set_view(strided_view(rank, parts, block), {}, {});
    }),
               Errc::ok);
    ++value_;
    Bytes all = filled(static_cast<std::size_t>(bytes), value_);
    const std::vector<Outcome> outcomes = crew_.all<Outcome>(
        [&](File& f, int) { return f.access_all(request_at(Direction::write, first, all)); });
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status.ok(), outcomes[0].status.ok());
      if (outcome.status.ok()) {
        EXPECT_EQ(outcome.bytes, bytes);
      }
    }
    for (int rank = 0; rank < crew_.size(); ++rank)
      for (std::int64_t i = first; i < first + bytes; ++i)
        note_written((i / block * parts + rank) * block + i % block, static_cast<std::byte>(value_),
                     outcomes[0].status.ok());
  }

  void read_together() {
    const std::int64_t from = draw(0, 2000);
    std::vector<Bytes> got(static_cast<std::size_t>(crew_.size()), filled(500, 0));
    expect_all(crew_.each([&](File& f, int) { return f.set_view(strided_view(0, 1, 1), {}, {}); }),
               Errc::ok);
    const std::vector<Outcome> outcomes = crew_.all<Outcome>([&](File& f, int rank) {
      return f.access_all(request_at(Direction::read, from, got[static_cast<std::size_t>(rank)]));
    });
    for (std::size_t rank = 0; rank < got.size(); ++rank)
      if (outcomes[rank].status.ok()) expect_read(from, got[rank], outcomes[rank].bytes);
  }

  /// One rank by itself.
  void move_alone() {
    const auto rank = static_cast<int>(draw(0, crew_.size() - 1));
    if (!one_node() && !told_alike(sync(crew_))) return;
    expect_all(crew_.each([&](File& f, int) { return f.set_view(strided_view(0, 1, 1), {}, {}); }),
               Errc::ok);
    const std::int64_t from = draw(0, 2000);
    Bytes bytes = filled(static_cast<std::size_t>(draw(1, 300)), ++value_);
    const auto count = static_cast<std::int64_t>(bytes.size());
    if (draw(0, 1) == 0) {
      const Outcome outcome = crew_.file(rank).access(request_at(Direction::read, from, bytes));
      if (outcome.status.ok()) expect_read(from, bytes, outcome.bytes);
      return;
    }
    const Outcome outcome = crew_.file(rank).access(request_at(Direction::write, from, bytes));
    for (std::int64_t i = 0; i < count; ++i)
      note_written(from + i, static_cast<std::byte>(value_), outcome.status.ok());
  }

  void resize() {
    const std::int64_t to = draw(0, kMost);
    if (!told_alike(crew_.each([&](File& f, int) { return f.set_size(to, {}); }))) return;
    for (std::int64_t i = to; i < kMost; ++i) bytes_[static_cast<std::size_t>(i)] = {std::byte{0}};
    size_ = to;
    certain_ = true;
  }

  void expect_byte(std::int64_t at, std::byte value) {
    const std::vector<std::byte>& allowed = bytes_[static_cast<std::size_t>(at)];
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), value), allowed.end())
        << "byte " << at << " is " << static_cast<int>(value) << ", not "
        << static_cast<int>(allowed.back());
  }

  void expect_read(std::int64_t from, const Bytes& got, std::int64_t bytes) {
    const std::int64_t there =
        std::clamp<std::int64_t>(size_ - from, 0, static_cast<std::int64_t>(got.size()));
    if (certain_) {
      EXPECT_EQ(bytes, there);
    }
    for (std::int64_t i = 0; i < std::min(bytes, there); ++i)
      expect_byte(from + i, got[static_cast<std::size_t>(i)]);
  }

  void expect_stored() {
    const Bytes stored = crew_.stored();
    const auto bytes = static_cast<std::int64_t>(stored.size());
    if (certain_) {
      EXPECT_EQ(bytes, size_);
    }
    for (std::int64_t i = 0; i < bytes; ++i) expect_byte(i, stored[static_cast<std::size_t>(i)]);
    // Beyond its end nothing may be missing that was written for certain.
    for (std::int64_t i = bytes; i < kMost; ++i) expect_byte(i, std::byte{0});
  }

  std::mt19937_64 rng_;
  Crew crew_;
  std::vector<std::vector<std::byte>> bytes_;  // what each may be
  std::int64_t size_ = 0;
  bool certain_ = true;  // of the size: no write has failed since it was set
  int value_ = 0;
};

TEST(WriteBehind, random_calls_and_faults_lose_nothing) {
  oracle::for_seeds(300, [](std::uint64_t seed) { RandomWriteBehind(seed).run(); });
}

}  // namespace
}  // namespace tamis::sim
