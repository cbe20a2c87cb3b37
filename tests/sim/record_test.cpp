// What a file's record says, held against what was done and what the storage saw.
#include <gtest/gtest.h>

#include <numeric>

#include "drivers/traced/traced.hpp"
#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kBytes = 4096;  // of a rank

/// Keeps what it hears; every rank wants it all.
class Keeper final : public RecordKeeper {
 public:
  RecordWishes wishes(const std::string&) override {
    return {.counters = true,
            .timeline = true,
            .decisions = true,
            .most_stretches = 50,
            .say = [this](const std::string& text) { said.push_back(text); }};
  }
  void keep(FileRecord record) override { records.push_back(std::move(record)); }

  std::vector<FileRecord> records;
  std::vector<std::string> said;
};

/// Four ranks, some nodes, whose blocks take turns in `parts` parts of the file.
struct Job {
  Job(std::vector<std::int64_t> nodes, std::int64_t parts, std::vector<HintText> hints = {})
      : crew(std::move(nodes)), ranks(crew.size()) {
    crew.store(filled(static_cast<std::size_t>(parts * kBytes), 9));
    const auto request = [&](int) {
      OpenRequest wanted{.name = "crewed", .amode = kReadWrite, .hints = hints, .error = {}};
      wanted.keeper = &keeper;
      return wanted;
    };
    for (const Status& status : crew.open(request)) EXPECT_TRUE(status.ok());
    for (const Status& status : crew.each([&](File&file, int rank) {
           return file.set_view(strided_view(rank, parts, kBlock), {}, {});
         }))
      EXPECT_TRUE(status.ok());
    bytes.resize(static_cast<std::size_t>(ranks), filled(kBytes, 1));
  }
  std::vector<Outcome> together(Direction direction) {
    return crew.all<Outcome>([&](File& file, int rank) {
      return file.access_all(request_at(direction, 0, bytes[static_cast<std::size_t>(rank)]));
    });
  }
  /// The record, after the close.
  const FileRecord& record() {
    for (const Status& status : crew.close()) EXPECT_TRUE(status.ok());
    EXPECT_EQ(keeper.records.size(), 1U);
    return keeper.records.at(0);
  }

  Crew crew;
  int ranks;
  Keeper keeper;
  std::vector<std::vector<std::byte>> bytes;
};

const Tally& only_way(const FileRecord& record, const Way& way) {
  EXPECT_EQ(record.ways.size(), 1U);
  EXPECT_EQ(record.ways.at(0).first, way);
  return record.ways.at(0).second;
}

std::int64_t requests_by_size(const Tally& tally) {
  return std::accumulate(tally.request_sizes.begin(), tally.request_sizes.end(), std::int64_t{0});
}

std::int64_t sum(const std::vector<Bins>& rows) {
  std::int64_t all = 0;
  for (const Bins& bins : rows) all = std::accumulate(bins.sums().begin(), bins.sums().end(), all);
  return all;
}

TEST(Record, of_an_exchange_tells_windows_requests_and_what_was_resent) {
  Job job({0, 0, 0, 0}, 4, {{"romio_cb_write", "enable"}, {"cb_nodes", "2"}});
  job.together(Direction::write);
  const FileRecord& record = job.record();
  const Tally& tally =
      only_way(record, {Direction::write, true, Route::two_phase, Method::nothing});
  EXPECT_EQ(tally.calls, 4);
  EXPECT_EQ(tally.errors, 0);
  EXPECT_EQ(tally.bytes_wanted, 4 * kBytes);
  EXPECT_EQ(tally.bytes_moved, 4 * kBytes);
  EXPECT_EQ(tally.pieces, 4 * kBytes / kBlock);
  EXPECT_EQ(tally.writes, 2);  // one window of each aggregator, no holes: nothing is read
  EXPECT_EQ(tally.bytes_written, 4 * kBytes);
  EXPECT_EQ(tally.reads, 0);
  EXPECT_EQ(tally.windows, 2);
  EXPECT_EQ(tally.rewrites, 0);
  EXPECT_EQ(requests_by_size(tally), 2);
  // Of each rank's bytes one half lies in each realm; ranks 0 and 1 own them.
  EXPECT_EQ(tally.bytes_resent, 3 * kBytes);
  EXPECT_EQ(tally.bytes_messages, 0);
  EXPECT_EQ(tally.gaps, 4 * (kBytes / kBlock - 1));
  EXPECT_EQ(tally.bytes_gaps, 4 * (kBytes / kBlock - 1) * 3 * kBlock);
  EXPECT_GT(tally.memory, 0);
  EXPECT_GT(tally.total_ns, 0);
  EXPECT_GE(tally.slowest_ns, tally.total_ns / 4);
  EXPECT_EQ(std::accumulate(tally.phase_ns.begin(), tally.phase_ns.end(), std::int64_t{0}),
            tally.total_ns);
  EXPECT_EQ(sum(record.pattern[1]), 4 * kBytes);
  EXPECT_EQ(sum(record.pattern[0]), 0);
  ASSERT_EQ(record.accesses.size(), 1U);
  EXPECT_EQ(job.keeper.said, std::vector{record.accesses[0].text});
  EXPECT_FALSE(record.incomplete);
  EXPECT_EQ(record.filesystem, "");  // memory lies on none
}

