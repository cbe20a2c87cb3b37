#include "engine/views.hpp"

#include <algorithm>

#include "base/attempt.hpp"
#include "engine/verdict.hpp"

namespace tamis {

struct Views::Announcement {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  std::int64_t displacement = 0;
  std::int64_t repeat = 0;
  /// Of the encoded dataloop that follows; 0: as announced before; negative: no memory to encode
  /// it.
  std::int64_t loop_bytes = 0;
};

Status Views::remember(int rank, const Announcement& head, std::span<const std::byte> loop) {
  return attempt([&]() -> Status {
    RemoteAccess& remote = remote_[rank];
    remote.first = head.first;
    remote.bytes = 0;
    remote.file.displacement = head.displacement;
    remote.file.repeat = head.repeat;
    if (!loop.empty()) {
      Result<Dataloop> decoded = Dataloop::decode(loop);
      if (!decoded.ok()) return decoded.status();
      remote.file.loop = std::move(*decoded);
    }
    remote.bytes = head.bytes;
    return {};
  });
}

/// What one rank says. All of it is received, whatever becomes of it here.
Task<Status> Views::hear(Comm& comm, int rank) {
  Announcement head;
  Ticket ticket = comm.receive(rank, kTagAnnounce, bytes_of(head));
  co_await until([&] { return comm.done(ticket); });
  if (!comm.health().ok()) co_return comm.health();  // so the length means nothing
  if (head.loop_bytes < 0) co_return failure(Errc::no_memory, "a rank cannot describe its view");
  std::vector<std::byte> loop;
  const auto bytes = static_cast<std::size_t>(head.loop_bytes);
  Status status = attempt([&] {
    loop.resize(bytes);
    return Status{};
  });
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    std::span<std::byte> piece(let_go_);
    if (status.ok()) piece = std::span(loop).subspan(done);
    piece = piece.first(std::min(kPiece, bytes - done));
    ticket = comm.receive(rank, kTagLoop, piece);
    co_await until([&] { return comm.done(ticket); });
  }
  status.keep_first(comm.health());
  if (status.ok()) status = remember(rank, head, loop);
  co_return status;
}

// One rank after the other: what is under way does not grow with their number.
Task<Status> Views::collect(Team& team, const std::vector<std::int32_t>& aggregators) {
  Status status;
  if (!std::binary_search(aggregators.begin(), aggregators.end(), team.rank())) co_return status;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (team.beside_me(rank)) continue;
    status.keep_first(co_await hear(team.comm(), rank));
  }
  co_return status;
}

Task<Status> Views::tell(Team& team, const std::vector<std::int32_t>& aggregators,
                         Announcement head, std::span<const std::byte> loop,
                         const Account& account) {
  Comm& comm = team.comm();
  for (const std::int32_t owner : aggregators) {
    if (team.beside_me(owner)) continue;
    account.count(&Tally::bytes_announced, std::ssize(loop) + std::int64_t{sizeof head});
    Ticket ticket = comm.send(owner, kTagAnnounce, bytes_of(head));
    co_await until([&] { return comm.done(ticket); });
    for (std::size_t done = 0; done < loop.size(); done += kPiece) {
      const std::size_t bytes = std::min(kPiece, loop.size() - done);
      ticket = comm.send(owner, kTagLoop, loop.subspan(done, bytes));
      co_await until([&] { return comm.done(ticket); });
    }
  }
  co_return comm.health();
}

Task<Status> Views::announce(Team& team, const std::vector<std::int32_t>& aggregators,
                             const Access& access, bool ship, const Account& account) {
  Announcement head{access.first, access.bytes, access.file->displacement, access.file->repeat, 0};
  std::vector<std::byte> loop;
  Status status = attempt([&] {
    if (ship) access.file->loop.encode(loop);
    return Status{};
  });
  head.loop_bytes = status.ok() ? static_cast<std::int64_t>(loop.size()) : -1;
  if (!status.ok()) loop.clear();

  {
    // Side by side, since two owners may have to tell each other.
    Driven<Status> telling(tell(team, aggregators, head, loop, account));
    Driven<Status> collecting(collect(team, aggregators));
    co_await until([&] {
      const bool told = telling.advance();
      return collecting.advance() && told;
    });
    status.keep_first(telling.take());
    status.keep_first(collecting.take());
  }
  // What goes wrong here without a description is the message layer's: the access tells of it.
  if (!ship) co_return Status{};
  const Verdict mine{.worst = status.travelling(team.rank())};
  const Verdict all = co_await team.agree(mine);
  if (all.worst.ok()) announced_ = version_;
  co_return status.ok() ? all.worst : status;
}

}  // namespace tamis
