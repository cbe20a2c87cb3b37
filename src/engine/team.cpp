#include "engine/team.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <string_view>

#include "base/attempt.hpp"
#include "engine/verdict.hpp"

namespace tamis {
namespace {

/// Memory of a rank that has its node for itself.
class PrivateSegment : public Segment {
 public:
  explicit PrivateSegment(std::int64_t bytes)
      : size_(bytes),
        memory_(static_cast<std::byte*>(
            ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{4096}))) {}
  ~PrivateSegment() override { ::operator delete (memory_, std::align_val_t{4096}); }
  std::byte* data() override { return memory_; }
  std::int64_t size() const override { return size_; }
  SegmentName name() const override { return {}; }
  Status reserve(std::int64_t, std::int64_t) override { return {}; }

 private:
  std::int64_t size_;
  std::byte* memory_;
};

/// What a maker of segments gives; nothing where it fails, for whatever reason.
template <typename Maker>
std::unique_ptr<Segment> segment_from(Maker maker) {
  Result<std::unique_ptr<Segment>> made = attempt(maker);
  return made.ok() ? std::move(*made) : nullptr;
}

/// Says that there is no segment.
constexpr SegmentName kNoSegment{{-1, 0, 0}};

/// Memory for the ranks of a node to see; null where there is none.
std::unique_ptr<Segment> make_segment(Comm& comm, std::int64_t bytes, int ranks) {
  return segment_from([&]() -> Result<std::unique_ptr<Segment>> {
    if (ranks > 1) return comm.create_segment(bytes);
    return std::unique_ptr<Segment>(std::make_unique<PrivateSegment>(bytes));
  });
}

/// The segment of that name; null where there is none or this rank cannot see it.
std::unique_ptr<Segment> join_segment(Comm& comm, const SegmentName& name) {
  if (name == kNoSegment) return nullptr;
  return segment_from([&] { return comm.attach_segment(name); });
}

/// The node's leader makes a segment full of zeros and sends the others its name. Null where this
/// rank has none.
Task<std::unique_ptr<Segment>> open_segment(Comm& comm, const std::vector<std::int32_t>& ranks,
                                            std::int64_t bytes) {
  SegmentName segment_name = kNoSegment;
  if (comm.rank() != ranks.front()) {
    Ticket ticket = comm.receive(ranks.front(), kTagForm, bytes_of(segment_name));
    co_await until([&] { return comm.done(ticket); });
    co_return join_segment(comm, segment_name);
  }
  std::unique_ptr<Segment> segment = make_segment(comm, bytes, static_cast<int>(ranks.size()));
  if (segment != nullptr) {
    std::memset(segment->data(), 0, static_cast<std::size_t>(bytes));
    segment_name = segment->name();
  }
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    Ticket ticket = comm.send(ranks[i], kTagForm, bytes_of(segment_name));
    co_await until([&] { return comm.done(ticket); });
  }
  co_return std::move(segment);
}

/// The worst of all ranks' errors, before there is a team.
Task<Status> agree_before_team(Comm& comm, Status own) {
  Verdict verdict{.worst = own.travelling(comm.rank())};
  co_await agree_by_messages(comm, nullptr, comm.rank(), bytes_of(verdict).data(), sizeof(verdict),
                             &merge_bytes<Verdict>);
  co_return own.ok() ? verdict.worst : own;
}

constexpr std::size_t kTextPiece = 1024;

/// The ranks a rank passes a broadcast on to, along a binomial tree with rank 0 at its root.
class Branch {
 public:
  explicit Branch(const Comm& comm) : rank_(comm.rank()), size_(comm.size()) {
    const auto number = static_cast<unsigned>(rank_);
    step_ = rank_ == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(size_)))
                       : static_cast<int>(number & (~number + 1));
  }
  int parent() const { return rank_ - step_; }

  Task<bool> pass_on(Comm& comm, std::span<const std::byte> bytes) const {
    std::array<Ticket, 32> tickets{};
    std::size_t count = 0;
    for (int step = step_ / 2; step > 0; step /= 2)
      if (rank_ + step < size_) tickets[count++] = comm.send(rank_ + step, kTagText, bytes);
    for (Ticket& ticket : tickets) co_await until([&] { return comm.done(ticket); });
    co_return true;
  }

 private:
  int rank_;
  int size_;
  int step_ = 0;  // to the parent; to the children it is halved again and again
};

