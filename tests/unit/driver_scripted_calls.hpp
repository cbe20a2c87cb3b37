#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <vector>

#include "drivers/posix/system_calls.hpp"
#include "layout/extent.hpp"

namespace tamis::test {

/// What the system is made to do. The calls of SystemCalls carry no context, so it is a global,
/// set anew by every test.
struct Script {
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();  ///< one call moves
  bool interrupt = false;  ///< every other call that can be interrupted is
  std::int64_t disk_end = std::numeric_limits<std::int64_t>::max();  ///< ENOSPC from here on
  std::int64_t broken_byte = -1;  ///< EIO at this byte, both ways
  bool pretend = false;           ///< bytes are counted, not moved
  bool stuck = false;             ///< writes return 0
  int open_error = 0, read_write_error = 0, fstat_error = 0, sync_error = 0, close_error = 0;
  int fallocate_error = 0, lock_error = 0, probe_error = 0, per_open_error = 0;
  mode_t type = 0;         ///< file type that fstat reports; 0: the true one
  std::int64_t magic = 0;  ///< what fstatfs reports; 0: the true one

  std::vector<std::int64_t> moves;  ///< bytes asked of each pread, pwrite
  int vector_calls = 0;             ///< preadv, pwritev
  int open_flags = 0;
  int closes = 0;
  std::vector<int> lock_commands;
  std::vector<Extent> kernel_unlocks;
  bool interrupted_last = false;
};
inline Script script;

inline int fail(int error) {
  errno = error;
  return -1;
}

inline bool interrupted() {
  script.interrupted_last = script.interrupt && !script.interrupted_last;
  return script.interrupted_last;
}

/// Bytes that a call for [offset, offset + bytes) may move; below 0: it fails and errno is set.
inline std::int64_t allowed(std::int64_t offset, std::int64_t bytes, bool writes) {
  if (interrupted()) return fail(EINTR);
  if (writes && script.stuck) return 0;
  if (offset == script.broken_byte) return fail(EIO);
  if (offset < script.broken_byte) bytes = std::min(bytes, script.broken_byte - offset);
  if (writes && offset >= script.disk_end) return fail(ENOSPC);
  if (writes) bytes = std::min(bytes, script.disk_end - offset);
  return std::min(bytes, script.most_bytes);
}

inline ssize_t scripted_move(bool writes, int fd, void* memory, std::int64_t bytes,
                             std::int64_t offset) {
  script.moves.push_back(bytes);
  const std::int64_t some = allowed(offset, bytes, writes);
  if (some <= 0 || script.pretend) return some;
  const auto count = static_cast<std::size_t>(some);
  return writes ? ::pwrite(fd, memory, count, offset) : ::pread(fd, memory, count, offset);
}

inline ssize_t scripted_vector(bool writes, int fd, const iovec* pieces, int count,
                               std::int64_t offset) {
  ++script.vector_calls;
  std::int64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += static_cast<std::int64_t>(pieces[i].iov_len);
  std::int64_t left = allowed(offset, bytes, writes);
  if (left <= 0) return left;
  std::vector<iovec> some;
  for (int i = 0; i < count && left > 0; ++i) {
    const auto length = std::min(pieces[i].iov_len, static_cast<std::size_t>(left));
    some.push_back({pieces[i].iov_base, length});
    left -= static_cast<std::int64_t>(length);
  }
  const int pieces_left = static_cast<int>(some.size());
  return writes ? ::pwritev(fd, some.data(), pieces_left, offset)
                : ::preadv(fd, some.data(), pieces_left, offset);
}

inline int scripted_open(const char* path, int flags, mode_t permissions) {
  script.open_flags = flags;
  if (interrupted()) return fail(EINTR);
  if (script.open_error != 0) return fail(script.open_error);
  if (script.read_write_error != 0 && (flags & O_ACCMODE) == O_RDWR) {
    return fail(script.read_write_error);
  }
  return ::open(path, flags, permissions);
}

inline int scripted_close(int fd) {
  ++script.closes;
  const int result = ::close(fd);
  return script.close_error != 0 ? fail(script.close_error) : result;
}

inline int scripted_fstat(int fd, struct stat* info) {
  if (script.fstat_error != 0) return fail(script.fstat_error);
  const int result = ::fstat(fd, info);
  if (script.type != 0) info->st_mode = script.type | (info->st_mode & ~mode_t{S_IFMT});
  return result;
}

inline int scripted_fstatfs(int fd, struct statfs* info) {
  const int result = ::fstatfs(fd, info);
  if (script.magic != 0) info->f_type = script.magic;
  return result;
}

inline int scripted_lock(int fd, int command, struct flock* range) {
  script.lock_commands.push_back(command);
  const bool asks = command == F_OFD_GETLK || command == F_GETLK;
  const bool per_open = command == F_OFD_GETLK || command == F_OFD_SETLKW;
  if (interrupted()) return fail(EINTR);
  if (asks && script.probe_error != 0) return fail(script.probe_error);
  if (per_open && script.per_open_error != 0) return fail(script.per_open_error);
  if (!asks && script.lock_error != 0) return fail(script.lock_error);
  if (range->l_type == F_UNLCK) script.kernel_unlocks.push_back({range->l_start, range->l_len});
  return ::fcntl(fd, command, range);
}

inline SystemCalls scripted() {
  SystemCalls calls = SystemCalls::real();
  calls.open = scripted_open;
  calls.close = scripted_close;
  calls.fstat = scripted_fstat;
  calls.fstatfs = scripted_fstatfs;
  calls.pread = [](int fd, void* into, size_t bytes, off_t offset) {
    return scripted_move(false, fd, into, static_cast<std::int64_t>(bytes), offset);
  };
  calls.pwrite = [](int fd, const void* from, size_t bytes, off_t offset) {
    return scripted_move(true, fd, const_cast<void*>(from), static_cast<std::int64_t>(bytes),
                         offset);
  };
  calls.preadv = [](int fd, const iovec* into, int count, off_t offset) {
    return scripted_vector(false, fd, into, count, offset);
  };
  calls.pwritev = [](int fd, const iovec* from, int count, off_t offset) {
    return scripted_vector(true, fd, from, count, offset);
  };
  calls.fdatasync = [](int fd) {
    if (interrupted()) return fail(EINTR);
    return script.sync_error != 0 ? fail(script.sync_error) : ::fdatasync(fd);
  };
  calls.fallocate = [](int fd, int mode, off_t offset, off_t bytes) {
    if (interrupted()) return fail(EINTR);
    return script.fallocate_error != 0 ? fail(script.fallocate_error)
                                       : ::fallocate(fd, mode, offset, bytes);
  };
  calls.lock = scripted_lock;
  return calls;
}

}  // namespace tamis::test
