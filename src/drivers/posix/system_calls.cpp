#include "drivers/posix/system_calls.hpp"

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
  };
}

}  // namespace tamis
