#include "drivers/posix/posix.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/attempt.hpp"
#include "drivers/posix/built_in_costs.hpp"
#include "drivers/posix/errors.hpp"
#include "drivers/posix/posix_driver.hpp"

namespace tamis {
namespace {

FileSystemCosts costs_of(const SystemCalls& calls, int fd) {
  struct statfs info = {};
  if (calls.fstatfs(fd, &info) != 0) return built_in_costs(kOtherFileSystem);
  return built_in_costs(static_cast<std::int64_t>(info.f_type));
}

/// Directories have no bytes; pipes and sockets have no offsets, and opening a pipe can wait for
/// ever.
Status check_type(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return failure(Errc::bad_file, "is a directory");
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) {
    return failure(Errc::bad_file, "is a pipe or socket, which has no file offsets");
  }
  return {};
}

Status check_name(const std::string& path) {
  if (path.empty()) return failure(Errc::bad_file, "the file name is empty");
  if (path.find('\0') != std::string::npos) {
    return failure(Errc::bad_file, "the file name contains a zero byte");
  }
  return {};
}

/// Asks the kernel about a lock without taking one.
LockFlavour probe_locks(const SystemCalls& calls, int fd, bool readable) {
  for (const LockFlavour flavour : {LockFlavour::per_open, LockFlavour::per_process}) {
    struct flock range = {};
    range.l_type = static_cast<short>(readable ? F_RDLCK : F_WRLCK);
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    const int command = flavour == LockFlavour::per_open ? F_OFD_GETLK : F_GETLK;
    int result = 0;
    do {
      result = calls.lock(fd, command, &range);
    } while (result != 0 && errno == EINTR);
    if (result == 0) return flavour;
    if (errno != EINVAL) return LockFlavour::none;
  }
  return LockFlavour::none;
}

int open_descriptor(const SystemCalls& calls, const std::string& path, int access,
                    const OpenMode& mode) {
  int flags = access | O_CLOEXEC | O_NOCTTY;
  if (mode.create) flags |= O_CREAT;
  if (mode.create && mode.exclusive) flags |= O_EXCL;
  int fd = -1;
  do {
    fd = calls.open(path.c_str(), flags, static_cast<mode_t>(mode.permissions));
  } while (fd < 0 && errno == EINTR);
  return fd;
}

/// Opens the descriptor; file.fd stays -1 and errno is set where that fails. A file to be written
/// is opened for reading too if that is allowed: read-modify-write has to see what is there.
PosixFile open_file(const SystemCalls& calls, const std::string& path, const OpenMode& mode) {
  PosixFile file;
  file.readable = true;
  file.writable = mode.write;
  file.fd = open_descriptor(calls, path, mode.write ? O_RDWR : O_RDONLY, mode);
  const bool refused = file.fd < 0 && (errno == EACCES || errno == EPERM);
  if (refused && mode.write && !mode.read) {
    file.readable = false;
    file.fd = open_descriptor(calls, path, O_WRONLY, mode);
  }
  return file;
}

void describe(const SystemCalls& calls, const struct stat& info, PosixFile& file) {
  const FileSystemCosts costs = costs_of(calls, file.fd);
  file.is_block_device = S_ISBLK(info.st_mode);
  file.locks = probe_locks(calls, file.fd, file.readable);
  file.capabilities = {.name = "posix",
                       .locks = file.locks != LockFlavour::none,
                       .can_read_back = file.readable,
                       .resizable = S_ISREG(info.st_mode),
                       .block_bytes = std::max<std::int64_t>(info.st_blksize, 1),
                       .read_ns = costs.read_ns,
                       .write_ns = costs.write_ns,
                       .byte_ns = costs.byte_ns,
                       .lock_ns = costs.lock_ns};
}

/// Costs as measured, where they were. Without memory to find them out the built-in ones stay.
void use_profile(ProfileCache& profiles, const struct stat& info, PosixFile& file) {
  if (!S_ISREG(info.st_mode)) return;
  static_cast<void>(attempt([&] {
    FoundProfile found = profiles.of(info.st_dev, file.fd);
    if (!found.profile) return Status{};
    Capabilities& costs = file.capabilities;
    costs.read_ns = found.profile->read_ns;
    costs.write_ns = found.profile->write_ns;
    costs.byte_ns = found.profile->byte_ns();
    costs.lock_ns = found.profile->lock_ns;
    costs.costs_source = std::move(found.file);
    return Status{};
  }));
}

}  // namespace

Result<std::unique_ptr<Driver>> PosixStorage::open(const std::string& path, const OpenMode& mode) {
  if (const Status named = check_name(path); !named.ok()) return named;
  struct stat info = {};
  if (calls_.stat(path.c_str(), &info) == 0) {
    if (const Status typed = check_type(info); !typed.ok()) return typed;
  }
  PosixFile file = open_file(calls_, path, mode);
  const int fd = file.fd;
  if (fd < 0) return from_errno(errno, Subject::name);
  Status status;
  if (calls_.fstat(fd, &info) != 0) status = from_errno(errno, Subject::name);
  if (status.ok()) status = check_type(info);
  if (status.ok()) {
    describe(calls_, info, file);
    use_profile(profiles_, info, file);
    std::unique_ptr<Driver> driver(new (std::nothrow) PosixDriver(calls_, std::move(file)));
    if (driver) return driver;
    status = failure(Errc::no_memory, "no memory for an open file");
  }
  calls_.close(fd);
  return status;
}

Status PosixStorage::remove(const std::string& path) {
  if (const Status named = check_name(path); !named.ok()) return named;
  if (calls_.unlink(path.c_str()) != 0) return from_errno(errno, Subject::name);
  return {};
}

}  // namespace tamis
