#include "engine/views.hpp"

#include <algorithm>
#include <cstring>

#include "base/attempt.hpp"
#include "base/fingerprint.hpp"
#include "engine/verdict.hpp"

namespace tamis {
namespace {

// Messages a leader has under way.
constexpr std::size_t kUnderWay = 8;

}  // namespace

/// What a rank accesses, as told to owners on other nodes.
struct Views::Range {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  std::int64_t displacement = 0;
  std::int64_t repeat = 0;
  std::int64_t loop_bytes = 0;  ///< of the encoded dataloop
  std::int64_t loop_print = 0;  ///< its fingerprint: ranks with the same one ship it once

  bool operator==(const Range&) const = default;
  bool same_loop(const Range& other) const {
    return loop_bytes == other.loop_bytes && loop_print == other.loop_print;
  }
  static Range read(std::span<const std::byte> from, std::size_t index = 0) {
    Range range;
    std::memcpy(&range, from.data() + index * sizeof range, sizeof range);
    return range;
  }
  void write(std::span<std::byte> to, std::size_t index = 0) const {
    std::memcpy(to.data() + index * sizeof *this, this, sizeof *this);
  }
};

/// This rank's dataloop on its way to the owners; empty: it need not go.
struct Views::Description {
  std::vector<std::byte> loop;
  bool with_loops = false;  ///< some ranks ship theirs
};

Views::Range Views::own_range(const Access& access) const {
  const Range told = Range::read(told_);
  return {.first = access.first,
          .bytes = access.bytes,
          .displacement = access.file->displacement,
          .repeat = access.file->repeat,
          .loop_bytes = told.loop_bytes,
          .loop_print = told.loop_print};
}

News Views::propose(Team& team, const Access& access) {
  static_assert(sizeof(Range) <= Team::kNote);
  if (team.topology().node_count() == 1) return News::nothing;
  const Range range = own_range(access);
  range.write(team.note(team.seat_of(team.rank())));
  if (version_ != announced_) return News::view;
  return range == Range::read(told_) ? News::nothing : News::range;
}

Task<Status> Views::prepare(Team& team, const std::vector<std::int32_t>& aggregators) {
  if (prepared_ || team.topology().node_count() == 1) co_return Status{};
  Verdict verdict;
  verdict.worst = attempt([&] {
    const auto& nodes = team.topology().nodes;
    if (team.seat_of(team.rank()) == 0)
      leading_.resize(static_cast<std::size_t>(team.seats()) * sizeof(Range));
    if (!std::binary_search(aggregators.begin(), aggregators.end(), team.rank())) return Status{};
    let_go_.resize(kPiece);
    std::size_t most = 0;
    remote_.clear();
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (team.beside_me(nodes[node].front())) continue;
      most = std::max(most, nodes[node].size());
      remote_.push_back({static_cast<std::int32_t>(node), {}});
      remote_.back().ranks.resize(nodes[node].size());
    }
    heard_.resize(most * sizeof(Range));
    return Status{};
  });
  verdict.worst = verdict.worst.travelling(team.rank());
  verdict = co_await team.agree(verdict);
  prepared_ = verdict.worst.ok();
  co_return verdict.worst;
}

/// A description, piece by piece; all of it is received, whatever becomes of it here.
Task<Status> Views::hear_loop(Comm& comm, int rank, std::int64_t bytes, Dataloop& loop) {
  std::vector<std::byte> text;
  const auto size = static_cast<std::size_t>(bytes);
  Status status = attempt([&] {
    text.resize(size);
    return Status{};
  });
  for (std::size_t done = 0; done < size; done += kPiece) {
    std::span<std::byte> piece(let_go_);
    if (status.ok()) piece = std::span(text).subspan(done);
    piece = piece.first(std::min(kPiece, size - done));
    Ticket ticket = comm.receive(rank, kTagLoop, piece);
    co_await until([&] { return comm.done(ticket); });
  }
  status.keep_first(comm.health());
  if (!status.ok()) co_return status;
  co_return attempt([&]() -> Status {
    Result<Dataloop> decoded = Dataloop::decode(text);
    if (!decoded.ok()) return decoded.status();
    loop = std::move(*decoded);
    return {};
  });
}

/// Takes over the ranges of a node's ranks.
void Views::remember(RemoteNode& node) {
  for (std::size_t seat = 0; seat < node.ranks.size(); ++seat) {
    const Range range = Range::read(heard_, seat);
    RemoteAccess& remote = node.ranks[seat];
    remote.first = range.first;
    remote.bytes = range.bytes;
    remote.file.displacement = range.displacement;
    remote.file.repeat = range.repeat;
    remote.span = range.bytes > 0 ? remote.file.span_of(range.first, range.bytes) : Extent{};
  }
}