/// The text with a piece more, or no memory for it.
Result<std::string> extended(std::string text, std::string_view piece) {
  return attempt([&]() -> Result<std::string> {
    text += piece;
    return std::move(text);
  });
}

Task<bool> receive_now(Comm& comm, int from, int tag, std::span<std::byte> into) {
  Ticket ticket = comm.receive(from, tag, into);
  co_await until([&] { return comm.done(ticket); });
  co_return true;
}

}  // namespace

Task<bool> agree_by_messages(Comm& comm, const Topology* nodes, int index, std::byte* mine,
                             std::size_t bytes, void (*merge)(std::byte*, const std::byte*)) {
  const int count = nodes == nullptr ? comm.size() : nodes->node_count();
  const int even = static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
  std::byte their_memory[kPayload];
  std::byte sent_memory[kPayload];
  const std::span<std::byte> theirs(their_memory, bytes);
  const std::span<std::byte> sent(sent_memory, bytes);
  const auto rank_at = [&](int i) {
    return nodes == nullptr ? i : nodes->nodes[static_cast<std::size_t>(i)].front();
  };

  // Ranks beyond the power of two hand in their part first and get the result at the end.
  if (index >= even) {
    Ticket out = comm.send(rank_at(index - even), kTagAgree, {mine, bytes});
    co_await until([&] { return comm.done(out); });
    Ticket in = comm.receive(rank_at(index - even), kTagAgree, {mine, bytes});
    co_await until([&] { return comm.done(in); });
    co_return true;
  }
  const bool has_extra = index + even < count;
  if (has_extra) {
    Ticket in = comm.receive(rank_at(index + even), kTagAgree, theirs);
    co_await until([&] { return comm.done(in); });
    merge(mine, theirs.data());
  }
  for (int mask = 1; mask < even; mask <<= 1) {
    const int peer = rank_at(index ^ mask);
    std::memcpy(sent.data(), mine, bytes);
    Ticket in = comm.receive(peer, kTagAgree, theirs);
    Ticket out = comm.send(peer, kTagAgree, sent);
    co_await until([&] { return comm.done(in); });
    co_await until([&] { return comm.done(out); });
    merge(mine, theirs.data());
  }
  if (has_extra) {
    Ticket out = comm.send(rank_at(index + even), kTagAgree, {mine, bytes});
    co_await until([&] { return comm.done(out); });
  }
  co_return true;
}

// Passed on piece by piece through a buffer of its own, so that a rank without memory for the text
// keeps nobody waiting. The first word is the length, negative where there is no text.
Task<Result<std::string>> broadcast_text(Comm& comm, Result<std::string> text) {
  if (comm.size() == 1) co_return text;
  const bool mine = comm.rank() == 0;
  const Branch branch(comm);
  std::int64_t length = -1;
  if (mine && text.ok()) length = static_cast<std::int64_t>(text->size());
  if (!mine) co_await receive_now(comm, branch.parent(), kTagText, bytes_of(length));
  if (!comm.health().ok()) length = -1;
  co_await branch.pass_on(comm, bytes_of(length));
  if (!mine) text = std::string();

  std::array<char, kTextPiece> piece;
  for (std::size_t done = 0; done < static_cast<std::size_t>(std::max<std::int64_t>(length, 0));) {
    const std::size_t bytes = std::min(kTextPiece, static_cast<std::size_t>(length) - done);
    const auto memory = std::as_writable_bytes(std::span(piece).first(bytes));
    if (mine)
      text->copy(piece.data(), bytes, done);
    else
      co_await receive_now(comm, branch.parent(), kTagText, memory);
    co_await branch.pass_on(comm, memory);
    if (!mine && text.ok()) text = extended(std::move(*text), {piece.data(), bytes});
    done += bytes;
  }
  if (!comm.health().ok()) co_return comm.health();
  if (length < 0 && text.ok()) co_return failure(Errc::no_memory, "rank 0 has no memory left");
  co_return text;
}

Team::Team(Comm& comm, int pretend_nodes)
    : comm_(comm),
      pretended_(pretend_nodes > 1 ? std::optional(comm.topology().split(pretend_nodes))
                                   : std::nullopt),
      topology_(pretended_ ? *pretended_ : comm.topology()) {
  seats_ = static_cast<int>(topology_.ranks_beside(comm.rank()).size());
  plain_writers_.resize(static_cast<std::size_t>(seats_));
}

