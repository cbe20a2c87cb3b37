#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// Messages under way on a communicator, found again by their tickets. Requests live in slots that
/// are used again, so that a message in a steady state allocates nothing here.
class Mailbox {
 public:
  /// Tags of messages are counted from `first_tag`.
  Mailbox(MPI_Comm comm, int first_tag) : comm_(comm), first_tag_(first_tag) {
    slots_.reserve(kUsualSlots);  // later, between messages, may be too late to find no memory
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Withdraws receives nobody will wait for any more; sends still under way keep needing their
  /// memory until their receivers take them.
  ~Mailbox();

  Ticket send(int to, int tag, std::span<const std::byte> bytes);
  Ticket receive(int from, int tag, std::span<std::byte> into);
  bool done(Ticket& ticket);

  bool pending() const { return pending_ > 0; }
  /// Lets the host MPI do what it has to do.
  void poke();
  /// The first error of the host: the message it befell counts as done.
  const Status& health() const { return health_; }

 private:
  /// A piece of a message. A message beyond the range of the host's counts is a chain of pieces.
  struct Slot {
    MPI_Request request = MPI_REQUEST_NULL;
    bool receives = false;
    std::uint32_t next = kNone;  ///< of the message; of the free slots
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
  static constexpr std::size_t kUsualSlots = 64;

  std::uint32_t take_slot();
  template <typename Start>
  Ticket start(std::size_t bytes, bool receives, Start start_piece);
  bool complete(Slot& slot);

  MPI_Comm comm_;
  int first_tag_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
  std::size_t pending_ = 0;
  Status health_;
};

}  // namespace tamis
