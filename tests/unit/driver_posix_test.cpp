#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "driver_scripted_calls.hpp"
#include "driver_support.hpp"
#include "drivers/posix/posix.hpp"

// What only files of the operating system do, and what the driver makes of a system that fails.

namespace tamis::test {
namespace {

class PosixDriverTest : public ::testing::Test {
 protected:
  PosixDriverTest() {
    script = {};
    setenv("TAMIS_PROFILES", "", 1);  // what costs this machine has measured is not the matter here
  }
  std::unique_ptr<Driver> open(const OpenMode& mode = kReadWriteCreate) {
    return open_or_fail(storage_, path_, mode);
  }
  Status open_status(const std::string& path, const OpenMode& mode = {}) {
    return storage_.open(path, mode).status();
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.file("file");
  PosixStorage storage_{scripted()};
};

/// "0123456789" again and again.
std::string digits(std::size_t bytes) {
  std::string text(bytes, '0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('0' + i % 10);
  return text;
}

/// A batch of extents of 3 bytes that touch, beginning at `offset`.
std::vector<Transfer> touching(std::string& memory, std::int64_t offset) {
  std::vector<Transfer> batch;
  for (std::size_t i = 0; i < memory.size(); i += 3) {
    const std::size_t length = std::min<std::size_t>(3, memory.size() - i);
    batch.push_back({{offset + static_cast<std::int64_t>(i), static_cast<std::int64_t>(length)},
                     reinterpret_cast<std::byte*>(memory.data() + i)});
  }
  return batch;
}

TEST_F(PosixDriverTest, interrupted_and_short_transfers_are_continued) {
  const auto driver = open();
  script.interrupt = true;
  script.most_bytes = 7;
  const std::string text = digits(100);
  EXPECT_EQ(write_text(*driver, 5, text).bytes, 100);
  EXPECT_EQ(read_text(*driver, 5, 100).text, text);
}

TEST_F(PosixDriverTest, interrupted_and_short_joined_transfers_are_continued) {
  const auto driver = open();
  script.interrupt = true;
  script.most_bytes = 7;
  std::string text = digits(100);
  EXPECT_EQ(driver->transfer(Direction::write, touching(text, 5)).bytes, 100);
  std::string back(100, '?');
  EXPECT_EQ(driver->transfer(Direction::read, touching(back, 5)).bytes, 100);
  EXPECT_EQ(back, text);
}

TEST_F(PosixDriverTest, a_full_disk_names_the_first_byte_it_lacks) {
  const auto driver = open();
  script.disk_end = 1234;
  const Outcome outcome = write_text(*driver, 1000, digits(1000));
  EXPECT_EQ(outcome.bytes, 234);
  EXPECT_EQ(outcome.status.code, Errc::no_space);
  EXPECT_EQ(outcome.status.os_error, ENOSPC);
  EXPECT_EQ(outcome.status.offset, 1234);
}

TEST_F(PosixDriverTest, errors_in_a_batch_count_the_bytes_before_them) {
  const auto driver = open();
  std::string first = "ab";
  std::string joined = digits(30);
  std::vector<Transfer> batch = touching(first, 500);
  for (const Transfer& transfer : touching(joined, 1000)) batch.push_back(transfer);
  ASSERT_EQ(driver->transfer(Direction::write, batch).bytes, 32);
  script.broken_byte = 1010;
  for (const Direction direction : {Direction::write, Direction::read}) {
    const Outcome outcome = driver->transfer(direction, batch);
    EXPECT_EQ(outcome.bytes, 12);
    EXPECT_EQ(outcome.status.code, Errc::io);
    EXPECT_EQ(outcome.status.os_error, EIO);
    EXPECT_EQ(outcome.status.offset, 1010);
  }
}

TEST_F(PosixDriverTest, a_write_without_progress_is_an_error) {
  const auto driver = open();
  script.stuck = true;
  const Outcome outcome = write_text(*driver, 8, "x");
  EXPECT_EQ(outcome.status.code, Errc::io);
  EXPECT_EQ(outcome.status.offset, 8);
}

TEST_F(PosixDriverTest, touching_extents_go_out_in_one_call_and_others_each_in_one) {
  const auto driver = open();
  std::string text = digits(300);
  EXPECT_EQ(driver->transfer(Direction::write, touching(text, 0)).bytes, 300);
  EXPECT_EQ(script.vector_calls, 1);
  EXPECT_TRUE(script.moves.empty());

  std::vector<Transfer> apart = touching(text, 0);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    apart[i].file.offset += static_cast<std::int64_t>(i);
  }
  EXPECT_EQ(driver->transfer(Direction::write, apart).bytes, 300);
  EXPECT_EQ(script.vector_calls, 1);
  EXPECT_EQ(script.moves.size(), apart.size());
}

TEST_F(PosixDriverTest, transfers_beyond_the_limit_of_one_call_are_split) {
  constexpr std::int64_t kLimit = 0x7ffff000;
  constexpr std::int64_t kBytes = kLimit + 100;
  void* memory =
      ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto driver = open();
  script.pretend = true;
  const Transfer transfer{{0, kBytes}, static_cast<std::byte*>(memory)};
  EXPECT_EQ(driver->transfer(Direction::write, {&transfer, 1}).bytes, kBytes);
  EXPECT_EQ(script.moves, (std::vector<std::int64_t>{kLimit, 100}));
  ::munmap(memory, kBytes);
}

TEST_F(PosixDriverTest, an_interrupted_open_is_continued_and_closed_on_exec) {
  script.interrupt = true;
  EXPECT_TRUE(open_status(path_, kReadWriteCreate).ok());
  EXPECT_NE(script.open_flags & O_CLOEXEC, 0);
}

TEST_F(PosixDriverTest, created_files_get_the_permissions_less_the_umask) {
  const mode_t before = ::umask(027);
  OpenMode mode = kReadWriteCreate;
  mode.permissions = 0664;
  EXPECT_TRUE(open_status(path_, mode).ok());
  ::umask(before);
  struct stat info = {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, mode_t{0640});
}

TEST_F(PosixDriverTest, refusals_to_open_are_told_apart) {
  const std::vector<std::pair<int, Errc>> expected = {{EACCES, Errc::access},
                                                      {EPERM, Errc::access},
                                                      {EROFS, Errc::read_only},
                                                      {ENOENT, Errc::no_such_file},
                                                      {EEXIST, Errc::file_exists},
                                                      {EISDIR, Errc::bad_file},
                                                      {ENAMETOOLONG, Errc::bad_file},
                                                      {ENOTDIR, Errc::bad_file},
                                                      {ELOOP, Errc::bad_file},
                                                      {EINVAL, Errc::bad_file},
                                                      {ENOMEM, Errc::no_memory},
                                                      {ETXTBSY, Errc::file_in_use},
                                                      {EBUSY, Errc::file_in_use},
                                                      {ENOSPC, Errc::no_space},
                                                      {EDQUOT, Errc::quota},
                                                      {ESTALE, Errc::io},
                                                      {EMFILE, Errc::io},
                                                      {EIO, Errc::io}};
  for (const auto& [error, code] : expected) {
    script.open_error = error;
    const Status status = open_status(path_, kReadWriteCreate);
    EXPECT_EQ(status.code, code) << std::strerror(error);
    EXPECT_EQ(status.os_error, error);
  }
}

TEST_F(PosixDriverTest, names_that_are_no_files_are_refused) {
  EXPECT_EQ(open_status(scratch_.file("")).code, Errc::bad_file);
  EXPECT_EQ(open_status(scratch_.file(""), kReadWriteCreate).code, Errc::bad_file);
  EXPECT_EQ(open_status(std::string("a\0b", 3)).code, Errc::bad_file);
  EXPECT_EQ(open_status(scratch_.file(std::string(300, 'x')), kReadWriteCreate).code,
            Errc::bad_file);
  EXPECT_EQ(open_status(scratch_.file("missing/file"), kReadWriteCreate).code, Errc::no_such_file);
  ASSERT_TRUE(open_status(path_, kReadWriteCreate).ok());
  EXPECT_EQ(open_status(path_ + "/file").code, Errc::bad_file);
  EXPECT_EQ(storage_.remove(scratch_.file("")).code, Errc::bad_file);
  EXPECT_EQ(storage_.remove("").code, Errc::bad_file);
}

TEST_F(PosixDriverTest, a_pipe_is_refused_without_waiting_for_its_other_end) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(open_status(path_).code, Errc::bad_file);
}

TEST_F(PosixDriverTest, an_open_that_fails_late_leaves_no_descriptor) {
  script.fstat_error = EIO;
  EXPECT_EQ(open_status(path_, kReadWriteCreate).code, Errc::io);
  EXPECT_EQ(script.closes, 1);
  script.fstat_error = 0;
  script.type = S_IFDIR;
  EXPECT_EQ(open_status(path_).code, Errc::bad_file);
  EXPECT_EQ(script.closes, 2);
}

TEST_F(PosixDriverTest, a_file_that_may_only_be_written_says_so) {
  script.read_write_error = EACCES;
  EXPECT_EQ(open_status(path_, kReadWriteCreate).code, Errc::access);
  const auto driver = open({.read = false, .write = true, .create = true});
  EXPECT_FALSE(driver->capabilities().can_read_back);
  EXPECT_EQ(write_text(*driver, 0, "blind").bytes, 5);
  EXPECT_EQ(read_text(*driver, 0, 5).outcome.status.code, Errc::access);
  EXPECT_TRUE(driver->lock({0, 5}, LockKind::shared).ok());
  EXPECT_TRUE(driver->unlock({0, 5}).ok());
}

TEST_F(PosixDriverTest, a_file_opened_for_reading_takes_no_exclusive_lock) {
  ASSERT_TRUE(open_status(path_, kReadWriteCreate).ok());
  const auto driver = open({.read = true});
  EXPECT_EQ(driver->lock({0, 5}, LockKind::exclusive).code, Errc::access);
  EXPECT_TRUE(driver->lock({0, 5}, LockKind::shared).ok());
}

TEST_F(PosixDriverTest, storage_that_refuses_locks_is_known_at_open) {
  for (const int error : {ENOLCK, ENOSYS, ENOTSUP}) {
    script.probe_error = error;
    const auto driver = open();
    EXPECT_FALSE(driver->capabilities().locks);
    const Status status = driver->lock({0, 5}, LockKind::exclusive);
    EXPECT_EQ(status.code, Errc::unsupported_operation);
    EXPECT_NE(status.note, nullptr);
  }
}

TEST_F(PosixDriverTest, a_refused_lock_is_an_answer_and_holds_nothing) {
  const auto driver = open();
  for (const int error : {ENOLCK, ENOSYS, ENOTSUP}) {
    script.lock_error = error;
    const Status status = driver->lock({0, 5}, LockKind::exclusive);
    EXPECT_EQ(status.code, Errc::unsupported_operation);
    EXPECT_EQ(status.os_error, error);
    EXPECT_NE(status.note, nullptr);
  }
  script.lock_error = 0;
  EXPECT_TRUE(driver->lock({0, 5}, LockKind::exclusive).ok());
}

TEST_F(PosixDriverTest, locks_belong_to_the_open_file) {
  const auto driver = open();
  ASSERT_TRUE(driver->lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_EQ(script.lock_commands, (std::vector<int>{F_OFD_GETLK, F_OFD_SETLKW}));
}

TEST_F(PosixDriverTest, classic_locks_serve_where_the_others_are_unknown) {
  script.per_open_error = EINVAL;
  const auto driver = open();
  EXPECT_TRUE(driver->capabilities().locks);
  ASSERT_TRUE(driver->lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_EQ(script.lock_commands, (std::vector<int>{F_OFD_GETLK, F_GETLK, F_SETLKW}));
}

TEST_F(PosixDriverTest, classic_locks_serve_where_the_others_can_be_asked_about_but_not_taken) {
  const auto driver = open();
  script.per_open_error = EINVAL;
  ASSERT_TRUE(driver->lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_EQ(script.lock_commands, (std::vector<int>{F_OFD_GETLK, F_OFD_SETLKW, F_SETLKW}));
  EXPECT_TRUE(driver->unlock({0, 5}).ok());
}

TEST_F(PosixDriverTest, interrupted_locks_are_continued) {
  script.interrupt = true;
  const auto driver = open();
  EXPECT_TRUE(driver->capabilities().locks);
  EXPECT_TRUE(driver->lock({0, 5}, LockKind::exclusive).ok());
  EXPECT_TRUE(driver->unlock({0, 5}).ok());
}

TEST_F(PosixDriverTest, unlocking_keeps_what_another_holder_shares) {
  const auto driver = open();
  ASSERT_TRUE(driver->lock({0, 20}, LockKind::shared).ok());
  ASSERT_TRUE(driver->lock({5, 5}, LockKind::shared).ok());
  ASSERT_TRUE(driver->lock({12, 20}, LockKind::shared).ok());
  ASSERT_TRUE(driver->unlock({0, 20}).ok());
  EXPECT_EQ(script.kernel_unlocks, (std::vector<Extent>{{0, 5}, {10, 2}}));
  ASSERT_TRUE(driver->unlock({5, 5}).ok());
  ASSERT_TRUE(driver->unlock({12, 20}).ok());
  EXPECT_EQ(script.kernel_unlocks, (std::vector<Extent>{{0, 5}, {10, 2}, {5, 5}, {12, 20}}));
}

TEST_F(PosixDriverTest, preallocation_allocates_blocks) {
  const auto driver = open();
  script.interrupt = true;
  ASSERT_TRUE(driver->preallocate(1 << 20).ok());
  struct stat info = {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
}

TEST_F(PosixDriverTest, preallocation_without_fallocate_appends_zeros_and_touches_nothing_else) {
  for (const int error : {EOPNOTSUPP, ENOSYS}) {
    script.fallocate_error = error;
    const auto driver = open();
    ASSERT_TRUE(driver->resize(0).ok());
    ASSERT_EQ(write_text(*driver, 0, digits(100)).bytes, 100);
    ASSERT_TRUE(driver->preallocate(50).ok());
    EXPECT_EQ(*driver->size(), 100);
    ASSERT_TRUE(driver->preallocate(200'000).ok());
    EXPECT_EQ(read_text(*driver, 0, 300'000).text, digits(100) + std::string(199'900, '\0'));
    struct stat info = {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_GE(info.st_blocks * 512, 200'000);
  }
}

TEST_F(PosixDriverTest, preallocation_on_a_full_disk_is_an_error) {
  const auto driver = open();
  script.fallocate_error = ENOSPC;
  EXPECT_EQ(driver->preallocate(5000).code, Errc::no_space);
  script.fallocate_error = EOPNOTSUPP;
  script.disk_end = 3000;
  const Status status = driver->preallocate(5000);
  EXPECT_EQ(status.code, Errc::no_space);
  EXPECT_EQ(status.offset, 3000);
}

TEST_F(PosixDriverTest, failed_sync_and_close_are_reported) {
  const auto driver = open();
  script.interrupt = true;
  script.sync_error = EIO;
  EXPECT_EQ(driver->sync().code, Errc::io);
  script.sync_error = EINVAL;
  EXPECT_TRUE(driver->sync().ok());
  script.close_error = EDQUOT;
  EXPECT_EQ(driver->close().code, Errc::quota);
}

TEST_F(PosixDriverTest, an_interrupted_close_is_not_repeated) {
  auto driver = open();
  script.close_error = EINTR;
  EXPECT_TRUE(driver->close().ok());
  driver.reset();
  EXPECT_EQ(script.closes, 1);
}

TEST_F(PosixDriverTest, costs_follow_the_file_system) {
  script.magic = TMPFS_MAGIC;
  const double local = open()->capabilities().write_ns;
  script.magic = NFS_SUPER_MAGIC;
  const double remote = open()->capabilities().write_ns;
  EXPECT_GT(remote, 10 * local);
}

/// As coreutils read it from the mount table.
std::string filesystem_by_df(const std::string& path) {
  const std::string command = "df --output=fstype '" + path + "' | tail -n 1 | tr -d ' \n'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text(64, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe.get()));
  return text;
}

TEST_F(PosixDriverTest, the_file_system_is_the_one_that_df_names) {
  const auto driver = open();
  EXPECT_EQ(driver->filesystem(), filesystem_by_df(path_));
  EXPECT_FALSE(driver->filesystem().empty());
  path_ = "/dev/full";
  EXPECT_EQ(open({.read = true, .write = true})->filesystem(), "");
}

TEST_F(PosixDriverTest, a_block_device_has_the_size_of_its_end) {
  ASSERT_EQ(write_text(*open(), 0, "12345").bytes, 5);
  script.type = S_IFBLK;
  const auto driver = open();
  EXPECT_EQ(*driver->size(), 5);
  EXPECT_FALSE(driver->capabilities().resizable);
}

TEST_F(PosixDriverTest, the_full_device_is_full) {
  path_ = "/dev/full";
  const auto driver = open({.read = true, .write = true});
  EXPECT_FALSE(driver->capabilities().resizable);
  const Outcome outcome = write_text(*driver, 4096, "x");
  EXPECT_EQ(outcome.bytes, 0);
  EXPECT_EQ(outcome.status.code, Errc::no_space);
  EXPECT_EQ(outcome.status.os_error, ENOSPC);
  EXPECT_EQ(outcome.status.offset, 4096);
  EXPECT_EQ(driver->resize(0).code, Errc::unsupported_operation);
  EXPECT_EQ(driver->preallocate(10).code, Errc::unsupported_operation);
}

TEST_F(PosixDriverTest, devices_with_offsets_can_be_used) {
  path_ = "/dev/zero";
  EXPECT_EQ(read_text(*open({.read = true}), 1000, 3).text, std::string(3, '\0'));
  path_ = "/dev/null";
  const auto sink = open({.read = true, .write = true});
  EXPECT_EQ(write_text(*sink, 7, "gone").bytes, 4);
  EXPECT_TRUE(sink->sync().ok());
  EXPECT_TRUE(sink->close().ok());
}

}  // namespace
}  // namespace tamis::test
