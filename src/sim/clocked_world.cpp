#include "sim/clocked_world.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace tamis::sim {
namespace {

constexpr int kWorld = -1;
constexpr double kLinkSlotNs = 50'000;

std::vector<std::int64_t> nodes_in_turn(int ranks, int per_node) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) labels[static_cast<std::size_t>(rank)] = rank / per_node;
  return labels;
}

std::int64_t cpu_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::size_t place_of(int tag) {
  return std::min(static_cast<std::size_t>(tag), Traffic::kTags - 1);
}

Posted sum(const std::array<Posted, Traffic::kTags>& parts) {
  Posted all;
  for (const Posted& part : parts) {
    all.messages += part.messages;
    all.bytes += part.bytes;
  }
  return all;
}

}  // namespace

Posted Traffic::all_sent() const { return sum(sent); }
Posted Traffic::all_received() const { return sum(received); }

class ClockedComm : public Comm {
 public:
  ClockedComm(ClockedWorld& world, int rank) : world_(world), rank_(rank) {}
  ~ClockedComm() override { world_.at(rank_).comm = nullptr; }
  ClockedComm(const ClockedComm&) = delete;
  ClockedComm& operator=(const ClockedComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return world_.size(); }
  const Topology& topology() const override { return world_.topology_; }

  Ticket send(int to, int tag, std::span<const std::byte> bytes) override {
    const Acting world(kWorld);
    world_.post(rank_, to, tag, bytes);
    return 0;
  }

  Ticket receive(int from, int tag, std::span<std::byte> into) override {
    const Acting world(kWorld);
    awaited_.push_back({++last_ticket_, from, tag, into});
    return last_ticket_;
  }

  bool done(Ticket& ticket) override {
    const Acting world(kWorld);
    if (ticket == 0) return true;
    const auto mine = std::ranges::find(awaited_, ticket, &Awaited::ticket);
    const auto alike = [&](const Awaited& a) { return a.from == mine->from && a.tag == mine->tag; };
    if (std::ranges::find_if(awaited_, alike) != mine) return false;  // in order
    if (!world_.take(mine->from, rank_, mine->tag, mine->into)) return false;
    awaited_.erase(mine);
    ticket = 0;
    return true;
  }

  Result<std::unique_ptr<Segment>> create_segment(std::int64_t bytes) override {
    const Acting world(kWorld);
    world_.at(rank_).shared_bytes += bytes;
    return world_.memories_.create(bytes);
  }

  Result<std::unique_ptr<Segment>> attach_segment(const SegmentName& name) override {
    const Acting world(kWorld);
    std::unique_ptr<Segment> segment = world_.memories_.attach(name);
    if (segment == nullptr) return failure(Errc::internal, "simulated: no such segment");
    return segment;
  }

  void idle(std::uint32_t) override {}
  void ring(Doorbell& doorbell) override {
    const Acting world(kWorld);
    doorbell.fetch_add(2);
    world_.ring(doorbell, rank_);
  }
  bool sleeps_on(const Doorbell& doorbell) const { return doorbell_ == &doorbell; }

 private:
  struct Awaited {
    Ticket ticket;
    int from;
    int tag;
    std::span<std::byte> into;
  };
  ClockedWorld& world_;
  int rank_;
  Ticket last_ticket_ = 0;
  std::vector<Awaited> awaited_;
};

ClockedWorld::ClockedWorld(int ranks, const Machine& machine)
    : network_(machine.network),
      topology_(Topology::from_labels(nodes_in_turn(ranks, machine.ranks_per_node))),
      ranks_(static_cast<std::size_t>(ranks)),
      out_(topology_.nodes.size(), Calendar(kLinkSlotNs)),
      in_(topology_.nodes.size(), Calendar(kLinkSlotNs)) {
  for (int rank = 0; rank < ranks; ++rank) at(rank).timed = topology_.local_index(rank) < 2;
}

ClockedWorld::~ClockedWorld() = default;

std::unique_ptr<Comm> ClockedWorld::comm(int rank) {
  auto comm = std::make_unique<ClockedComm>(*this, rank);
  at(rank).comm = comm.get();
  return comm;
}

void ClockedWorld::begin_anew() {
  for (Rank& rank : ranks_) {
    rank.clock_ns = 0;
    rank.traffic = {};
  }
  for (Calendar& link : out_) link.clear();
  for (Calendar& link : in_) link.clear();
}

double ClockedWorld::now_ns() const {
  double latest = 0;
  for (const Rank& rank : ranks_) latest = std::max(latest, rank.clock_ns);
  return latest;
}

void ClockedWorld::busy_until(int rank, double time_ns) {
  at(rank).clock_ns = std::max(at(rank).clock_ns, time_ns);
}

std::uint64_t ClockedWorld::key(int from, int to, int tag) {
  constexpr int kTagBits = 6;
  constexpr int kRankBits = 28;
  return (static_cast<std::uint64_t>(to) << (kRankBits + kTagBits)) |
         (static_cast<std::uint64_t>(from) << kTagBits) | static_cast<std::uint64_t>(tag);
}

