#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "engine/alone.hpp"
#include "engine/team.hpp"
#include "engine/write_gate.hpp"
#include "plan/strategy.hpp"

namespace tamis {

/// A window's bytes in memory from its first one on, and a mark for each that was put in since they
/// were last stored.
struct WindowMemory {
  std::byte* bytes = nullptr;
  std::byte* marks = nullptr;  ///< null: nobody asks
};

/// The smallest extent that holds all that were added. One thread changes it, any may look.
class Hull {
 public:
  Extent get() const { return between(first_.load(), end_.load()); }
  bool empty() const { return end_.load(std::memory_order_relaxed) == 0; }
  void add(const Extent& extent) {
    first_.store(empty() ? extent.offset : std::min(first_.load(), extent.offset));
    end_.store(std::max(end_.load(), extent.end()));
  }
  void clear() {
    end_.store(0);
    first_.store(0);
  }

 private:
  std::atomic<std::int64_t> first_ = 0;
  std::atomic<std::int64_t> end_ = 0;
};

/// Write-behind: what collective writes put into windows stays there until it is asked for. An
/// aggregator keeps windows of its realm across calls, in memory that its node's ranks share;
/// exactly the bytes that were put in are stored, at a sync, before an access that meets them, or
/// when a window is needed for another part of the file. What could not be stored is kept, to be
/// tried again.
class WriteBehind {
 public:
  struct Means {
    Driver& driver;
    Scratch& scratch;
    const Circumstances& plan;
    WriteGate::Words gate;
  };

  /// Collective; the same result on every rank. `realms` stay as they are: they do not depend on
  /// the access (persistent or given ones). What `means` refers to must outlive it.
  static Task<Result<std::unique_ptr<WriteBehind>>> create(Team& team, const Means& means,
                                                           const FileRealms& realms);

  // An aggregator, for a window of its realm that ranks will fill:

  /// A place for it, with what was put in before; nobody else uses it until give_back. Where no
  /// place is free another window is stored first. Fails where that fails.
  Result<int> take(const Window& window, Account account);
  /// The ranks are done with it.
  void give_back(int place, const Window& window);

  /// For all ranks of the aggregator's node.
  WindowMemory memory(int realm, int place, const Window& window);

  /// Stores what this rank keeps, while all ranks are in a collective call. Goes on after an error;
  /// the first one is returned.
  Status store_own(Account account);
  /// Stores all windows kept on this node that have bytes in `range`. Waits where another thread's
  /// collective write is filling one.
  /// REQUIRES: there is one node.
  Status store_on_node(const Extent& range, Account account);

  /// Buffer memory of this rank.
  std::int64_t memory_held() const;

 private:
  // A place for a window, in memory all ranks of the node see. Everything but `held` belongs to who
  // holds it; anybody may look at the number.
  struct alignas(64) Place {
    std::atomic<std::uint32_t> held;
    std::atomic<std::int64_t>
        number;          // of the window, on the grid over the realm's stream; kNobody: free
    std::int64_t first;  // all marks are between these positions of the stream
    std::int64_t end;
  };
  static constexpr std::int64_t kNobody = -1;
  class Hold;

  WriteBehind(Team& team, const Means& means, const FileRealms& realms);
  Status set_up(std::unique_ptr<Segment> segment);
  std::int64_t places_end() const;
  std::int64_t slot(int realm, int place) const;
  Place& place_at(int realm, int place);
  WindowMemory slot_memory(int realm, int place);
  Status provide(int place);
  bool is_mine(int place) const;
  Result<int> free_place(Account account);
  int oldest_after(std::uint64_t time) const;

  Status store(int realm, int place, Account account);
  Status store_marked(const Layout& layout, const Window& filled, const WindowMemory& memory,
                      Account account);
  Status store_runs(const Layout& layout, const Window& all, const WindowMemory& memory,
                    Account account);
  Status store_whole(const Layout& layout, const Window& all, const WindowMemory& memory,
                     Account account);

  Team& team_;
  Means means_;
  std::vector<Layout> realms_;
  std::vector<int> node_index_;  // per realm: its place among the node's; -1: on another node
  std::int64_t here_ = 0;        // realms of this node
  int my_realm_ = -1;
  int places_;  // per realm
  std::unique_ptr<Segment> segment_;
  // An aggregator's:
  int provided_ = 0;                 // places that have memory
  std::vector<std::uint64_t> used_;  // when, by place
  std::uint64_t clock_ = 0;
  std::array<int, 2> taken_{-1, -1};  // places that ranks fill
};

}  // namespace tamis
