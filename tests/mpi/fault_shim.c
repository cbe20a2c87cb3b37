/* Preloaded before all else, makes the system fail for one file as TAMIS_FAULT says, so that real
   ranks meet what a healthy machine never shows. The environment is read at every call: a program
   sets and clears its faults by setenv, every rank its own.

   TAMIS_FAULT_FILE   ending of the file's name; nothing happens to other files
   TAMIS_FAULT        short            every transfer of two bytes and more moves half of them
                      interrupt        every other transfer or lock is interrupted by a signal
                      eio_from:BYTE    no byte from that one on can be moved
                      eio_call:N       the Nth transfer since the fault was set fails
                      no_lock:ERRNO    no lock can be set, though one can ask about them
                      no_locks:ERRNO   nor asked about */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The argument of the fault if it is of that kind and meant for this descriptor; -1 otherwise. */
static long long fault(int fd, const char* kind) {
  const char* wanted = getenv("TAMIS_FAULT");
  const char* ending = getenv("TAMIS_FAULT_FILE");
  const size_t length = strlen(kind);
  if (wanted == NULL || ending == NULL || strncmp(wanted, kind, length) != 0) return -1;
  if (wanted[length] != '\0' && wanted[length] != ':') return -1;
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, name, sizeof name);
  const size_t tail = strlen(ending);
  if (n < 0 || (size_t)n < tail || memcmp(name + n - tail, ending, tail) != 0) return -1;
  return wanted[length] == ':' ? atoll(wanted + length + 1) : 0;
}

/* Every other call that can be interrupted is. */
static bool interrupted(int fd) {
  static unsigned calls;
  if (fault(fd, "interrupt") < 0 || calls++ % 2 != 0) return false;
  errno = EINTR;
  return true;
}

/* How many of the bytes may be moved; -1 with errno set where the call fails. */
static ssize_t allowed(int fd, size_t bytes, off_t offset) {
  static long long calls; /* since the fault was set */
  const long long bad_byte = fault(fd, "eio_from");
  const long long bad_call = fault(fd, "eio_call");
  calls = bad_call < 0 ? 0 : calls + 1;
  if (interrupted(fd)) return -1;
  if ((bad_byte >= 0 && bytes > 0 && offset >= bad_byte) || (bad_call >= 0 && calls == bad_call)) {
    errno = EIO;
    return -1;
  }
  if (bad_byte >= 0 && (long long)bytes > bad_byte - offset) return bad_byte - offset;
  if (fault(fd, "short") >= 0 && bytes > 1) return (ssize_t)(bytes / 2);
  return (ssize_t)bytes;
}

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t pread(int fd, void* buffer, size_t bytes, off_t offset) {
  ssize_t (*real)(int, void*, size_t, off_t) = next("pread");
  const ssize_t n = allowed(fd, bytes, offset);
  return n < 0 ? n : real(fd, buffer, (size_t)n, offset);
}

ssize_t pwrite(int fd, const void* buffer, size_t bytes, off_t offset) {
  ssize_t (*real)(int, const void*, size_t, off_t) = next("pwrite");
  const ssize_t n = allowed(fd, bytes, offset);
  return n < 0 ? n : real(fd, buffer, (size_t)n, offset);
}

/* The leading pieces that hold `bytes` bytes, the last one cut; how many there are. */
static int cut(const struct iovec* from, int count, size_t bytes, struct iovec* to) {
  int pieces = 0;
  while (pieces < count && bytes > 0) {
    to[pieces] = from[pieces];
    if (to[pieces].iov_len > bytes) to[pieces].iov_len = bytes;
    bytes -= to[pieces++].iov_len;
  }
  return pieces;
}

static ssize_t vectored(const char* name, int fd, const struct iovec* pieces, int count,
                        off_t offset) {
  ssize_t (*real)(int, const struct iovec*, int, off_t) = next(name);
  enum { most = 1024 };
  struct iovec part[most];
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  const ssize_t n = allowed(fd, bytes, offset);
  if (n < 0 || (size_t)n == bytes || count > most)
    return n < 0 ? n : real(fd, pieces, count, offset);
  return real(fd, part, cut(pieces, count, (size_t)n, part), offset);
}

ssize_t preadv(int fd, const struct iovec* pieces, int count, off_t offset) {
  return vectored("preadv", fd, pieces, count, offset);
}

ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t offset) {
  return vectored("pwritev", fd, pieces, count, offset);
}

static bool sets_lock(int command) {
  return command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_SETLK ||
         command == F_SETLKW;
}

static bool asks_lock(int command) { return command == F_OFD_GETLK || command == F_GETLK; }

int fcntl(int fd, int command, ...) {
  int (*real)(int, int, void*) = next("fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!sets_lock(command) && !asks_lock(command)) return real(fd, command, argument);
  const long long neither = fault(fd, "no_locks");
  const long long refused = sets_lock(command) && neither < 0 ? fault(fd, "no_lock") : neither;
  if (refused > 0) {
    errno = (int)refused;
    return -1;
  }
  return interrupted(fd) ? -1 : real(fd, command, argument);
}

/* The same functions by the names that programs compiled for large files call. */
ssize_t pread64(int, void*, size_t, off_t) __attribute__((alias("pread")));
ssize_t pwrite64(int, const void*, size_t, off_t) __attribute__((alias("pwrite")));
ssize_t preadv64(int, const struct iovec*, int, off_t) __attribute__((alias("preadv")));
ssize_t pwritev64(int, const struct iovec*, int, off_t) __attribute__((alias("pwritev")));
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));
