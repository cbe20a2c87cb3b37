#include "drivers/posix/ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <thread>

#include "drivers/posix/errors.hpp"

namespace tamis {
namespace {

// Completions are never lost and both queues are one mapping: Linux 5.5. Reads and writes without
// vectors are of 5.6, and so is this.
constexpr unsigned kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_RW_CUR_POS;

unsigned load(unsigned* word) { return std::atomic_ref(*word).load(std::memory_order_acquire); }
void store(unsigned* word, unsigned value) {
  std::atomic_ref(*word).store(value, std::memory_order_release);
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::make(const SystemCalls& calls, unsigned entries) {
  io_uring_params params = {};
  const int fd = calls.ring_setup(entries, &params);
  if (fd < 0) return from_errno(errno, Subject::data);
  std::unique_ptr<Ring> ring(new (std::nothrow) Ring(calls, fd, params));
  if (ring == nullptr) {
    calls.close(fd);
    return failure(Errc::no_memory, "no memory for a ring");
  }
  if ((params.features & kNeeded) != kNeeded)
    return failure(Errc::unsupported_operation, "io_uring is older than what is needed");
  if (!ring->map()) return from_errno(errno, Subject::data);
  return ring;
}

Ring::~Ring() {
  for (const Mapping& mapping : {queues_, entries_})
    if (mapping.address != nullptr) ::munmap(mapping.address, mapping.bytes);
  calls_.close(fd_);
}

// A child of fork() must not see them: it would take its parent's completions.
bool Ring::map() {
  const auto one = [&](Mapping& mapping, std::size_t bytes, off_t where) {
    void* const address =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, where);
    if (address == MAP_FAILED) return false;
    mapping = {address, bytes};
    return ::madvise(address, bytes, MADV_DONTFORK) == 0;
  };
  const std::size_t submissions =
      params_.sq_off.array + std::size_t{params_.sq_entries} * sizeof(unsigned);
  const std::size_t completions =
      params_.cq_off.cqes + std::size_t{params_.cq_entries} * sizeof(io_uring_cqe);
  return one(queues_, std::max(submissions, completions), IORING_OFF_SQ_RING) &&
         one(entries_, std::size_t{params_.sq_entries} * sizeof(io_uring_sqe), IORING_OFF_SQES);
}

unsigned* Ring::queue_word(unsigned offset) const {
  return reinterpret_cast<unsigned*>(static_cast<std::byte*>(queues_.address) + offset);
}

bool Ring::submit_move(int fd, Direction direction, const Transfer& piece, std::uint64_t mark) {
  io_uring_sqe entry = {};
  entry.opcode = direction == Direction::write ? IORING_OP_WRITE : IORING_OP_READ;
  // Without it the kernel would move what it can (reads of cached bytes) before it lets us go on.
  entry.flags = IOSQE_ASYNC;
  entry.fd = fd;
  entry.off = static_cast<std::uint64_t>(piece.file.offset);
  entry.addr = reinterpret_cast<std::uintptr_t>(piece.memory);
  entry.len = static_cast<std::uint32_t>(piece.file.length);
  entry.user_data = mark;
  return submit(entry);
}

bool Ring::submit_nothing(std::uint64_t mark) {
  io_uring_sqe entry = {};
  entry.opcode = IORING_OP_NOP;
  entry.user_data = mark;
  return submit(entry);
}

// The kernel has read the entry when the call returns, so that one after the other finds room.
bool Ring::submit(const io_uring_sqe& entry) {
  const unsigned tail = *queue_word(params_.sq_off.tail);
  const unsigned index = tail & *queue_word(params_.sq_off.ring_mask);
  static_cast<io_uring_sqe*>(entries_.address)[index] = entry;
  queue_word(params_.sq_off.array)[index] = index;
  store(queue_word(params_.sq_off.tail), tail + 1);
  int taken = calls_.ring_enter(fd_, 1, 0, 0);
  while (taken < 0 && errno == EINTR) taken = calls_.ring_enter(fd_, 1, 0, 0);
  if (taken == 1) return true;
  store(queue_word(params_.sq_off.tail), tail);  // as if it had never been there
  return false;
}

// The call can be interrupted or lack memory for a moment; what it waits for comes all the same.
Ring::Completion Ring::take() {
  const unsigned head = *queue_word(params_.cq_off.head);
  while (load(queue_word(params_.cq_off.tail)) == head) {
    if (calls_.ring_enter(fd_, 0, 1, IORING_ENTER_GETEVENTS) < 0) std::this_thread::yield();
  }
  const auto* const completions = reinterpret_cast<const io_uring_cqe*>(
      static_cast<const std::byte*>(queues_.address) + params_.cq_off.cqes);
  const io_uring_cqe& entry = completions[head & *queue_word(params_.cq_off.ring_mask)];
  const Completion completion{entry.user_data, entry.res};
  store(queue_word(params_.cq_off.head), head + 1);
  return completion;
}

}  // namespace tamis
