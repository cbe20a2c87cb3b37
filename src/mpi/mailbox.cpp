#include "mpi/mailbox.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis {

Mailbox::~Mailbox() {
  int over = 0;
  host().Finalized(&over);
  if (over != 0) return;
  for (Slot& slot : slots_) {
    if (slot.request == MPI_REQUEST_NULL) continue;
    if (slot.receives) {
      host().Cancel(&slot.request);
      host().Wait(&slot.request, MPI_STATUS_IGNORE);
    } else {
      host().Request_free(&slot.request);
    }
  }
}

std::uint32_t Mailbox::take_slot() {
  if (free_ == kNone) {
    slots_.emplace_back();
    return checked_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = free_;
  free_ = slots_[index].next;
  return index;
}

template <typename Start>
Ticket Mailbox::start(std::size_t bytes, bool receives, Start start_piece) {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  std::size_t begin = 0;
  do {
    const std::size_t length = std::min(bytes - begin, kLargestPiece);
    const std::uint32_t index = take_slot();
    slots_[index] = {.receives = receives};
    (last == kNone ? first : slots_[last].next) = index;
    last = index;
    const int rc = start_piece(begin, static_cast<int>(length), slots_[index].request);
    health_.keep_first(host_status(rc, "the host MPI cannot start a message"));
    begin += length;
  } while (begin < bytes);
  ++pending_;
  return Ticket{first} + 1;
}

Ticket Mailbox::send(int to, int tag, std::span<const std::byte> bytes) {
  return start(bytes.size(), false, [&](std::size_t begin, int length, MPI_Request& request) {
    return host().Isend(bytes.data() + begin, length, MPI_BYTE, to, first_tag_ + tag, comm_,
                        &request);
  });
}

Ticket Mailbox::receive(int from, int tag, std::span<std::byte> into) {
  return start(into.size(), true, [&](std::size_t begin, int length, MPI_Request& request) {
    return host().Irecv(into.data() + begin, length, MPI_BYTE, from, first_tag_ + tag, comm_,
                        &request);
  });
}

bool Mailbox::complete(Slot& slot) {
  if (slot.request == MPI_REQUEST_NULL) return true;
  int finished = 0;
  const int rc = host().Test(&slot.request, &finished, MPI_STATUS_IGNORE);
  if (rc == MPI_SUCCESS) return finished != 0;
  health_.keep_first(host_status(rc, "the host MPI has lost a message"));
  slot.request = MPI_REQUEST_NULL;
  return true;
}

bool Mailbox::done(Ticket& ticket) {
  if (ticket == 0) return true;
  const auto first = static_cast<std::uint32_t>(ticket - 1);
  std::uint32_t last = first;
  for (std::uint32_t index = first; index != kNone; index = slots_[index].next) {
    if (!complete(slots_[index])) return false;
    last = index;
  }
  slots_[last].next = free_;
  free_ = first;
  --pending_;
  ticket = 0;
  return true;
}

void Mailbox::poke() {
  int arrived = 0;
  host().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &arrived, MPI_STATUS_IGNORE);
}

}  // namespace tamis
