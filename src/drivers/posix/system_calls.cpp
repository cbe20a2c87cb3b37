#include "drivers/posix/system_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace tamis {

SystemCalls SystemCalls::real() {
  return {
      .open = [](const char* path, int flags,
                 mode_t permissions) { return ::open(path, flags, permissions); },
      .close = ::close,
      .stat = ::stat,
      .fstat = ::fstat,
      .fstatfs = ::fstatfs,
      .pread = ::pread,
      .pwrite = ::pwrite,
      .preadv = ::preadv,
      .pwritev = ::pwritev,
      .fdatasync = ::fdatasync,
      .ftruncate = ::ftruncate,
      .fallocate = ::fallocate,
      .lseek = ::lseek,
      .lock = [](int fd, int command, struct flock* range) { return ::fcntl(fd, command, range); },
      .unlink = ::unlink,
      .ring_setup =
          [](unsigned entries, struct io_uring_params* params) {
            return static_cast<int>(::syscall(SYS_io_uring_setup, entries, params));
          },
      .ring_enter =
          [](int ring, unsigned to_submit, unsigned to_complete, unsigned flags) {
            return static_cast<int>(::syscall(SYS_io_uring_enter, ring, to_submit, to_complete,
                                              flags, nullptr, size_t{0}));
          },
  };
}

}  // namespace tamis
