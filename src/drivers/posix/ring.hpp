#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/direction.hpp"
#include "base/result.hpp"
#include "drivers/driver.hpp"
#include "drivers/posix/system_calls.hpp"

namespace tamis {

/// The two rings of io_uring(7). One thread submits, one thread takes completions.
class Ring {
 public:
  struct Completion {
    std::uint64_t mark;
    std::int32_t result;  ///< bytes, or -errno
  };

  /// Errors: as the system refuses it (access where it is forbidden, unsupported_operation where it
  /// is unknown).
  static Result<std::unique_ptr<Ring>> make(const SystemCalls& calls, unsigned entries);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Asks the kernel to move one piece of `fd` in a thread of its own; false: it does not take it.
  bool submit_move(int fd, Direction direction, const Transfer& piece, std::uint64_t mark);
  /// Asks for nothing but a completion.
  bool submit_nothing(std::uint64_t mark);
  /// Waits for a completion. REQUIRES: one is to come.
  Completion take();

 private:
  struct Mapping {
    void* address = nullptr;
    std::size_t bytes = 0;
  };

  Ring(const SystemCalls& calls, int fd, const io_uring_params& params)
      : calls_(calls), fd_(fd), params_(params) {}
  bool map();
  bool submit(const io_uring_sqe& entry);
  unsigned* queue_word(unsigned offset) const;

  SystemCalls calls_;
  int fd_;
  io_uring_params params_;
  Mapping queues_;
  Mapping entries_;
};

}  // namespace tamis
