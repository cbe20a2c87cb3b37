#include "random_io_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace random_io {

unsigned char datum(std::uint64_t salt, std::int64_t position) {
  const std::uint64_t block = mix(salt ^ static_cast<std::uint64_t>(position >> 3));
  return static_cast<unsigned char>(block >> (8 * (position & 7)));
}

Bytes posix_content(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  struct stat status = {};
  if (fd < 0 || fstat(fd, &status) != 0) std::perror(path.c_str());
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  close(fd);
  return bytes;
}

void set_posix_content(const std::string& path, const Bytes& bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    std::perror(path.c_str());
  }
  close(fd);
}

Memory::Memory(const Part& part, std::uint64_t salt) : part_(part) {
  std::int64_t least = 0, most = 0;
  for (const Run& run : part.memory.runs) {
    least = std::min(least, run.offset);
    most = std::max(most, run.offset + run.length);
  }
  origin_ = 32 - least;
  const std::int64_t instances = std::max(part.count - 1, 0) * part.memory.extent;
  bytes_.resize(static_cast<std::size_t>(origin_ + instances + most + 32));
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    bytes_[i] = datum(salt, static_cast<std::int64_t>(i));
  }
}

}  // namespace random_io
