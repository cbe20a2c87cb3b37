#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "comm/comm.hpp"
#include "comm/task.hpp"
#include "sim/shared_memory.hpp"

namespace tamis::sim {

/// What can go wrong with the network and the memory of a simulated machine.
struct Weather {
  double delay = 0.5;  ///< chance that a message drawn for delivery stays on its way
  bool shared_memory_refused = false;  ///< every segment is refused
  int attach_fails_on = -1;            ///< rank that cannot attach segments; -1: none
};

/// The rank whose code runs right now; -1 while the world itself does something. A test may let a
/// rank run out of memory by it.
int acting_rank();

/// Says who acts while this lives.
class Acting {
 public:
  explicit Acting(int rank);
  ~Acting();
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

 private:
  int before_;
};

/// Simulated ranks in one process and one thread: the engine's own code, stepped in an order drawn
/// from a seed. Messages arrive late but in order; nobody ever sleeps, so a hang shows as a world
/// in which nothing happens any more.
class World {
 public:
  World(std::uint64_t seed, std::vector<std::int64_t> node_labels, Weather weather = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int size() const { return static_cast<int>(topology_.node_of.size()); }
  /// A communicator over all ranks for one open file, as rank `rank` sees it. `channel` tells files
  /// apart; all ranks use the same.
  std::unique_ptr<Comm> comm(int rank, int channel);

  /// Runs one task per rank to the end, in random order of steps. False: they hang.
  template <typename T>
  bool run(std::vector<Task<T>> tasks, std::vector<T>& results);

  /// Messages that were sent and nobody has received.
  std::size_t messages_left() const { return mail_.size(); }
  /// Segments that still exist: none may be left once all files are closed.
  int segments_alive() const { return memories_.alive(); }

 private:
  friend class SimComm;
  struct Message {
    std::vector<std::byte> bytes;
    bool arrived = false;
  };
  struct Key {
    int channel, from, to, tag;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): mistaken
  };

  template <typename T>
  static bool step(Driven<T>& driven, int rank) {
    const Acting acting(rank);
    return driven.advance();
  }
  void post(const Key& key, std::span<const std::byte> bytes);
  /// Lets some messages arrive; those between the same ranks with the same tag keep their order.
  void deliver();
  int pick(int below);

  std::mt19937_64 random_;
  Topology topology_;
  Weather weather_;
  std::map<Key, std::deque<Message>> mail_;  // sent and not yet received
  std::vector<Key> on_the_way_;              // one entry per message that has not arrived
  SharedMemories memories_{SharedMemories::Leftover::rubbish};
  std::uint64_t activity_ = 0;  // rings, arrivals, completed receives: signs of life
};

template <typename T>
bool World::run(std::vector<Task<T>> tasks, std::vector<T>& results) {
  std::deque<Driven<T>> driven;
  for (Task<T>& task : tasks) driven.emplace_back(std::move(task));
  std::vector<int> unfinished;
  for (int i = 0; i < static_cast<int>(driven.size()); ++i) unfinished.push_back(i);

  std::uint64_t seen = activity_;
  std::uint64_t quiet = 0;
  while (!unfinished.empty()) {
    const int slot = pick(static_cast<int>(unfinished.size()));
    const int rank = unfinished[static_cast<std::size_t>(slot)];
    if (step(driven[static_cast<std::size_t>(rank)], rank)) {
      unfinished[static_cast<std::size_t>(slot)] = unfinished.back();
      unfinished.pop_back();
      ++activity_;
    }
    deliver();
    quiet = activity_ == seen && on_the_way_.empty() ? quiet + 1 : 0;
    seen = activity_;
    // Every rank is drawn many times over before the verdict.
    if (quiet > 200 + 40 * unfinished.size()) return false;
  }
  results.clear();
  for (Driven<T>& one : driven) results.push_back(one.take());
  return true;
}

}  // namespace tamis::sim