void Team::sit_down(std::unique_ptr<Segment> segment) {
  segment_ = std::move(segment);
  comm_.set_doorbell(&seat_data(seat_of(comm_.rank())).doorbell);
  for (int seat = 0; seat < seats_; ++seat)
    plain_writers_[static_cast<std::size_t>(seat)] = &seat_data(seat).writing;
}

Task<Result<std::unique_ptr<Team>>> Team::form(Comm& comm, int pretend_nodes, bool shared_memory,
                                               Status own) {
  const int all = comm.size();
  std::unique_ptr<Team> team;
  const std::array<int, 2> attempts = {shared_memory ? pretend_nodes : all, all};
  for (const int parts : attempts) {
    own.keep_first(attempt([&] {
      team.reset(new Team(comm, parts));
      return Status{};
    }));
    // Who sits beside whom has to be known on all ranks before they turn to each other.
    own = co_await agree_before_team(comm, own);
    if (!own.ok()) co_return own;
    const std::int64_t bytes = static_cast<std::int64_t>(
        sizeof(Board) + sizeof(Seat) * static_cast<std::size_t>(team->seats_));
    std::unique_ptr<Segment> segment =
        co_await open_segment(comm, team->topology_.ranks_beside(comm.rank()), bytes);
    Status shared;
    if (segment == nullptr) shared = failure(Errc::no_memory, "no memory to share");
    shared = co_await agree_before_team(comm, shared);
    if (shared.ok()) {
      team->sit_down(std::move(segment));
      co_return std::move(team);
    }
    // Without shared memory every rank is a node of its own.
  }
  co_return failure(Errc::no_memory, "no memory for a rank's own node");
}

Task<Result<std::unique_ptr<Segment>>> Team::share(std::int64_t bytes, Status own) {
  const bool leads = seat_of(comm_.rank()) == 0;
  std::unique_ptr<Segment> segment;
  if (leads) {
    segment = make_segment(comm_, bytes, seats_);
    board().shared = segment != nullptr ? segment->name() : kNoSegment;
  }
  Verdict verdict{.worst = own.travelling(comm_.rank())};
  verdict = co_await agree(verdict);  // from here on the name can be read
  if (!leads) segment = join_segment(comm_, board().shared);
  verdict.incomplete = segment == nullptr ? 1 : 0;
  verdict = co_await agree(verdict);
  if (!own.ok()) co_return own;
  if (!verdict.worst.ok()) co_return verdict.worst;
  if (verdict.incomplete != 0)
    co_return failure(Errc::no_memory, "no shared memory for collective buffers");
  co_return std::move(segment);
}

WriteGate::Words Team::gate() {
  return {&board().sievers, &seat_data(seat_of(comm_.rank())).writing};
}

void Team::ring_all() {
  for (int seat = 0; seat < seats_; ++seat) ring(seat);
}

// One place per payload and result is enough: nobody contributes to the next agreement before the
// last one was published, and nobody publishes before all have arrived, so have read the last one.
Task<bool> Team::agree_bytes(std::byte* mine, Merger merger) {
  const std::uint32_t round = rounds_++;
  const bool one_node = topology_.node_count() == 1;
  const int me = seat_of(comm_.rank());
  std::memcpy(seat_data(me).payload, mine, merger.bytes);

  const std::uint32_t all = (round + 1) * static_cast<std::uint32_t>(seats_);
  const bool last = board().arrived.fetch_add(1) + 1 == all;
  // On one node whoever comes last merges; between nodes it is the leader, whom the others know.
  if (one_node ? last : me == 0) {
    co_await until([&] { return board().arrived.load() == all; });
    co_await publish(round, merger);
  } else {
    if (last) ring(0);
    co_await until([&] { return board().generation.load() == round + 1; });
  }
  std::memcpy(mine, board().result, merger.bytes);
  co_return true;
}

Task<bool> Team::publish(std::uint32_t round, Merger merger) {
  std::byte merged[kPayload];
  std::memcpy(merged, seat_data(0).payload, merger.bytes);
  for (int seat = 1; seat < seats_; ++seat) merger.merge(merged, seat_data(seat).payload);
  if (topology_.node_count() > 1) {
    co_await agree_by_messages(comm_, &topology_, node_of(comm_.rank()), merged, merger.bytes,
                               merger.merge);
  }
  std::memcpy(board().result, merged, merger.bytes);
  board().generation.store(round + 1);
  ring_all();
  co_return true;
}

}  // namespace tamis
