#pragma once

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

namespace tamis {

/// Every call the posix driver makes into the system, with the system's own conventions (-1 and
/// errno). A test replaces entries to make the next call short, interrupted or refused.
struct SystemCalls {
  int (*open)(const char* path, int flags, mode_t permissions);
  int (*close)(int fd);
  int (*stat)(const char* path, struct stat* info);
  int (*fstat)(int fd, struct stat* info);
  int (*fstatfs)(int fd, struct statfs* info);
  ssize_t (*pread)(int fd, void* into, size_t bytes, off_t offset);
  ssize_t (*pwrite)(int fd, const void* from, size_t bytes, off_t offset);
  ssize_t (*preadv)(int fd, const iovec* into, int count, off_t offset);
  ssize_t (*pwritev)(int fd, const iovec* from, int count, off_t offset);
  int (*fdatasync)(int fd);
  int (*ftruncate)(int fd, off_t bytes);
  int (*fallocate)(int fd, int mode, off_t offset, off_t bytes);
  off_t (*lseek)(int fd, off_t offset, int whence);
  int (*lock)(int fd, int command, struct flock* range);  ///< fcntl(2) with its lock commands
  int (*unlink)(const char* path);
  int (*ring_setup)(unsigned entries, struct io_uring_params* params);  ///< io_uring_setup(2)
  /// io_uring_enter(2)
  int (*ring_enter)(int ring, unsigned to_submit, unsigned to_complete, unsigned flags);

  /// The system's own.
  static SystemCalls real();
};
static_assert(sizeof(off_t) == 8, "file offsets are 64-bit");

}  // namespace tamis
