#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <random>

#include "drivers/posix/posix.hpp"
#include "drivers/storages.hpp"
#include "probe.hpp"

namespace tamis::probe {
namespace {

/// Signals wait while this lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

bool is_directory(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

SystemCalls past_the_cache() {
  SystemCalls calls = SystemCalls::real();
  calls.open = [](const char* path, int flags, mode_t permissions) {
    return ::open(path, flags | O_DIRECT, permissions);
  };
  return calls;
}

/// Every write is refused: what preallocates here does so without writing zeros.
SystemCalls without_writes() {
  SystemCalls calls = SystemCalls::real();
  calls.pwritev = [](int, const iovec*, int, off_t) -> ssize_t {
    errno = ENOTSUP;
    return -1;
  };
  calls.pwrite = [](int, const void*, size_t, off_t) -> ssize_t {
    errno = ENOTSUP;
    return -1;
  };
  return calls;
}

std::unique_ptr<Driver> open_file(PosixStorage& storage, const std::string& path,
                                  const OpenMode& mode, Status& status) {
  Result<std::unique_ptr<Driver>> opened = storage.open(path, mode);
  status = opened.status();
  return opened.ok() ? std::move(*opened) : nullptr;
}

}  // namespace

Place place_of(const std::string& name) {
  Place place;
  Storages storages;
  const Result<Storage*> found = storages.find(name, place.name);
  place.process_local = Storages::is_process_local(name);
  if (!found.ok()) place.error = ENOENT;
  if (!found.ok() || place.process_local) return place;
  const std::string directory = is_directory(place.name) ? place.name : parent_of(place.name);
  char* real = realpath(directory.c_str(), nullptr);
  if (real == nullptr) {
    place.error = errno;
    return place;
  }
  place.directory = real;
  std::free(real);  // NOLINT(cppcoreguidelines-no-malloc): realpath's
  if (!is_directory(place.directory)) {
    place.error = ENOTDIR;
    place.directory.clear();
  }
  place.mount = mount_of(place.directory);
  return place;
}

ScratchFile::ScratchFile(const std::string& directory) {
  const std::string path =
      fmt::format("{}/.tamis-probe-{}-{:x}", directory, getpid(), std::random_device()());
  const SignalsHeld held;
  PosixStorage storage;
  PosixStorage silent(without_writes());
  PosixStorage direct(past_the_cache());
  OpenMode mode{
      .read = true, .write = true, .create = true, .exclusive = true, .permissions = 0600};
  plain_ = open_file(storage, path, mode, status_);
  if (plain_ == nullptr) return;
  mode.create = mode.exclusive = false;
  Status ignored;
  second_ = open_file(silent, path, mode, ignored);
  direct_ = open_file(direct, path, mode, direct_status_);
  advice_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  status_ = storage.remove(path);
}

ScratchFile::~ScratchFile() {
  if (advice_ >= 0) ::close(advice_);
}

void ScratchFile::forget() {
  if (advice_ >= 0) posix_fadvise(advice_, 0, 0, POSIX_FADV_DONTNEED);
}

Buffer::Buffer(std::int64_t bytes)
    : data_(static_cast<std::byte*>(
          ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(kAlignment)))) {
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < bytes; ++i) data_[i] = static_cast<std::byte>(random());
}

Buffer::~Buffer() { ::operator delete(data_, std::align_val_t(kAlignment)); }

}  // namespace tamis::probe
