#include "drivers/posix/posix_driver.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/checked.hpp"
#include "drivers/posix/errors.hpp"
#include "drivers/posix/mounts.hpp"
#include "drivers/posix/ring_queue.hpp"

namespace tamis {
namespace {

/// The kernel moves no more than this in one call (read(2)).
constexpr std::int64_t kLargestTransfer = 0x7ffff000;

constexpr std::size_t kZeroBytes = 64 << 10;
constexpr std::array<std::byte, kZeroBytes> kZeros{};

/// The leading entries that touch in the file and fit into one system call; at least one.
std::span<const Transfer> leading_group(std::span<const Transfer> batch) {
  std::size_t count = 1;
  std::int64_t bytes = batch[0].file.length;
  while (count < batch.size() && count < IOV_MAX) {
    const Extent& next = batch[count].file;
    if (next.offset != batch[count - 1].file.end() || !is_file_range(next)) break;
    if (next.length > kLargestTransfer - bytes) break;
    bytes += next.length;
    ++count;
  }
  return batch.first(count);
}

std::int64_t bytes_of(std::span<const Transfer> group) {
  std::int64_t bytes = 0;
  for (const Transfer& transfer : group) bytes += transfer.file.length;
  return bytes;
}

/// Drops the first `bytes` bytes.
std::span<iovec> drop_front(std::span<iovec> pieces, std::size_t bytes) {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
  return pieces;
}

iovec piece_of(const Transfer& transfer) {
  return {transfer.memory, static_cast<std::size_t>(transfer.file.length)};
}

/// Repeats a call that a signal interrupted.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Status refused_locks(int error) {
  Status status = from_errno(error, Subject::data);
  if (status.code == Errc::unsupported_operation) {
    status.note = "the file system refuses byte-range locks";
  }
  return status;
}

bool never_syncs(int error) { return error == EINVAL || error == EROFS || error == ENOTSUP; }

}  // namespace

PosixDriver::PosixDriver(const SystemCalls& calls, PosixFile file)
    : calls_(calls), file_(std::move(file)), flavour_(file_.locks) {}

PosixDriver::~PosixDriver() {
  if (file_.fd >= 0) calls_.close(file_.fd);
}

// HOT PATH: one piece that the kernel moves at once, as nearly all are. What is left after a short
// or interrupted call goes on in transfer_batch.
Outcome PosixDriver::transfer(Direction direction, std::span<const Transfer> batch) {
  const bool write = direction == Direction::write;
  if (batch.size() != 1 || !(write ? file_.writable : file_.readable))
    return transfer_batch(direction, batch);
  const auto [file, memory] = batch[0];
  if (file.length > kLargestTransfer || !is_file_range(file))
    return transfer_batch(direction, batch);
  const auto bytes = static_cast<std::size_t>(file.length);
  const ssize_t moved = write ? calls_.pwrite(file_.fd, memory, bytes, file.offset)
                              : calls_.pread(file_.fd, memory, bytes, file.offset);
  if (moved == file.length) [[likely]]
    return {.bytes = moved, .status = {}};
  if (moved < 0 && errno != EINTR) return {0, from_errno(errno, Subject::data, file.offset)};
  const std::int64_t done = std::max<std::int64_t>(moved, 0);
  const Transfer rest{between(file.offset + done, file.end()), memory + done};
  Outcome outcome = transfer_batch(direction, {&rest, 1});
  outcome.bytes += done;
  return outcome;
}

Outcome PosixDriver::transfer_batch(Direction direction, std::span<const Transfer> batch) {
  Outcome outcome;
  if (direction == Direction::write && !file_.writable) {
    outcome.status = failure(Errc::access, "the file was not opened for writing");
    return outcome;
  }
  if (direction == Direction::read && !file_.readable) {
    outcome.status = failure(Errc::access, "the file may be written but not read");
    return outcome;
  }
  while (!batch.empty()) {
    if (!is_file_range(batch[0].file)) {
      outcome.status = failure(Errc::arg, "a transfer outside the offsets a file can have");
      return outcome;
    }
    const std::span<const Transfer> group = leading_group(batch);
    iovec single = piece_of(group[0]);
    const Outcome moved = group.size() == 1
                              ? move(direction, group[0].file.offset, std::span(&single, 1))
                              : transfer_joined(direction, group);
    outcome.bytes += moved.bytes;
    outcome.status = moved.status;
    if (!moved.status.ok() || moved.bytes < bytes_of(group)) return outcome;
    batch = batch.subspan(group.size());
  }
  return outcome;
}

