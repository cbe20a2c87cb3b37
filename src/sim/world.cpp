#include "sim/world.hpp"

#include <cstring>
#include <utility>

namespace tamis::sim {
namespace {

constexpr int kWorld = -1;
int acting = kWorld;

}  // namespace

int acting_rank() { return acting; }
Acting::Acting(int rank) : before_(std::exchange(acting, rank)) {}
Acting::~Acting() { acting = before_; }

class SimComm : public Comm {
 public:
  SimComm(World& world, int rank, int channel) : world_(world), rank_(rank), channel_(channel) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.size(); }
  const Topology& topology() const override { return world_.topology_; }

  Ticket send(int to, int tag, std::span<const std::byte> bytes) override {
    const Acting world(kWorld);
    world_.post({channel_, rank_, to, tag}, bytes);
    return 0;
  }

  Ticket receive(int from, int tag, std::span<std::byte> into) override {
    const Acting world(kWorld);
    const Ticket ticket = ++last_ticket_;
    awaited_[ticket] = {{channel_, from, rank_, tag}, into};
    queues_[{channel_, from, rank_, tag}].push_back(ticket);
    return ticket;
  }

  bool done(Ticket& ticket) override {
    const Acting world(kWorld);
    if (ticket == 0) return true;
    const Awaited awaited = awaited_.at(ticket);
    if (queues_[awaited.key].front() != ticket) return false;
    const auto found = world_.mail_.find(awaited.key);
    if (found == world_.mail_.end() || !found->second.front().arrived) return false;
    const World::Message& message = found->second.front();
    if (message.bytes.size() != awaited.into.size()) __builtin_trap();  // sizes are computed alike
    std::memcpy(awaited.into.data(), message.bytes.data(), message.bytes.size());
    found->second.pop_front();
    if (found->second.empty()) world_.mail_.erase(found);
    queues_[awaited.key].pop_front();
    awaited_.erase(ticket);
    ticket = 0;
    ++world_.activity_;
    return true;
  }

  Result<std::unique_ptr<Segment>> create_segment(std::int64_t bytes) override {
    const Acting world(kWorld);
    if (world_.weather_.shared_memory_refused)
      return failure(Errc::no_memory, "simulated: shared memory refused");
    return world_.memories_.create(bytes);
  }

  Result<std::unique_ptr<Segment>> attach_segment(const SegmentName& name) override {
    const Acting world(kWorld);
    if (world_.weather_.attach_fails_on == rank_)
      return failure(Errc::unsupported_operation, "simulated: segment cannot be attached");
    std::unique_ptr<Segment> segment = world_.memories_.attach(name);
    if (segment == nullptr) return failure(Errc::internal, "simulated: no such segment");
    return segment;
  }

  void idle(std::uint32_t) override {}
  void ring(Doorbell& doorbell) override {
    doorbell.fetch_add(2);
    ++world_.activity_;
  }

 private:
  struct Awaited {
    World::Key key;
    std::span<std::byte> into;
  };
  World& world_;
  int rank_;
  int channel_;
  Ticket last_ticket_ = 0;
  std::map<Ticket, Awaited> awaited_;
  std::map<World::Key, std::deque<Ticket>> queues_;
};

World::World(std::uint64_t seed, std::vector<std::int64_t> node_labels, Weather weather)
    : random_(seed), topology_(Topology::from_labels(node_labels)), weather_(weather) {}

World::~World() = default;

std::unique_ptr<Comm> World::comm(int rank, int channel) {
  return std::make_unique<SimComm>(*this, rank, channel);
}

int World::pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

void World::post(const Key& key, std::span<const std::byte> bytes) {
  mail_[key].push_back({std::vector<std::byte>(bytes.begin(), bytes.end())});
  on_the_way_.push_back(key);
}

void World::deliver() {
  std::uniform_real_distribution<double> chance(0, 1);
  for (int tries = 0; tries < 4 && !on_the_way_.empty(); ++tries) {
    Key& drawn = on_the_way_[static_cast<std::size_t>(pick(static_cast<int>(on_the_way_.size())))];
    if (chance(random_) < weather_.delay) continue;
    for (Message& message : mail_[drawn]) {
      if (message.arrived) continue;
      message.arrived = true;
      break;
    }
    drawn = on_the_way_.back();
    on_the_way_.pop_back();
    ++activity_;
  }
}

}  // namespace tamis::sim
