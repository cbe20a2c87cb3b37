// Threads of one rank share its file and its books.
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <mutex>
#include <thread>

#include "sim/crew.hpp"
#include "sim/threads.hpp"

namespace tamis::sim {
namespace {

constexpr int kRanks = 2;
constexpr int kThreads = 4;  // of a rank
constexpr int kRounds = 100;
constexpr std::int64_t kBlock = 8;
constexpr std::int64_t kBlocks = 4;  // of a call

/// Ranks are threads here: it is spoken to by all of them at once.
class Keeper final : public RecordKeeper {
 public:
  RecordWishes wishes(const std::string&) override {
    return {.counters = true,
            .timeline = true,
            .decisions = true,
            .stretches = &stretches_,
            .say = [this](const std::string& text) {
              const std::lock_guard held(mutex_);
              said_.push_back(text);
            }};
  }
  void keep(FileRecord record) override { records.push_back(std::move(record)); }
  std::vector<std::string> said() {
    const std::lock_guard held(mutex_);
    return said_;
  }

  std::vector<FileRecord> records;  // rank 0's alone adds to it

 private:
  StretchBudget stretches_{50};
  std::mutex mutex_;
  std::vector<std::string> said_;
};

/// One thread's part: its own blocks of the file, written and read, while the books are looked at.
void write_and_read(File& file, int thread) {
  const std::int64_t first = thread * kRounds * kBlock * kBlocks;
  std::int64_t calls = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto bytes = filled(kBlock * kBlocks, round);
    const std::int64_t offset = first + round * kBlock * kBlocks;
    EXPECT_TRUE(file.access(request_at(Direction::write, offset, bytes)).status.ok());
    auto back = filled(bytes.size(), 255);
    EXPECT_TRUE(file.access(request_at(Direction::read, offset, back)).status.ok());
    EXPECT_EQ(back, bytes);
    std::int64_t so_far = 0;
    for (const auto& [way, tally] : file.recorder()->ways()) so_far += tally.calls;
    EXPECT_GE(so_far, calls + 2);  // its own two calls at least
    calls = so_far;
    EXPECT_LE(file.recorder()->books().accesses.size(), Recorder::kMostDistinct);
  }
}

void run_rank(Threads& ranks, int rank, StorageTable& table, Keeper& keeper) {
  OpenRequest request{.name = "shared",
                      .amode = kReadWrite | kCreate,
                      .hints = {{"romio_ds_write", "disable"}},
                      .error = {}};
  request.keeper = &keeper;
  std::unique_ptr<Comm> channel = ranks.comm(rank, 0);
  Comm& comm = *channel;
  auto file = *complete(File::open(std::move(channel), std::move(request), table), comm);
  static_cast<void>(complete(file->set_view(strided_view(rank, kRanks, kBlock), {}, {}), comm));
  {
    std::latch ready(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        ready.arrive_and_wait();
        write_and_read(*file, thread);
      });
  }
  EXPECT_TRUE(complete(file->close(), comm).ok());
}

TEST(Record, of_threads_that_share_a_file_counts_each_of_their_calls) {
  MemoryStorage disk;
  OneStorage table{disk};
  Keeper keeper;
  Threads ranks(std::vector<std::int64_t>(kRanks, 0));
  ranks.run([&](int rank) { run_rank(ranks, rank, table, keeper); });

  constexpr std::int64_t calls = std::int64_t{kRanks} * kThreads * kRounds;  // per direction
  ASSERT_EQ(keeper.records.size(), 1U);
  const FileRecord& record = keeper.records[0];
  EXPECT_FALSE(record.incomplete);
  ASSERT_EQ(record.ways.size(), 2U);
  for (const auto& [way, tally] : record.ways) {
    EXPECT_EQ(tally.calls, calls);
    EXPECT_EQ(tally.errors, 0);
    EXPECT_EQ(tally.bytes_moved, calls * kBlock * kBlocks);
    EXPECT_EQ(tally.pieces, calls * kBlocks);
  }
  std::int64_t known = 0;
  for (const DistinctAccess& access : record.accesses) known += access.calls;
  EXPECT_EQ(known, 2 * calls / kRanks);  // rank 0's
  // Whichever threads meet them first at once, there are two kinds of access, told once each.
  EXPECT_EQ(record.accesses.size(), 2U);
  EXPECT_EQ(keeper.said().size(), 2U);
}

}  // namespace
}  // namespace tamis::sim
