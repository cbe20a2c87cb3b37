#include "mpi/shared_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/// The process's limit on file sizes (RLIMIT_FSIZE) holds for memory files, too, and to go beyond
/// it is a signal that ends the program.
bool exceeds_file_limit(std::int64_t bytes) {
  struct rlimit limit {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         limit.rlim_cur < static_cast<rlim_t>(bytes);
}

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = 2 << 20;

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

  // By touching, not by fallocate: that would give small pages only.
  Status reserve(std::int64_t offset, std::int64_t bytes) override {
#ifdef MADV_POPULATE_WRITE
    const std::int64_t begin = offset / kPage * kPage;
    const auto length = static_cast<std::size_t>(offset + bytes - begin);
    int result = 0;
    do {
      result = madvise(data_ + begin, length, MADV_POPULATE_WRITE);
    } while (result != 0 && errno == EINTR);
    if (result == 0) return {};
    if (errno != EINVAL) return refusal("shared memory cannot be reserved");
#endif
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

/// Maps the memory where huge pages fit, and asks for them: first touches of staging windows by
/// small pages cost as much as moving the data.
void* map_aligned(int memory, std::size_t size) {
  constexpr int kReadWrite = PROT_READ | PROT_WRITE;
  if (size < kHugePage) return mmap(nullptr, size, kReadWrite, MAP_SHARED, memory, 0);
  const std::size_t room = size + kHugePage;
  void* reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  auto* begin = static_cast<std::byte*>(reserved);
  const std::size_t skip = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  const std::size_t end = (skip + size + kPage - 1) / kPage * kPage;
  void* address = mmap(begin + skip, size, kReadWrite, MAP_SHARED | MAP_FIXED, memory, 0);
  if (address == MAP_FAILED) {
    munmap(reserved, room);
    return MAP_FAILED;
  }
  if (skip > 0) munmap(begin, skip);
  if (end < room) munmap(begin + end, room - end);
  madvise(address, size, MADV_HUGEPAGE);  // a wish: small pages work as well
  return address;
}

Result<std::unique_ptr<Segment>> map(Descriptor memory, const SegmentName& name,
                                     std::int64_t size) {
  void* address = map_aligned(memory.get(), static_cast<std::size_t>(size));
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
  if (exceeds_file_limit(bytes)) {
    errno = EFBIG;
    return refusal("the limit on file sizes leaves no room for shared memory");
  }
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
