#include "sim/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "drivers/traced/traced.hpp"
#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

/// Lets other threads go first after every call of a driver, above all between the reading and the
/// writing of a read-modify-write.
class Polite : public DriverSink {
 public:
  void record(const DriverCall&) override { std::this_thread::yield(); }
};

/// A disk whose drivers are polite.
struct PoliteDisk {
  MemoryStorage disk;
  Polite polite;
  TracedStorage traced{disk, polite};
  OneStorage table{traced};
};

std::unique_ptr<File> open_file(Threads& threads, int rank, int channel, StorageTable& table,
                                std::vector<HintText> hints) {
  OpenRequest request{
      .name = "shared", .amode = kReadWrite | kCreate, .hints = std::move(hints), .error = {}};
  std::unique_ptr<Comm> comm = threads.comm(rank, channel);
  Comm& waits = *comm;
  return *complete(File::open(std::move(comm), std::move(request), table), waits);
}

// Ranks 0 and 1 write into the holes that ranks 2 and 3 sieve over, all the time: nobody's byte may
// ever turn old again.
TEST(Threads, plain_writes_survive_the_sieving_of_other_ranks) {
  constexpr int kRounds = 150;
  constexpr std::int64_t kBlock = 8;
  constexpr std::int64_t kBlocks = 16;
  Threads threads({0, 0, 0, 0});
  PoliteDisk disk;
  std::atomic<int> lost = 0;
  threads.run([&](int rank) {
    auto file = open_file(threads, rank, 0, disk.table, {{"romio_ds_write", "enable"}});
    Comm& comm = file->comm();
    static_cast<void>(complete(file->set_view(strided_view(rank, 4, kBlock), {}, {}), comm));
    for (int round = 0; round < kRounds; ++round) {
      // Plain ranks write one block, sieving ones all of theirs.
      const bool sieves = rank >= 2;
      auto bytes = filled(static_cast<std::size_t>(sieves ? kBlock * kBlocks : kBlock), round);
      const std::int64_t offset = sieves ? 0 : round % kBlocks * kBlock;
      if (!file->access(request_at(Direction::write, offset, bytes)).status.ok()) ++lost;
      auto back = filled(bytes.size(), 255);
      static_cast<void>(file->access(request_at(Direction::read, offset, back)));
      if (back != bytes) ++lost;
    }
    static_cast<void>(complete(file->close(), comm));
  });
  EXPECT_EQ(lost, 0);
}

// The windows of rank 0 have no holes, those of rank 1 lie around them.
TEST(Threads, sieve_windows_without_holes_survive_the_sieving_around_them) {
  constexpr int kRounds = 1000;
  Threads threads({0, 0});
  PoliteDisk disk;
  const Dataloop around = *Dataloop::vector(2, 1, 9, Dataloop::bytes(1));  // bytes 63 and 72
  const View views[] = {strided_view(8, 8, 8),
                        {{*Dataloop::resized(0, 64, around), 63, Layout::kEndless}}};
  std::atomic<int> lost = 0;
  threads.run([&](int rank) {
    auto file = open_file(threads, rank, 0, disk.table,
                          {{"romio_ds_write", "enable"}, {"ind_wr_buffer_size", "16"}});
    Comm& comm = file->comm();
    static_cast<void>(complete(file->set_view(views[rank], {}, {}), comm));
    for (int round = 0; round < kRounds; ++round) {
      auto bytes = filled(rank == 0 ? 24 : 6, round);
      if (!file->access(request_at(Direction::write, 0, bytes)).status.ok()) ++lost;
      auto back = filled(bytes.size(), 255);
      static_cast<void>(file->access(request_at(Direction::read, 0, back)));
      if (back != bytes) ++lost;
    }
    static_cast<void>(complete(file->close(), comm));
  });
  EXPECT_EQ(lost, 0);
}

// Two opens of one file: the one writes together, with holes; into these the other one writes, in
// atomic mode, which makes it take locks.
TEST(Threads, a_collective_write_with_holes_keeps_what_another_open_writes_there) {
  constexpr int kRounds = 30;
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kBlocks = 32;
  Threads threads({0, 0, 0, 1});
  Threads other({0});
  PoliteDisk disk;
  std::atomic<int> lost = 0;
  std::atomic<bool> writing = true;
  std::jthread rival([&] {
    auto file = open_file(other, 0, 1, disk.table, {});
    static_cast<void>(complete(file->set_atomicity(true, {}), file->comm()));
    static_cast<void>(complete(file->set_view(strided_view(4, 5, kBlock), {}, {}), file->comm()));
    for (int round = 0; writing; ++round) {
      auto bytes = filled(kBlock, round);
      const std::int64_t offset = round % kBlocks * kBlock;
      if (!file->access(request_at(Direction::write, offset, bytes)).status.ok()) ++lost;
      auto back = filled(bytes.size(), 255);
      static_cast<void>(file->access(request_at(Direction::read, offset, back)));
      if (back != bytes) ++lost;
    }
    static_cast<void>(complete(file->close(), file->comm()));
  });
  threads.run([&](int rank) {
    auto file = open_file(threads, rank, 0, disk.table,
                          {{"romio_cb_write", "enable"}, {"cb_buffer_size", "1024"}});
    Comm& comm = file->comm();
    static_cast<void>(complete(file->set_view(strided_view(rank, 5, kBlock), {}, {}), comm));
    for (int round = 0; round < kRounds; ++round) {
      auto bytes = filled(kBlock * kBlocks, round + rank);
      const Outcome put = complete(file->access_all(request_at(Direction::write, 0, bytes)), comm);
      auto back = filled(bytes.size(), 255);
      const Outcome got = complete(file->access_all(request_at(Direction::read, 0, back)), comm);
      if (!put.status.ok() || !got.status.ok() || back != bytes) ++lost;
    }
    static_cast<void>(complete(file->close(), comm));
  });
  writing = false;
  rival.join();
  EXPECT_EQ(lost, 0);
}

// Groups of ranks with an open of their own each write interleaved blocks of one region at once, so
// every window of the one has holes that belong to the other.
TEST(Threads, two_opens_that_write_together_into_each_others_holes_both_come_through) {
  constexpr int kRounds = 40;
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kBlocks = 64;
  Threads groups[2] = {Threads({0, 0}), Threads({0, 0})};
  PoliteDisk disk;
  std::atomic<int> lost = 0;
  const auto write_all = [&](int group, int rank) {
    Threads& threads = groups[group];
    auto file = open_file(threads, rank, group, disk.table,
                          {{"romio_cb_write", "enable"}, {"cb_buffer_size", "512"}});
    Comm& comm = file->comm();
    const View view = strided_view(2 * group + rank, 4, kBlock);
    static_cast<void>(complete(file->set_view(view, {}, {}), comm));
    for (int round = 0; round < kRounds; ++round) {
      auto bytes = filled(kBlock * kBlocks, round + rank);
      const Outcome put = complete(file->access_all(request_at(Direction::write, 0, bytes)), comm);
      auto back = filled(bytes.size(), 255);
      const Outcome got = complete(file->access_all(request_at(Direction::read, 0, back)), comm);
      if (!put.status.ok() || !got.status.ok() || back != bytes) ++lost;
    }
    static_cast<void>(complete(file->close(), comm));
  };
  {
    std::jthread first([&] { groups[0].run([&](int rank) { write_all(0, rank); }); });
    std::jthread second([&] { groups[1].run([&](int rank) { write_all(1, rank); }); });
  }
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace tamis::sim
