#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm/comm.hpp"
#include "comm/task.hpp"
#include "engine/write_gate.hpp"

namespace tamis {

/// Message tags of the engine; one Comm serves one file, so they need not differ between files.
enum Tag : int {
  kTagForm = 0,
  kTagAgree = 1,
  kTagText = 2,
  kTagAnnounce = 3,
  kTagLoop = 4,
  kTagParcel = 5,
  kTagRecord = 6
};

/// The largest value ranks can agree on: their words have a place each, taken once.
inline constexpr std::size_t kPayload = 768;

/// The ranks of one open file as the engine sees them: their Comm, the memory each node's ranks
/// share, and small agreements. Inside a node an agreement is one write to shared memory and one
/// wake-up; leaders of nodes exchange messages.
class Team {
 public:
  ~Team() { comm_.set_doorbell(nullptr); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Collective. Where shared memory is refused on any rank, or `shared_memory` is false, every
  /// rank becomes a node of its own. The comm must outlive the team. Fails on all ranks where it
  /// fails on one, or one came with an error (`own`); then the other arguments may differ.
  static Task<Result<std::unique_ptr<Team>>> form(Comm& comm, int pretend_nodes, bool shared_memory,
                                                  Status own);

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  Comm& comm() { return comm_; }
  const Topology& topology() const { return topology_; }
  bool beside_me(int rank) const { return node_of(rank) == node_of(comm_.rank()); }
  /// Number of ranks on this node; they are the first seats.
  int seats() const { return seats_; }
  int seat_of(int rank) const { return topology_.local_index(rank); }

  /// Collective: every rank gets the merge of all contributions. T is a small plain struct with
  /// `void merge(const T&)` whose result does not depend on the order.
  template <typename T>
  Task<T> agree(T mine);

  /// The words that keep this node's plain and sieving writes apart.
  WriteGate::Words gate();
  std::span<WriteGate::Word* const> plain_writers() const { return plain_writers_; }

  /// A few words of a rank of this node that the others of the node may read, once they have agreed
  /// on something since they were written.
  static constexpr std::size_t kNote = 64;
  std::span<std::byte, kNote> note(int seat) { return seat_data(seat).note; }

  /// Rings the doorbell of a rank of this node.
  void ring(int seat) { comm_.ring(seat_data(seat).doorbell); }
  void ring_all();

  /// Collective over the node's ranks: memory they all see, whatever is in it at first; freed with
  /// the result. Fails on all ranks of the team where it fails on one, or one came with an error
  /// (`own`).
  Task<Result<std::unique_ptr<Segment>>> share(std::int64_t bytes, Status own);

 private:
  struct alignas(64) Seat {
    Doorbell doorbell;
    alignas(64) WriteGate::Word writing;
    alignas(64) std::byte payload[kPayload];
    std::byte note[kNote];
  };
  struct alignas(64) Board {
    std::atomic<std::uint32_t> arrived;
    alignas(64) WriteGate::Word sievers;
    alignas(64) std::atomic<std::uint32_t> generation;
    std::byte result[kPayload];
    SegmentName shared;  // what the leader made last
  };
  struct Merger {  // a type's merge, without its type
    std::size_t bytes;
    void (*merge)(std::byte* into, const std::byte* from);
  };

  Team(Comm& comm, int pretend_nodes);
  int node_of(int rank) const { return topology_.node_of[static_cast<std::size_t>(rank)]; }
  Board& board() { return *reinterpret_cast<Board*>(segment_->data()); }
  Seat& seat_data(int seat) {
    return reinterpret_cast<Seat*>(segment_->data() + sizeof(Board))[seat];
  }
  Task<bool> agree_bytes(std::byte* mine, Merger merger);
  Task<bool> publish(std::uint32_t round, Merger merger);
  void sit_down(std::unique_ptr<Segment> segment);

  Comm& comm_;
  std::optional<Topology> pretended_;
  const Topology& topology_;  // the comm's, or the pretended one
  int seats_ = 1;
  std::vector<WriteGate::Word*> plain_writers_;
  std::unique_ptr<Segment> segment_;
  std::uint32_t rounds_ = 0;  // agreements so far; equal on every rank
};

/// Merge by messages alone: recursive doubling, O(log n) messages per rank. Of the leaders of
/// `nodes`, or, where that is null, of all ranks of the comm; `index` is this rank's place among
/// them. Merges into `mine`; takes no memory but its frame. REQUIRES: bytes <= kPayload.
Task<bool> agree_by_messages(Comm& comm, const Topology* nodes, int index, std::byte* mine,
                             std::size_t bytes, void (*merge)(std::byte*, const std::byte*));

/// Collective over the comm: rank 0's text, or its error, reaches every rank, along a binomial
/// tree. A rank may fail alone (no memory): ranks have to agree afterwards.
Task<Result<std::string>> broadcast_text(Comm& comm, Result<std::string> text);

template <typename T>
void merge_bytes(std::byte* into, const std::byte* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T a;
  T b;
  std::memcpy(&a, into, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  a.merge(b);
  std::memcpy(into, &a, sizeof(T));
}

template <typename T>
Task<T> Team::agree(T mine) {
  static_assert(sizeof(T) <= kPayload && std::is_trivially_copyable_v<T>);
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &mine, sizeof(T));
  const Merger merger{sizeof(T), &merge_bytes<T>};
  const bool done = co_await agree_bytes(bytes, merger);
  static_cast<void>(done);
  std::memcpy(&mine, bytes, sizeof(T));
  co_return mine;
}

}  // namespace tamis
