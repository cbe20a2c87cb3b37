#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "comm/task.hpp"
#include "sim/calendar.hpp"
#include "sim/machine.hpp"
#include "sim/shared_memory.hpp"
#include "sim/world.hpp"

namespace tamis::sim {

/// Messages of one kind, and their bytes.
struct Posted {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  void add(std::int64_t n) {
    ++messages;
    bytes += n;
  }
};

/// What one rank had to do with messages.
struct Traffic {
  static constexpr std::size_t kTags = 8;
  std::array<Posted, kTags> sent;  ///< by tag; the last one: all others
  std::array<Posted, kTags> received;
  std::int64_t queue = 0;  ///< messages on their way to it or waiting for it now
  std::int64_t longest_queue = 0;
  std::int64_t steps = 0;   ///< how often it was resumed
  std::int64_t cpu_ns = 0;  ///< of this machine, in its own code; of some ranks, see timed()

  Posted all_sent() const;
  Posted all_received() const;
};

/// Simulated ranks with a clock each: the engine's own code, a rank stepped only when something has
/// happened to it (a message, a ring), in the order of their clocks. A message moves its receiver's
/// clock to its arrival; what a rank does between two steps takes the time the machine's costs say.
/// What ranks of one node read of each other's memory is seen a little early where its writer is
/// ahead on the clock; everybody's own time is right, so the time of the whole is.
class ClockedWorld {
 public:
  ClockedWorld(int ranks, const Machine& machine);
  ~ClockedWorld();
  ClockedWorld(const ClockedWorld&) = delete;
  ClockedWorld& operator=(const ClockedWorld&) = delete;

  int size() const { return static_cast<int>(ranks_.size()); }
  const Topology& topology() const { return topology_; }
  std::unique_ptr<Comm> comm(int rank);

  /// Runs one task per rank to the end. False: they hang.
  template <typename T>
  bool run(std::vector<Task<T>> tasks, std::vector<T>& results);

  /// All clocks at zero, links idle, nothing counted. REQUIRES: no task is under way.
  void begin_anew();
  /// The latest of all clocks.
  double now_ns() const;
  double clock_ns(int rank) const { return at(rank).clock_ns; }
  /// The rank is busy until then.
  void busy_until(int rank, double time_ns);
  /// The rank looks for work at that time, if it waits.
  void wake(int rank, double time_ns);
  /// The processor's time is taken of the first two ranks of each node: asking for it costs more
  /// than most steps.
  bool timed(int rank) const { return at(rank).timed; }
  const Traffic& traffic(int rank) const { return at(rank).traffic; }
  /// Shared memory made by a rank and not yet given back by anyone.
  std::int64_t shared_bytes(int rank) const { return at(rank).shared_bytes; }
  std::size_t messages_left() const { return mail_.size(); }

 private:
  friend class ClockedComm;
  static constexpr std::size_t kKept = 64;

  struct Message {
    double arrival_ns = 0;
    std::int64_t size = 0;
    std::array<std::byte, kKept> head;
    std::vector<std::byte> rest;
    std::unique_ptr<Message> next;
  };
  struct Queue {
    std::unique_ptr<Message> first;
    Message* last = nullptr;
  };
  struct Rank {
    double clock_ns = 0;
    double expected_ns = -1;  // the event that was put in last, if it is still to come
    bool finished = false;
    bool timed = false;
    std::int64_t shared_bytes = 0;
    class ClockedComm* comm = nullptr;
    Traffic traffic;
  };
  struct Event {
    double time_ns;
    int rank;
    bool operator>(const Event& other) const { return time_ns > other.time_ns; }
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  int node_of(int rank) const { return topology_.node_of[static_cast<std::size_t>(rank)]; }
  static std::uint64_t key(int from, int to, int tag);
  void post(int from, int to, int tag, std::span<const std::byte> bytes);
  double carry(int from, int to, std::int64_t bytes, double sent_ns);
  /// Takes the first message of a queue if it is there by now.
  bool take(int from, int to, int tag, std::span<std::byte> into);
  void ring(const Doorbell& doorbell, int by);
  /// Steps ranks until all have finished; `step` says whether its rank has.
  bool drive(const std::function<bool(int rank)>& step);
  bool step_at(const Event& event, const std::function<bool(int rank)>& step);

  const Network network_;
  Topology topology_;
  std::vector<Rank> ranks_;
  std::vector<Calendar> out_;  // links of nodes
  std::vector<Calendar> in_;
  std::unordered_map<std::uint64_t, Queue> mail_;
  std::unordered_map<const Doorbell*, int> bells_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  SharedMemories memories_{SharedMemories::Leftover::untouched};
};

template <typename T>
bool ClockedWorld::run(std::vector<Task<T>> tasks, std::vector<T>& results) {
  std::deque<Driven<T>> driven;
  for (Task<T>& task : tasks) driven.emplace_back(std::move(task));
  tasks.clear();
  if (!drive([&](int rank) { return driven[static_cast<std::size_t>(rank)].advance(); }))
    return false;
  results.clear();
  for (Driven<T>& one : driven) results.push_back(one.take());
  return true;
}

}  // namespace tamis::sim
