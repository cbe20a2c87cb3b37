#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "drivers/memory/memory.hpp"
#include "sim/crew.hpp"

// Two opens of one file that know nothing of each other, as two programs would: the one writes with
// holes, the other plainly into the holes, in the middle of what the one does. ADR 0006: whoever
// does not hold the token locks its plain writes and does not rewrite.
namespace tamis::sim {
namespace {

constexpr std::int64_t kBlock = 8;
constexpr std::int64_t kGroups = 12;
constexpr int kRanks = 3;
constexpr std::int64_t kGroup = (kRanks + 1) * kBlock;

/// A file opened by a world of its own.
class OpenFiles {
 public:
  OpenFiles(Storage& disk, std::vector<std::int64_t> nodes)
      : world_(7, std::move(nodes)), table_(disk) {}

  void open(const std::vector<HintText>& hints) {
    std::vector<Task<Result<std::unique_ptr<File>>>> tasks;
    for (int rank = 0; rank < world_.size(); ++rank)
      tasks.push_back(File::open(
          world_.comm(rank, 0),
          {.name = "shared", .amode = kReadWrite | kCreate, .hints = hints, .error = {}}, table_));
    std::vector<Result<std::unique_ptr<File>>> results;
    if (!world_.run(std::move(tasks), results)) throw std::runtime_error("ranks hang in open");
    for (auto& result : results) files_.push_back(std::move(result.value()));
  }
  void close() {
    run([](File& file, int) { return file.close(); });
    files_.clear();
  }
  void run(const std::function<Task<Status>(File&, int)>& call) {
    for (const Status& status : all<Status>(call)) EXPECT_TRUE(status.ok()) << status.to_string();
  }
  template <typename T>
  std::vector<T> all(const std::function<Task<T>(File&, int)>& call) {
    std::vector<Task<T>> tasks;
    for (int rank = 0; rank < world_.size(); ++rank) tasks.push_back(call(file(rank), rank));
    std::vector<T> results;
    if (!world_.run(std::move(tasks), results)) throw std::runtime_error("ranks hang");
    return results;
  }
  File& file(int rank) { return *files_[static_cast<std::size_t>(rank)]; }

 private:
  World world_;
  OneStorage table_;
  std::vector<std::unique_ptr<File>> files_;
};

/// The other open: one rank that writes to the holes in a range, one plain write each. Where it
/// would have to wait for a lock, which one thread cannot, nothing is written.
class PlainWriter : public Striker {
 public:
  explicit PlainWriter(Storage& disk) : open_(disk, {0}) {}

  void open() { open_.open({}); }
  void close() { open_.close(); }
  void strike(const Extent& range) override {
    if (!active) return;
    for (std::int64_t group = 0; group < kGroups; ++group) {
      const std::int64_t hole = group * kGroup + kRanks * kBlock;
      if (!range.contains(hole)) continue;
      auto bytes = filled(kBlock, 100 + ++count_ % 100);
      const Status told = open_.file(0).access(request_at(Direction::write, hole, bytes)).status;
      waits += told.ok() ? 0 : 1;
      if (told.ok()) stored[hole] = bytes[0];
    }
  }

  bool active = false;
  int waits = 0;
  std::map<std::int64_t, std::byte> stored;

 private:
  OpenFiles open_;
  int count_ = 0;
};

struct Disk {
  MemoryStorage storage{{.lock_wait = LockWait::refuse}};
  PlainWriter other{storage};
  RivalledStorage rivalled{storage, other};
  OpenFiles ours{rivalled, {0, 0, 1}};

  std::vector<std::byte> content() {
    const Result<std::unique_ptr<Driver>> file = storage.open("shared", {.read = true});
    std::vector<std::byte> bytes(static_cast<std::size_t>(*(*file)->size()));
    const Transfer all{{0, static_cast<std::int64_t>(bytes.size())}, bytes.data()};
    static_cast<void>((*file)->transfer(Direction::read, {&all, 1}));
    return bytes;
  }
};

/// What the ranks wrote is there, and whatever the other open was told it has written.
void expect_both(Disk& disk) {
  const std::vector<std::byte> content = disk.content();
  for (std::int64_t at = 0; at < kGroups * kGroup; ++at) {
    const std::int64_t part = at / kBlock % (kRanks + 1);
    const auto hole = disk.other.stored.find(at / kBlock * kBlock);
    if (part < kRanks) {
      ASSERT_EQ(content[static_cast<std::size_t>(at)], static_cast<std::byte>(part)) << at;
    } else if (hole != disk.other.stored.end()) {
      ASSERT_EQ(content[static_cast<std::size_t>(at)], hole->second) << "lost at " << at;
    }
  }
}

void set_views(Disk& disk) {
  disk.ours.run([](File& file, int rank) {
    return file.set_view(strided_view(rank, kRanks + 1, kBlock), {}, {});
  });
}

void write_around_holes(Disk& disk, bool collective) {
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < kRanks; ++rank) bytes.push_back(filled(kGroups * kBlock, rank));
  const auto request = [&](int rank) {
    return request_at(Direction::write, 0, bytes[static_cast<std::size_t>(rank)]);
  };
  disk.other.active = true;
  if (collective) {
    for (const Outcome& outcome : disk.ours.all<Outcome>(
             [&](File&file, int rank) { return file.access_all(request(rank)); }))
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  } else {
    for (int rank = 0; rank < kRanks; ++rank)
      EXPECT_TRUE(disk.ours.file(rank).access(request(rank)).status.ok());
  }
  disk.other.active = false;
}

const std::vector<HintText> kWindows = {{"romio_cb_write", "enable"},
                                        {"romio_ds_write", "enable"},
                                        {"cb_buffer_size", "600"},
                                        {"ind_wr_buffer_size", "200"}};

TEST(RewriteToken, its_holder_rewrites_while_plain_writes_of_another_open_wait) {
  for (const bool collective : {true, false}) {
    Disk disk;
    disk.ours.open(kWindows);
    disk.other.open();
    set_views(disk);
    write_around_holes(disk, collective);
    expect_both(disk);
    EXPECT_GT(disk.other.waits, 0) << "nothing was rewritten";
    disk.other.close();
    disk.ours.close();
  }
}

TEST(RewriteToken, an_open_without_it_leaves_the_holes_to_the_plain_writes_of_its_holder) {
  for (const bool collective : {true, false}) {
    Disk disk;
    disk.other.open();
    disk.ours.open(kWindows);
    set_views(disk);
    write_around_holes(disk, collective);
    expect_both(disk);
    EXPECT_EQ(disk.other.waits, 0) << "its holder need not wait for anybody";
    disk.ours.close();
    disk.other.close();
  }
}

// As before, but the holder is gone when the ranks open the file once more.
TEST(RewriteToken, goes_to_the_next_open_once_its_holder_has_closed) {
  Disk disk;
  disk.other.open();
  disk.ours.open(kWindows);
  disk.ours.close();
  disk.other.close();
  disk.ours.open(kWindows);
  disk.other.open();
  set_views(disk);
  write_around_holes(disk, true);
  expect_both(disk);
  EXPECT_GT(disk.other.waits, 0);
  disk.ours.close();
  disk.other.close();
}

}  // namespace
}  // namespace tamis::sim
