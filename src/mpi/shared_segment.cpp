#include "mpi/shared_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace tamis {
namespace {

/// An open descriptor, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Status refusal(const char* note) {
  const bool full = errno == ENOMEM || errno == ENOSPC || errno == EMFILE || errno == ENFILE;
  return {.code = full ? Errc::no_memory : Errc::unsupported_operation,
          .os_error = errno,
          .note = note};
}

class SharedSegment final : public Segment {
 public:
  SharedSegment(Descriptor memory, const SegmentName& name, std::byte* data, std::int64_t size)
      : memory_(std::move(memory)), name_(name), data_(data), size_(size) {}
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment() override { munmap(data_, static_cast<std::size_t>(size_)); }

  std::byte* data() override { return data_; }
  std::int64_t size() const override { return size_; }
  SegmentName name() const override { return name_; }

  Status reserve(std::int64_t offset, std::int64_t bytes) override {
    while (fallocate(memory_.get(), 0, offset, bytes) != 0) {
      if (errno != EINTR) return refusal("shared memory cannot be reserved");
    }
    return {};
  }

 private:
  Descriptor memory_;
  SegmentName name_;
  std::byte* data_;
  std::int64_t size_;
};

Result<std::unique_ptr<Segment>> map(Descriptor memory, const SegmentName& name,
                                     std::int64_t size) {
  void* address = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED,
                       memory.get(), 0);
  if (address == MAP_FAILED) return refusal("shared memory cannot be mapped");
  return std::unique_ptr<Segment>(std::make_unique<SharedSegment>(
      std::move(memory), name, static_cast<std::byte*>(address), size));
}

// The words of a SegmentName: process, descriptor, and the number of the memory's inode, which
// tells whether the descriptor still means the same memory.
enum Word : std::size_t { kProcess, kDescriptor, kInode };

}  // namespace

Result<std::unique_ptr<Segment>> create_shared_segment(std::int64_t bytes) {
  if (bytes <= 0) return failure(Errc::arg, "a shared segment needs at least one byte");
  Descriptor memory(memfd_create("tamis", MFD_CLOEXEC));
  if (memory.get() < 0) return refusal("the system gives no anonymous shared memory");
  struct stat about {};
  if (ftruncate(memory.get(), bytes) != 0 || fstat(memory.get(), &about) != 0) {
    return refusal("shared memory cannot be sized");
  }
  const SegmentName name{{getpid(), memory.get(), static_cast<std::int64_t>(about.st_ino)}};
  return map(std::move(memory), name, bytes);
}

Result<std::unique_ptr<Segment>> attach_shared_segment(const SegmentName& name) {
  const std::string path =
      fmt::format("/proc/{}/fd/{}", name.words[kProcess], name.words[kDescriptor]);
  Descriptor memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (memory.get() < 0) return refusal("another rank's shared memory cannot be opened");
  struct stat about {};
  if (fstat(memory.get(), &about) != 0) return refusal("shared memory cannot be examined");
  if (static_cast<std::int64_t>(about.st_ino) != name.words[kInode]) {
    return failure(Errc::unsupported_operation, "another rank's shared memory has gone");
  }
  return map(std::move(memory), name, about.st_size);
}

}  // namespace tamis