TEST(Record, of_an_exchange_between_nodes_tells_messages_and_announcements) {
  Job job({0, 0, 1, 1}, 4, {{"romio_cb_read", "enable"}});
  job.together(Direction::read);
  const std::int64_t calls = 2;
  job.together(Direction::read);
  const FileRecord& record = job.record();
  const Tally& tally = only_way(record, {Direction::read, true, Route::two_phase, Method::nothing});
  EXPECT_EQ(tally.bytes_read, calls * 4 * kBytes);
  // Half of each rank's bytes lies in the other node's realms.
  EXPECT_EQ(tally.bytes_messages, calls * 4 * kBytes / 2);
  EXPECT_GT(tally.bytes_announced, 0);
}

TEST(Record, of_windows_with_holes_tells_what_was_rewritten) {
  Job job({0, 0, 0, 0}, 8, {{"romio_cb_write", "enable"}, {"cb_nodes", "1"}});
  job.together(Direction::write);
  const Tally& tally =
      only_way(job.record(), {Direction::write, true, Route::two_phase, Method::nothing});
  EXPECT_EQ(tally.windows, 1);
  EXPECT_EQ(tally.rewrites, 1);
  const std::int64_t region = (kBytes / kBlock - 1) * 8 * kBlock + 4 * kBlock;
  EXPECT_EQ(tally.bytes_rewritten, region);
  EXPECT_EQ(tally.bytes_read, region);
  EXPECT_EQ(tally.bytes_written, region);
  EXPECT_EQ(tally.locks, 1);
}

TEST(Record, of_a_sieve_tells_windows_and_locks) {
  Job job({0}, 4, {{"romio_ds_write", "enable"}, {"ind_wr_buffer_size", "4096"}});
  EXPECT_TRUE(job.crew.file(0).access(request_at(Direction::write, 0, job.bytes[0])).status.ok());
  const Tally& tally =
      only_way(job.record(), {Direction::write, false, Route::alone, Method::sieve});
  const std::int64_t windows = 4;  // of 4096 bytes, in 4 times as many
  EXPECT_EQ(tally.windows, windows);
  EXPECT_EQ(tally.rewrites, windows);
  EXPECT_EQ(tally.locks, windows);
  EXPECT_EQ(tally.reads, windows);
  EXPECT_EQ(tally.writes, windows);
  EXPECT_EQ(tally.memory, 4096);
}

TEST(Record, of_a_list_tells_each_request) {
  Job job({0}, 4, {{"romio_ds_read", "disable"}});
  EXPECT_TRUE(job.crew.file(0).access(request_at(Direction::read, 0, job.bytes[0])).status.ok());
  const Tally& tally = only_way(job.record(), {Direction::read, false, Route::alone, Method::list});
  EXPECT_EQ(tally.reads, kBytes / kBlock);
  EXPECT_EQ(tally.bytes_read, kBytes);
  EXPECT_EQ(tally.request_sizes[1], kBytes / kBlock);  // of 16 to 31 bytes
}

TEST(Record, counts_errors_and_bytes_that_were_moved_before_them) {
  Crew crew({0}, {}, {.capacity = 100, .lock_wait = LockWait::refuse});
  Keeper keeper;
  crew.open([&](int) {
    OpenRequest wanted{.name = "crewed", .amode = kReadWrite | kCreate, .hints = {}, .error = {}};
    wanted.keeper = &keeper;
    return wanted;
  });
  std::vector<std::byte> bytes = filled(160, 1);
  EXPECT_FALSE(crew.file(0).access(request_at(Direction::write, 0, bytes)).status.ok());
  crew.close();
  const Tally& tally =
      only_way(keeper.records.at(0), {Direction::write, false, Route::alone, Method::direct});
  EXPECT_EQ(tally.errors, 1);
  EXPECT_EQ(tally.bytes_wanted, 160);
  EXPECT_EQ(tally.bytes_moved, 100);
}

TEST(Record, stays_bounded_whatever_is_done_to_the_file) {
  Job job({0}, 4);
  std::vector<std::byte> bytes;
  for (int i = 1; i <= 500; ++i) {
    bytes = filled(static_cast<std::size_t>(i), 1);
    EXPECT_TRUE(job.crew.file(0).access(request_at(Direction::write, i, bytes)).status.ok());
  }
  const FileRecord& record = job.record();
  EXPECT_EQ(record.accesses.size(), Recorder::kMostDistinct);
  ASSERT_EQ(record.timelines.size(), 1U);
  EXPECT_EQ(record.timelines[0].stretches.size(), 50U);
  EXPECT_GT(record.timelines[0].lost, 0);
  EXPECT_EQ(sum(record.pattern[1]), 500 * 501 / 2);
}

TEST(Record, is_kept_of_all_ranks_where_one_wants_it) {
  Crew crew({0, 0, 0, 0});
  Keeper keeper;
  crew.open([&](int rank) {
    OpenRequest wanted{.name = "crewed", .amode = kReadWrite | kCreate, .hints = {}, .error = {}};
    wanted.keeper = rank == 0 ? &keeper : nullptr;
    return wanted;
  });
  std::vector<std::byte> bytes = filled(64, 1);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(crew.file(rank).access(request_at(Direction::write, rank * 64, bytes)).status.ok());
  crew.close();
  ASSERT_EQ(keeper.records.size(), 1U);
  EXPECT_EQ(keeper.records[0].ways.at(0).second.calls, 4);
  EXPECT_EQ(sum(keeper.records[0].pattern[1]), 4 * 64);
}

}  // namespace
}  // namespace tamis::sim