// Node after node, rank after rank: what is under way does not grow with their number.
Task<Status> Views::collect(Team& team, bool with_loops) {
  Comm& comm = team.comm();
  Status status;
  for (RemoteNode& node : remote_) {
    const auto& ranks = team.topology().nodes[static_cast<std::size_t>(node.node)];
    const auto message = std::span(heard_).first(ranks.size() * sizeof(Range));
    Ticket ticket = comm.receive(ranks.front(), kTagAnnounce, message);
    co_await until([&] { return comm.done(ticket); });
    status.keep_first(comm.health());
    if (!comm.health().ok()) continue;  // so what it says means nothing; others must be heard still
    for (std::size_t seat = 0; with_loops && seat < ranks.size(); ++seat) {
      const Range range = Range::read(heard_, seat);
      std::size_t like = 0;
      while (!range.same_loop(Range::read(heard_, like))) ++like;
      if (like == seat)
        status.keep_first(
            co_await hear_loop(comm, ranks[seat], range.loop_bytes, node.ranks[seat].file.loop));
      else
        node.ranks[seat].file.loop = node.ranks[like].file.loop;
    }
    if (status.ok()) remember(node);
  }
  co_return status;
}

/// The leader tells all ranges; ranks with a description of their own ship it.
Task<Status> Views::tell(Team& team, const std::vector<std::int32_t>& aggregators,
                         const Description& mine, const Account& account) {
  Comm& comm = team.comm();
  std::array<Ticket, kUnderWay> tickets{};
  std::size_t sent = 0;
  for (const std::int32_t owner : aggregators) {
    if (leading_.empty() || team.beside_me(owner)) continue;
    Ticket& ticket = tickets[sent++ % kUnderWay];
    co_await until([&] { return comm.done(ticket); });
    account.count(&Tally::bytes_announced, std::ssize(leading_));
    ticket = comm.send(owner, kTagAnnounce, leading_);
  }
  for (Ticket& ticket : tickets) co_await until([&] { return comm.done(ticket); });
  for (const std::int32_t owner : aggregators) {
    if (mine.loop.empty() || team.beside_me(owner)) continue;
    account.count(&Tally::bytes_announced, std::ssize(mine.loop));
    for (std::size_t done = 0; done < mine.loop.size(); done += kPiece) {
      const std::size_t bytes = std::min(kPiece, mine.loop.size() - done);
      Ticket& ticket = tickets[0];
      ticket = comm.send(owner, kTagLoop, std::span(mine.loop).subspan(done, bytes));
      co_await until([&] { return comm.done(ticket); });
    }
  }
  co_return comm.health();
}

Task<Status> Views::exchange(Team& team, const std::vector<std::int32_t>& aggregators,
                             const Description& mine, const Account& account) {
  for (int seat = 0; !leading_.empty() && seat < team.seats(); ++seat)
    Range::read(team.note(seat)).write(leading_, static_cast<std::size_t>(seat));
  // Side by side, since two owners may have to tell each other.
  Driven<Status> telling(tell(team, aggregators, mine, account));
  Driven<Status> collecting(collect(team, mine.with_loops));
  co_await until([&] {
    const bool told = telling.advance();
    return collecting.advance() && told;
  });
  Status status = telling.take();
  status.keep_first(collecting.take());
  co_return status;
}

/// Announces ranges and descriptions; all ranks learn whether that succeeded everywhere.
Task<Status> Views::ship(Team& team, const std::vector<std::int32_t>& aggregators,
                         const Access& access, const Account& account) {
  const auto me = static_cast<std::size_t>(team.seat_of(team.rank()));
  Description mine{.loop = {}, .with_loops = true};
  Verdict verdict;
  verdict.worst = attempt([&] {
    access.file->loop.encode(mine.loop);
    return Status{};
  });
  verdict.worst = verdict.worst.travelling(team.rank());
  Range range = own_range(access);
  range.loop_bytes = std::ssize(mine.loop);
  range.loop_print = fingerprint(mine.loop);
  range.write(team.note(static_cast<int>(me)));
  verdict = co_await team.agree(verdict);  // from here on the others' notes can be read
  if (!verdict.worst.ok()) co_return verdict.worst;

  for (std::size_t seat = 0; seat < me && !mine.loop.empty(); ++seat)
    if (range.same_loop(Range::read(team.note(static_cast<int>(seat))))) mine.loop.clear();
  const Status status = co_await exchange(team, aggregators, mine, account);
  verdict.worst = status.travelling(team.rank());
  verdict = co_await team.agree(verdict);
  if (verdict.worst.ok()) {
    announced_ = version_;
    range.write(told_);
  }
  co_return status.ok() ? verdict.worst : status;
}

Task<Status> Views::announce(Team& team, const std::vector<std::int32_t>& aggregators,
                             const Access& access, News news, const Account& account) {
  if (news == News::view) co_return co_await ship(team, aggregators, access, account);
  if (news == News::nothing) co_return Status{};
  const Description nothing;
  const Status status = co_await exchange(team, aggregators, nothing, account);
  // What goes wrong here is the message layer's. Nobody may go on with what somebody did not hear.
  Verdict verdict{.worst = status.travelling(team.rank())};
  verdict = co_await team.agree(verdict);
  if (verdict.worst.ok()) own_range(access).write(told_);
  if (!verdict.worst.ok()) announced_ = 0;
  co_return status.ok() ? verdict.worst : status;
}

}  // namespace tamis
