#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "engine/account.hpp"
#include "engine/share.hpp"
#include "engine/team.hpp"
#include "plan/access.hpp"

namespace tamis {

/// What an aggregator knows of a rank on another node: its view, shipped once and remembered, and
/// the range it accesses now.
struct RemoteAccess {
  Layout file;
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  Extent span{};  ///< of the range in the file

  Portion portion() const { return {&file, first, bytes}; }
};

/// Another node's ranks, by seat.
struct RemoteNode {
  std::int32_t node = 0;
  std::vector<RemoteAccess> ranks;
};

/// The announcements of a file: who told whom which view. Between nodes only; inside a node nobody
/// needs to know, since ranks move their own pieces. A node's leader tells each aggregator the
/// ranges of all its ranks in one message; a description that several ranks of a node share is sent
/// by one of them; and what an aggregator knows already is not told again.
class Views {
 public:
  /// The view changed: it must be shipped again before it is used.
  void renew() { ++version_; }

  /// Puts the access up where this node's leader can read it once the ranks have agreed on
  /// something. What of it aggregators elsewhere do not know yet; nothing where there is one node.
  News propose(Team& team, const Access& access);

  /// Collective, once: gets the memory for ranges. The same answer on every rank.
  Task<Status> prepare(Team& team, const std::vector<std::int32_t>& aggregators);

  /// Collective, after propose() and an agreement; `news` is the most that any rank has. Owners
  /// learn what every rank of other nodes accesses; `remote()` is valid there afterwards. Takes
  /// memory only for new views. The same answer on every rank in kind: ok or an error.
  Task<Status> announce(Team& team, const std::vector<std::int32_t>& aggregators,
                        const Access& access, News news, const Account& account);

  /// The other nodes with what their ranks access; empty on ranks that do not aggregate.
  const std::vector<RemoteNode>& remote() const { return remote_; }

 private:
  struct Range;
  struct Description;
  Task<Status> ship(Team& team, const std::vector<std::int32_t>& aggregators, const Access& access,
                    const Account& account);
  Task<Status> exchange(Team& team, const std::vector<std::int32_t>& aggregators,
                        const Description& mine, const Account& account);
  Task<Status> tell(Team& team, const std::vector<std::int32_t>& aggregators,
                    const Description& mine, const Account& account);
  Task<Status> collect(Team& team, bool with_loops);
  Task<Status> hear_loop(Comm& comm, int rank, std::int64_t bytes, Dataloop& loop);
  void remember(RemoteNode& node);
  Range own_range(const Access& access) const;

  // Descriptions travel in pieces, so that an owner without memory for one can receive it all the
  // same, and let it go.
  static constexpr std::size_t kPiece = 16 << 10;
  std::int64_t version_ = 1;
  std::int64_t announced_ = 0;
  std::array<std::byte, Team::kNote> told_{};  // the range owners know of this rank
  bool prepared_ = false;
  std::vector<std::byte> let_go_;   // of one piece
  std::vector<std::byte> leading_;  // ranges of this node's ranks, on its leader
  std::vector<std::byte> heard_;    // and of another node's, on aggregators
  std::vector<RemoteNode> remote_;
};

}  // namespace tamis