/// When a message arrives. Its bytes go through the links of both nodes, side by side.
double ClockedWorld::carry(int from, int to, std::int64_t bytes, double sent_ns) {
  const int here = node_of(from);
  const int there = node_of(to);
  if (here == there) return sent_ns + network_.signal_ns;
  const double work_ns = static_cast<double>(bytes) * network_.byte_ns;
  const double left_ns = out_[static_cast<std::size_t>(here)].book(sent_ns, work_ns);
  const double first_ns = left_ns - work_ns + network_.latency_ns;
  return in_[static_cast<std::size_t>(there)].book(first_ns, work_ns);
}

void ClockedWorld::post(int from, int to, int tag, std::span<const std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  Rank& sender = at(from);
  sender.clock_ns += network_.end_ns + static_cast<double>(size) * network_.copy_byte_ns;
  sender.traffic.sent[place_of(tag)].add(size);

  auto message = std::make_unique<Message>();
  message->arrival_ns = carry(from, to, size, sender.clock_ns);
  message->size = size;
  std::memcpy(message->head.data(), bytes.data(), std::min(bytes.size(), kKept));
  if (bytes.size() > kKept) message->rest.assign(bytes.begin() + kKept, bytes.end());

  Traffic& receiver = at(to).traffic;
  receiver.longest_queue = std::max(receiver.longest_queue, ++receiver.queue);
  wake(to, message->arrival_ns);
  Queue& queue = mail_[key(from, to, tag)];
  Message* const posted = message.get();
  (queue.first == nullptr ? queue.first : queue.last->next) = std::move(message);
  queue.last = posted;
}

bool ClockedWorld::take(int from, int to, int tag, std::span<std::byte> into) {
  const auto found = mail_.find(key(from, to, tag));
  Rank& receiver = at(to);
  if (found == mail_.end() || found->second.first->arrival_ns > receiver.clock_ns) return false;
  Message& message = *found->second.first;
  if (message.size != static_cast<std::int64_t>(into.size()))
    throw std::logic_error("a message is not as long as its receiver thinks");
  std::memcpy(into.data(), message.head.data(), std::min(into.size(), kKept));
  if (!message.rest.empty())
    std::memcpy(into.data() + kKept, message.rest.data(), message.rest.size());
  receiver.clock_ns += network_.end_ns + static_cast<double>(message.size) * network_.copy_byte_ns;
  receiver.traffic.received[place_of(tag)].add(message.size);
  --receiver.traffic.queue;
  found->second.first = std::move(message.next);
  if (found->second.first == nullptr) mail_.erase(found);
  return true;
}

// Bells lie in the memory of a node; whose they are is found out once.
void ClockedWorld::ring(const Doorbell& doorbell, int by) {
  const auto owns = [&](int rank) {
    return at(rank).comm != nullptr && at(rank).comm->sleeps_on(doorbell);
  };
  const auto [entry, is_new] = bells_.try_emplace(&doorbell, by);
  if (is_new || !owns(entry->second)) {
    const auto& beside = topology_.ranks_beside(by);
    const auto found = std::ranges::find_if(beside, owns);
    if (found == beside.end()) return;  // nobody sleeps on it
    entry->second = *found;
  }
  // Who rings for itself wants to look again at once.
  const double signal_ns = entry->second != by ? network_.signal_ns : 0;
  wake(entry->second, at(by).clock_ns + signal_ns);
}

void ClockedWorld::wake(int rank, double time_ns) {
  if (at(rank).finished || at(rank).expected_ns == time_ns) return;
  at(rank).expected_ns = time_ns;
  events_.push({time_ns, rank});
}

/// Steps the event's rank, or puts the event off until the rank is free. True: it has finished.
bool ClockedWorld::step_at(const Event& event, const std::function<bool(int rank)>& step) {
  Rank& rank = at(event.rank);
  if (rank.finished) return false;
  if (rank.expected_ns == event.time_ns) rank.expected_ns = -1;
  if (rank.clock_ns > event.time_ns) {
    wake(event.rank, rank.clock_ns);
    return false;
  }
  rank.clock_ns = event.time_ns;
  const bool taken = timed(event.rank);
  const std::int64_t begun_ns = taken ? cpu_clock_ns() : 0;
  {
    const Acting acting(event.rank);
    rank.finished = step(event.rank);
  }
  if (taken) rank.traffic.cpu_ns += cpu_clock_ns() - begun_ns;
  ++rank.traffic.steps;
  return rank.finished;
}

bool ClockedWorld::drive(const std::function<bool(int rank)>& step) {
  int unfinished = size();
  events_ = {};
  for (int rank = 0; rank < size(); ++rank) {
    at(rank).finished = false;
    at(rank).expected_ns = -1;
    wake(rank, at(rank).clock_ns);
  }
  while (unfinished > 0 && !events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    if (step_at(event, step)) --unfinished;
  }
  return unfinished == 0;
}

}  // namespace tamis::sim