Outcome PosixDriver::transfer_joined(Direction direction, std::span<const Transfer> group) {
  std::array<iovec, IOV_MAX> pieces;
  std::ranges::transform(group, pieces.begin(), piece_of);
  return move(direction, group[0].file.offset, std::span(pieces).first(group.size()));
}

/// Moves the pieces to or from consecutive bytes of the file; continues short and interrupted
/// calls. Uses `pieces` up.
Outcome PosixDriver::move(Direction direction, std::int64_t offset, std::span<iovec> pieces) {
  Outcome outcome;
  pieces = drop_front(pieces, 0);
  while (!pieces.empty()) {
    const std::int64_t here = offset + outcome.bytes;
    const ssize_t moved = uninterrupted([&] { return move_once(direction, here, pieces); });
    if (moved < 0) {
      outcome.status = from_errno(errno, Subject::data, here);
      return outcome;
    }
    if (moved == 0) {
      if (direction == Direction::write) {
        outcome.status = {.code = Errc::io, .offset = here, .note = "a write made no progress"};
      }
      return outcome;
    }
    outcome.bytes += moved;
    pieces = drop_front(pieces, static_cast<std::size_t>(moved));
  }
  return outcome;
}

ssize_t PosixDriver::move_once(Direction direction, std::int64_t offset,
                               std::span<const iovec> pieces) {
  if (pieces.size() == 1) {
    const std::size_t bytes =
        std::min(pieces[0].iov_len, static_cast<std::size_t>(kLargestTransfer));
    return direction == Direction::write
               ? calls_.pwrite(file_.fd, pieces[0].iov_base, bytes, offset)
               : calls_.pread(file_.fd, pieces[0].iov_base, bytes, offset);
  }
  const int count = checked_cast<int>(pieces.size());
  return direction == Direction::write ? calls_.pwritev(file_.fd, pieces.data(), count, offset)
                                       : calls_.preadv(file_.fd, pieces.data(), count, offset);
}

// Containers often forbid io_uring, and a system may have it switched off.
Result<std::unique_ptr<TransferQueue>> PosixDriver::queue(const QueueOptions& options) {
  if (options.kind == QueueKind::ring) {
    Result<std::unique_ptr<TransferQueue>> ring = RingQueue::make(calls_, *this, file_.fd, options);
    if (ring.ok()) return ring;
  }
  return Driver::queue(options);
}

Status PosixDriver::sync() {
  if (uninterrupted([&] { return calls_.fdatasync(file_.fd); }) == 0) return {};
  if (never_syncs(errno)) return {};  // a device, or nothing that could be written
  return from_errno(errno, Subject::data);
}

Result<std::int64_t> PosixDriver::size() {
  if (file_.is_block_device) {
    const off_t end = calls_.lseek(file_.fd, 0, SEEK_END);
    if (end < 0) return from_errno(errno, Subject::data);
    return std::int64_t{end};
  }
  struct stat info = {};
  if (calls_.fstat(file_.fd, &info) != 0) return from_errno(errno, Subject::data);
  return std::int64_t{info.st_size};
}

Status PosixDriver::resize(std::int64_t bytes) {
  if (bytes < 0) return failure(Errc::arg, "a negative file size");
  if (!file_.writable) return failure(Errc::access, "the file was not opened for writing");
  if (!file_.capabilities.resizable) {
    return failure(Errc::unsupported_operation, "the size of a device cannot be set");
  }
  if (uninterrupted([&] { return calls_.ftruncate(file_.fd, bytes); }) == 0) return {};
  return from_errno(errno, Subject::data, bytes);
}

Status PosixDriver::preallocate(std::int64_t bytes) {
  if (bytes < 0) return failure(Errc::arg, "a negative file size");
  if (!file_.writable) return failure(Errc::access, "the file was not opened for writing");
  if (!file_.capabilities.resizable) {
    return failure(Errc::unsupported_operation, "the size of a device cannot be set");
  }
  if (bytes == 0) return {};
  if (uninterrupted([&] { return calls_.fallocate(file_.fd, 0, 0, bytes); }) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS) return append_zeros(bytes);
  return from_errno(errno, Subject::data);
}

