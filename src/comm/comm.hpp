#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "comm/topology.hpp"

namespace tamis {

/// A message under way; 0 is none.
using Ticket = std::uint64_t;

/// A rank's doorbell: a 32-bit word in memory the node's ranks share. Whoever changed something the
/// rank may be waiting for rings it. Bit 0 belongs to Comm ("the rank sleeps on it"); a ring
/// adds 2.
using Doorbell = std::atomic<std::uint32_t>;

/// How another rank of the node finds a shared segment: meaningful only to the same kind of Comm.
struct SegmentName {
  std::int64_t words[3] = {0, 0, 0};
  bool operator==(const SegmentName&) const = default;
};

/// Memory that ranks of one node see together; what is in it at first is undefined.
/// Nothing of it is left in the file system, however a process ends.
class Segment {
 public:
  virtual ~Segment() = default;
  virtual std::byte* data() = 0;
  virtual std::int64_t size() const = 0;
  virtual SegmentName name() const = 0;
  /// Makes sure that the bytes are backed by memory; otherwise a later touch could end the process.
  virtual Status reserve(std::int64_t offset, std::int64_t bytes) = 0;
};

/// A plain object as the bytes of a message.
template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// The few messages the engine needs. No call waits for another rank, but `idle` may.
/// One Comm serves one open file; ranks number 0 .. size() - 1 as in the file's communicator.
/// Not to be called by two threads at once.
class Comm {
 public:
  virtual ~Comm() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const Topology& topology() const = 0;

  /// Ok, or the first error of the message layer: from then on messages may be done without having
  /// moved, so what they carried must not be trusted.
  virtual Status health() const { return {}; }

  /// Nonblocking point-to-point. Messages with equal (from, to, tag) arrive in order; 0 <= tag
  /// < 64. Memory must stay untouched until done() says so. A received message has exactly the size
  /// of `into` (senders and receivers compute sizes alike).
  virtual Ticket send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int from, int tag, std::span<std::byte> into) = 0;
  /// True once the message has left or arrived; the ticket is then used up and set to 0.
  /// An empty ticket (0) is done. Makes progress on all messages.
  virtual bool done(Ticket& ticket) = 0;

  /// Shared memory inside the node. `create` is called by one rank, `attach` by the others with the
  /// name it sent them. Errors: no_memory, unsupported_operation (refused here: use messages).
  virtual Result<std::unique_ptr<Segment>> create_segment(std::int64_t bytes) = 0;
  virtual Result<std::unique_ptr<Segment>> attach_segment(const SegmentName& name) = 0;

  /// The word this rank sleeps on, once the node's shared memory exists; nullptr before.
  void set_doorbell(Doorbell* doorbell) { doorbell_ = doorbell; }
  /// Value to remember before looking for work; see idle().
  std::uint32_t doorbell_value() const { return doorbell_ ? doorbell_->load() : 0; }

  /// Gives the core away until something may have changed since doorbell_value() returned `seen`:
  /// the doorbell rang, a message moved, or a short time passed. A short spin comes first; with no
  /// message under way it then sleeps on the doorbell (futex), never polls.
  virtual void idle(std::uint32_t seen) = 0;
  /// Rings another rank's doorbell (its word in shared memory): adds 2 and wakes the rank if bit 0
  /// says that it sleeps. No system call where nobody sleeps. By any thread.
  virtual void ring(Doorbell& doorbell) = 0;

 protected:
  Doorbell* doorbell_ = nullptr;
};

}  // namespace tamis
