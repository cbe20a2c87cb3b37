#include "engine/team.hpp"

#include <bit>
#include <new>

#include "engine/verdict.hpp"

namespace tamis {
namespace {

/// Memory of a rank that has its node for itself.
class PrivateSegment : public Segment {
 public:
  explicit PrivateSegment(std::int64_t bytes)
      : size_(bytes),
        memory_(static_cast<std::byte*>(
            ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{4096}))) {
    std::memset(memory_, 0, static_cast<std::size_t>(bytes));
  }
  ~PrivateSegment() override { ::operator delete (memory_, std::align_val_t{4096}); }
  std::byte* data() override { return memory_; }
  std::int64_t size() const override { return size_; }
  SegmentName name() const override { return {}; }
  Status reserve(std::int64_t, std::int64_t) override { return {}; }

 private:
  std::int64_t size_;
  std::byte* memory_;
};

std::vector<std::int32_t> all_ranks(int size) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  return ranks;
}

/// The node's leader makes a segment and tells the others its name; a name with word 0 == -1 says
/// that there is none. Empty where this rank has no segment.
Task<std::unique_ptr<Segment>> open_segment(Comm& comm, const std::vector<std::int32_t>& ranks,
                                            std::int64_t bytes) {
  std::unique_ptr<Segment> segment;
  SegmentName segment_name{{-1, 0, 0}};
  if (ranks.size() == 1) {
    segment = std::make_unique<PrivateSegment>(bytes);
    co_return std::move(segment);
  }
  if (comm.rank() != ranks.front()) {
    Ticket ticket = comm.receive(ranks.front(), kTagForm, bytes_of(segment_name));
    co_await until([&] { return comm.done(ticket); });
    if (segment_name.words[0] == -1) co_return std::move(segment);
    Result<std::unique_ptr<Segment>> attached = comm.attach_segment(segment_name);
    if (attached.ok()) segment = std::move(*attached);
    co_return std::move(segment);
  }
  Result<std::unique_ptr<Segment>> created = comm.create_segment(bytes);
  if (created.ok()) {
    segment = std::move(*created);
    segment_name = segment->name();
  }
  std::vector<Ticket> tickets;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    tickets.push_back(comm.send(ranks[i], kTagForm, bytes_of(segment_name)));
  for (Ticket& ticket : tickets) co_await until([&] { return comm.done(ticket); });
  co_return std::move(segment);
}

Task<bool> any_failed(Comm& comm, bool failed) {
  Verdict verdict{.worst = {}, .incomplete = failed ? 1 : 0};
  co_await agree_by_messages(comm, all_ranks(comm.size()), comm.rank(), bytes_of(verdict).data(),
                             sizeof(verdict), &merge_bytes<Verdict>);
  co_return verdict.incomplete != 0;
}

}  // namespace

Task<bool> agree_by_messages(Comm& comm, std::vector<std::int32_t> ranks, int index,
                             std::byte* mine, std::size_t bytes,
                             void (*merge)(std::byte*, const std::byte*)) {
  const int count = static_cast<int>(ranks.size());
  const int even = static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
  std::vector<std::byte> theirs(bytes);
  std::vector<std::byte> sent(bytes);
  const auto rank_at = [&](int i) { return ranks[static_cast<std::size_t>(i)]; };

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

Task<std::string> broadcast_text(Comm& comm, std::string text) {
  const int rank = comm.rank();
  std::int64_t length = static_cast<std::int64_t>(text.size());
  int mask = 1;
  for (; mask < comm.size(); mask <<= 1) {
    if ((rank & mask) == 0) continue;
    Ticket head = comm.receive(rank - mask, kTagText, bytes_of(length));
    co_await until([&] { return comm.done(head); });
    text.resize(static_cast<std::size_t>(length));
    Ticket body = comm.receive(rank - mask, kTagText, std::as_writable_bytes(std::span(text)));
    co_await until([&] { return comm.done(body); });
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (rank + mask >= comm.size()) continue;
    Ticket head = comm.send(rank + mask, kTagText, bytes_of(length));
    Ticket body = comm.send(rank + mask, kTagText, std::as_bytes(std::span(text)));
    co_await until([&] { return comm.done(head); });
    co_await until([&] { return comm.done(body); });
  }
  co_return text;
}

Team::Team(Comm& comm, Topology topology) : comm_(comm), topology_(std::move(topology)) {
  seats_ = static_cast<int>(topology_.ranks_beside(comm.rank()).size());
}

void Team::sit_down(std::unique_ptr<Segment> segment) {
  segment_ = std::move(segment);
  comm_.set_doorbell(&seat_data(seat_of(comm_.rank())).doorbell);
}

Task<Result<std::unique_ptr<Team>>> Team::form(Comm& comm, int pretend_nodes, bool shared_memory) {
  Topology topology = comm.topology().split(pretend_nodes);
  if (!shared_memory) topology = comm.topology().split(comm.size());
  for (;;) {
    std::unique_ptr<Team> team(new Team(comm, topology));
    const std::int64_t bytes = static_cast<std::int64_t>(
        sizeof(Board) + sizeof(Seat) * static_cast<std::size_t>(team->seats_));
    const std::vector<std::int32_t>& ranks = team->topology_.ranks_beside(comm.rank());
    std::unique_ptr<Segment> segment = co_await open_segment(comm, ranks, bytes);
    const bool failed = co_await any_failed(comm, segment == nullptr);
    if (!failed) {
      team->sit_down(std::move(segment));
      co_return std::move(team);
    }
    // Without shared memory every rank is a node of its own, which cannot fail.
    topology = comm.topology().split(comm.size());
  }
}

Task<Result<std::unique_ptr<Segment>>> Team::share(std::int64_t bytes) {
  std::unique_ptr<Segment> segment =
      co_await open_segment(comm_, topology_.ranks_beside(comm_.rank()), bytes);
  const Verdict mine{.worst = {}, .incomplete = segment == nullptr ? 1 : 0};
  const Verdict verdict = co_await agree(mine);
  if (verdict.incomplete != 0)
    co_return failure(Errc::no_memory, "no shared memory for collective buffers");
  co_return std::move(segment);
}

WriteGate::Words Team::gate() {
  return {&board().sievers, &seat_data(seat_of(comm_.rank())).writing};
}

std::vector<WriteGate::Word*> Team::plain_writers() {
  std::vector<WriteGate::Word*> words;
  for (int seat = 0; seat < seats_; ++seat) words.push_back(&seat_data(seat).writing);
  return words;
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
    std::vector<std::int32_t> leaders;
    for (const auto& ranks : topology_.nodes) leaders.push_back(ranks.front());
    co_await agree_by_messages(comm_, std::move(leaders), node_of(comm_.rank()), merged,
                               merger.bytes, merger.merge);
  }
  std::memcpy(board().result, merged, merger.bytes);
  board().generation.store(round + 1);
  ring_all();
  co_return true;
}

}  // namespace tamis
