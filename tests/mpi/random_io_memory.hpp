#pragma once

#include "random_io_types.hpp"

namespace random_io {

using Bytes = std::vector<unsigned char>;

/// The byte at `position` of the endless noise called `salt`.
unsigned char datum(std::uint64_t salt, std::int64_t position);

/// The file as POSIX sees it.
Bytes posix_content(const std::string& path);
void set_posix_content(const std::string& path, const Bytes& bytes);

/// What one rank does in a step.
struct Part {
  Type memory;
  int count = 0;
  std::int64_t first = 0;   ///< etype of the stream
  std::int64_t etypes = 0;  ///< of one access
};

/// One user buffer: `count` instances of a memory type, with room on both sides.
class Memory {
 public:
  /// Filled with the noise called `salt`. Keeps a reference to `part`.
  Memory(const Part& part, std::uint64_t salt);
  void* address() { return bytes_.data() + origin_; }
  /// The place of each byte of the stream, in order.
  template <typename Visit>
  void each(Visit visit) {
    std::int64_t position = 0;
    for (int i = 0; i < part_.count; ++i) {
      for (const Run& run : part_.memory.runs) {
        for (std::int64_t k = 0; k < run.length; ++k) {
          visit(
              position++,
              bytes_[static_cast<std::size_t>(origin_ + i * part_.memory.extent + run.offset + k)]);
        }
      }
    }
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  const Part& part_;
  std::int64_t origin_ = 0;
  Bytes bytes_;
};

}  // namespace random_io
