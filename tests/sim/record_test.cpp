// What a file's record says, held against what was done and what the storage saw.
#include <gtest/gtest.h>

#include <limits>
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
            .stretches = &stretches,
            .say = [this](const std::string& text) { said.push_back(text); }};
  }
  void keep(FileRecord record) override { records.push_back(std::move(record)); }

  std::vector<FileRecord> records;
  std::vector<std::string> said;
  StretchBudget stretches{500};  // of all ranks: they are one process
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
  bool sized(std::int64_t size) {
    return crew.each([=](File& file, int) { return file.set_size(size, {}); }).at(0).ok();
  }
  Outcome alone(Direction direction) {
    return crew.file(0).access(request_at(direction, 0, bytes[0]));
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

std::int64_t requests_by_size(const Tally& tally, Direction direction) {
  const auto sizes = tally.sizes(direction);
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

std::int64_t known_time(const Tally& tally) {
  return std::accumulate(tally.phase_ns.begin(), tally.phase_ns.end(), std::int64_t{0});
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
  EXPECT_EQ(tally.aggregators, 2);
  EXPECT_EQ(requests_by_size(tally, Direction::write), 2);
  EXPECT_EQ(requests_by_size(tally, Direction::read), 0);
  // Of each rank's bytes one half lies in each realm; ranks 0 and 1 own them.
  EXPECT_EQ(tally.bytes_resent, 3 * kBytes);
  EXPECT_EQ(tally.bytes_messages, 0);
  EXPECT_EQ(tally.gaps, 0);  // of each aggregator's one request
  EXPECT_EQ(tally.bytes_gaps, 0);
  EXPECT_GT(tally.memory, 0);
  EXPECT_GT(tally.total_ns, 0);
  EXPECT_GE(tally.slowest_ns, tally.total_ns / 4);
  EXPECT_LE(known_time(tally), tally.total_ns);
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
  EXPECT_GT(tally.time(Phase::lock), 0);
}

TEST(Record, of_an_exchange_tells_how_many_of_the_aggregators_had_windows) {
  Job job({0, 0, 0, 0}, 4,
          {{"romio_cb_read", "enable"}, {"cb_nodes", "4"}, {"striping_unit", "4096"}});
  for (auto& bytes : job.bytes) bytes.resize(kBlock);  // all in one stripe
  job.together(Direction::read);
  const FileRecord& record = job.record();
  EXPECT_EQ(record.aggregators.size(), 4U);
  const Way exchange{Direction::read, true, Route::two_phase, Method::nothing};
  EXPECT_EQ(only_way(record, exchange).aggregators, 1);
}

TEST(Record, of_a_sieve_tells_windows_and_locks) {
  Job job({0}, 4, {{"romio_ds_write", "enable"}, {"ind_wr_buffer_size", "4096"}});
  EXPECT_TRUE(job.alone(Direction::write).status.ok());
  const Tally& tally =
      only_way(job.record(), {Direction::write, false, Route::alone, Method::sieve});
  const std::int64_t windows = 4;  // of 4096 bytes, in 4 times as many
  EXPECT_EQ(tally.windows, windows);
  EXPECT_EQ(tally.rewrites, windows);
  EXPECT_EQ(tally.locks, windows);
  EXPECT_EQ(tally.reads, windows);
  EXPECT_EQ(tally.writes, windows);
  EXPECT_EQ(requests_by_size(tally, Direction::read), windows);
  EXPECT_EQ(requests_by_size(tally, Direction::write), windows);
  EXPECT_GT(tally.time(Phase::lock), 0);
  EXPECT_EQ(tally.aggregators, 0);
  EXPECT_EQ(tally.memory, 4096);
}

TEST(Record, of_a_list_tells_each_request) {
  Job job({0}, 4, {{"romio_ds_read", "disable"}});
  EXPECT_TRUE(job.alone(Direction::read).status.ok());
  const Tally& tally = only_way(job.record(), {Direction::read, false, Route::alone, Method::list});
  EXPECT_EQ(tally.reads, kBytes / kBlock);
  EXPECT_EQ(tally.bytes_read, kBytes);
  EXPECT_EQ(tally.sizes(Direction::read)[1], kBytes / kBlock);  // of 16 to 31 bytes
  EXPECT_EQ(tally.gaps, kBytes / kBlock - 1);
  EXPECT_EQ(tally.bytes_gaps, (kBytes / kBlock - 1) * 3 * kBlock);
}

TEST(Record, of_reads_beyond_the_end_of_the_file_tells_what_was_there) {
  Job job({0}, 4, {{"romio_ds_read", "disable"}});
  const std::int64_t there = 2 * kBlock;
  EXPECT_TRUE(job.sized(5 * kBlock));
  EXPECT_EQ(job.alone(Direction::read).bytes, there);
  const Tally& tally = only_way(job.record(), {Direction::read, false, Route::alone, Method::list});
  EXPECT_EQ(tally.bytes_wanted, kBytes);
  EXPECT_EQ(tally.bytes_moved, there);
  EXPECT_EQ(tally.bytes_read, there);
}

TEST(Record, of_a_short_read_sorts_the_request_by_what_it_asked_for) {
  Job job({0}, 1);  // a view without holes
  EXPECT_TRUE(job.sized(100));
  EXPECT_EQ(job.alone(Direction::read).bytes, 100);
  const Tally& tally =
      only_way(job.record(), {Direction::read, false, Route::alone, Method::direct});
  EXPECT_EQ(tally.reads, 1);
  EXPECT_EQ(tally.bytes_read, 100);
  EXPECT_EQ(tally.sizes(Direction::read)[9], 1);  // of 4 KiB to 8 KiB
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

TEST(Record, counts_accesses_that_were_refused) {
  Job job({0}, 4);
  AccessRequest wrong = request_at(Direction::write, 0, job.bytes[0]);
  wrong.error = failure(Errc::count, "simulated");
  EXPECT_EQ(job.crew.file(0).access(wrong).status.code, Errc::count);
  const std::int64_t far = std::numeric_limits<std::int64_t>::max() - 1;
  EXPECT_FALSE(
      job.crew.file(0).access(request_at(Direction::write, far, job.bytes[0])).status.ok());
  const Tally& tally =
      only_way(job.record(), {Direction::write, false, Route::alone, Method::nothing});
  EXPECT_EQ(tally.calls, 2);
  EXPECT_EQ(tally.errors, 2);
  EXPECT_EQ(tally.bytes_moved, 0);
}

TEST(Record, counts_a_refusal_on_one_rank_of_a_collective_access_on_each) {
  Job job({0, 0, 0, 0}, 4);
  job.crew.all<Outcome>([&](File& file, int rank) {
    AccessRequest request =
        request_at(Direction::write, 0, job.bytes[static_cast<std::size_t>(rank)]);
    if (rank == 2) request.error = failure(Errc::count, "simulated");
    return file.access_all(std::move(request));
  });
  std::int64_t calls = 0;
  std::int64_t errors = 0;
  for (const auto& [way, tally] : job.record().ways) {
    calls += tally.calls;
    errors += tally.errors;
  }
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(errors, 4);
}

TEST(Record, tells_a_decision_anew_when_what_it_rests_on_has_changed) {
  Job job({0}, 4);
  const auto change = [&](const char* value) {
    for (const Status& status : job.crew.each([&](File&file, int) {
           return file.set_info({{"romio_ds_read", value}}, {});
         }))
      EXPECT_TRUE(status.ok());
  };
  std::vector<std::string>& said = job.keeper.said;
  job.alone(Direction::read);
  job.alone(Direction::read);
  EXPECT_EQ(said.size(), 1U);
  change("disable");
  job.alone(Direction::read);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0], said[1]);
  change("disable");  // as it is
  job.alone(Direction::read);
  EXPECT_EQ(said.size(), 2U);
  job.crew.each([](File& file, int) { return file.set_atomicity(true, {}); });
  job.alone(Direction::read);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_NE(said[1], said[2]);
  const FileRecord& record = job.record();
  ASSERT_EQ(record.accesses.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(record.accesses[i].text, said[i]);
  EXPECT_EQ(record.accesses[1].calls, 2);
}

TEST(Record, has_a_timeline_of_calls_around_their_phases) {
  Job job({0, 0, 1, 1}, 8, {{"romio_cb_write", "enable"}});
  job.together(Direction::write);
  for (const FileRecord::Timeline& timeline : job.record().timelines) {
    const Stretch& call = timeline.stretches.back();  // it ends last
    EXPECT_TRUE(call.is_call);
    EXPECT_TRUE(call.collective);
    EXPECT_EQ(call.direction, Direction::write);
    EXPECT_EQ(call.bytes, kBytes);
    for (const Stretch& stretch : timeline.stretches) {
      EXPECT_EQ(stretch.is_call, &stretch == &call);
      EXPECT_GE(stretch.begin_ns, call.begin_ns);
      EXPECT_LE(stretch.begin_ns + stretch.length_ns, call.begin_ns + call.length_ns);
    }
  }
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
  EXPECT_EQ(record.accesses_left_out, 500 - std::ssize(record.accesses));
  EXPECT_EQ(job.keeper.said.size(), Recorder::kMostDistinct + 1);  // that there were more
  ASSERT_EQ(record.timelines.size(), 1U);
  EXPECT_EQ(record.timelines[0].stretches.size(), 500U);
  EXPECT_GT(record.timelines[0].lost, 0);
  EXPECT_EQ(sum(record.pattern[1]), 500 * 501 / 2);
}

TEST(Record, of_the_timelines_of_two_files_is_as_long_as_both_may_be_together) {
  Crew crew({0});
  Keeper keeper;
  std::vector<std::byte> bytes = filled(8, 1);
  for (const int calls : {100, 300}) {  // of two stretches each
    crew.open([&](int) {
      OpenRequest wanted{.name = "crewed", .amode = kReadWrite | kCreate, .hints = {}, .error = {}};
      wanted.keeper = &keeper;
      return wanted;
    });
    for (int i = 0; i < calls; ++i)
      EXPECT_TRUE(crew.file(0).access(request_at(Direction::write, 0, bytes)).status.ok());
    crew.close();
  }
  ASSERT_EQ(keeper.records.size(), 2U);
  EXPECT_EQ(keeper.records[0].timelines.at(0).stretches.size(), 200U);
  EXPECT_EQ(keeper.records[0].timelines.at(0).lost, 0);
  EXPECT_EQ(keeper.records[1].timelines.at(0).stretches.size(), 300U);
  EXPECT_EQ(keeper.records[1].timelines.at(0).lost, 300);
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