/// Preallocation where the file system has none: writes zeros from the end of the file on. Bytes
/// before the end are never touched, so holes there stay holes. Nobody else may extend the file
/// meanwhile; MPI_File_preallocate is collective and sees to that among the ranks.
Status PosixDriver::append_zeros(std::int64_t bytes) {
  const Result<std::int64_t> end = size();
  if (!end.ok()) return end.status();
  std::int64_t offset = *end;
  while (offset < bytes) {
    const std::int64_t length = std::min<std::int64_t>(kZeroBytes, bytes - offset);
    // A write only reads the memory.
    iovec zeros{const_cast<std::byte*>(kZeros.data()), static_cast<std::size_t>(length)};
    const Outcome written = move(Direction::write, offset, std::span(&zeros, 1));
    if (!written.status.ok()) return written.status;
    offset += length;
  }
  return {};
}

/// Sets (waiting) or clears a lock of the kernel's. Where the file system knows no
/// open-file-description locks although it let us ask about them, classic ones are taken from then
/// on; none of the former kind can be held at that time.
Status PosixDriver::set_kernel_lock(const Extent& range, short type, bool wait) {
  for (;;) {
    const LockFlavour flavour = flavour_.load();
    struct flock wanted = {};
    wanted.l_type = type;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = range.offset;
    wanted.l_len = range.length;
    const bool per_open = flavour == LockFlavour::per_open;
    const int command =
        wait ? (per_open ? F_OFD_SETLKW : F_SETLKW) : (per_open ? F_OFD_SETLK : F_SETLK);
    if (uninterrupted([&] { return calls_.lock(file_.fd, command, &wanted); }) == 0) return {};
    if (errno != EINVAL || flavour == LockFlavour::per_process) return refused_locks(errno);
    flavour_.store(LockFlavour::per_process);
  }
}

Status PosixDriver::check_lock(const Extent& range, LockKind kind) const {
  if (!is_file_range(range))
    return failure(Errc::arg, "a lock outside the offsets a file can have");
  if (file_.locks == LockFlavour::none) return refused_locks(ENOTSUP);
  if (kind == LockKind::exclusive && !file_.writable) {
    return failure(Errc::access, "an exclusive lock needs a file opened for writing");
  }
  return {};
}

// The kernel shares a lock only with descriptors that can read.
short PosixDriver::kernel_lock_of(LockKind kind) const {
  const bool shared = kind == LockKind::shared && file_.readable;
  return static_cast<short>(shared ? F_RDLCK : F_WRLCK);
}

Status PosixDriver::lock(const Extent& range, LockKind kind) {
  if (is_file_range(range) && (kind == LockKind::none || range.empty())) return {};
  Status status = check_lock(range, kind);
  if (status.ok()) status = held_.acquire(this, range, kind, LockWait::block);
  if (!status.ok()) return status;
  status = set_kernel_lock(range, kernel_lock_of(kind));
  if (!status.ok()) status.keep_first(held_.release(this, range, nullptr));
  return status;
}

Result<bool> PosixDriver::try_lock(const Extent& range, LockKind kind) {
  const Status allowed = check_lock(range, kind);
  if (!allowed.ok()) return allowed;
  if (!held_.acquire(this, range, kind, LockWait::refuse).ok()) return false;
  Status status = set_kernel_lock(range, kernel_lock_of(kind), false);
  if (status.ok()) return true;
  const bool held_by_another = status.os_error == EAGAIN || status.os_error == EACCES;
  const Status released = held_.release(this, range, nullptr);
  if (held_by_another && released.ok()) return false;
  return status;
}

Status PosixDriver::unlock(const Extent& range) {
  if (range.empty()) return {};
  return held_.release(this, range,
                       [this](const Extent& free) { return set_kernel_lock(free, F_UNLCK); });
}

// A device has bytes of its own; the file system that holds its name does not keep them.
std::string PosixDriver::filesystem() const {
  return file_.capabilities.resizable ? mount_of(path_of(file_.fd)).type : std::string();
}

Status PosixDriver::close() {
  const int fd = std::exchange(file_.fd, -1);
  // Linux has given the descriptor back even where a signal interrupts; a second try could close
  // somebody else's.
  if (calls_.close(fd) == 0 || errno == EINTR) return {};
  return from_errno(errno, Subject::data);
}

}  // namespace tamis
