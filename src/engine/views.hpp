#pragma once

#include <array>
#include <cstddef>
#include <map>
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

  Portion portion() const { return {&file, first, bytes}; }
};

/// The announcements of a file: who told whom which view. Between nodes only; inside a node nobody
/// needs to know, since ranks move their own pieces.
class Views {
 public:
  /// The view changed: it must be shipped again before it is used.
  void renew() { ++version_; }
  bool is_new() const { return version_ != announced_; }

  /// Collective: owners learn what every rank of other nodes accesses. With `ship`, equal on all
  /// ranks, the descriptions go along, and all ranks learn whether that succeeded everywhere; else
  /// they have to be shipped again. On aggregators `remote()` is valid afterwards. Takes memory
  /// only where it ships. The same answer on every rank in kind: ok or an error.
  Task<Status> announce(Team& team, const std::vector<std::int32_t>& aggregators,
                        const Access& access, bool ship, const Account& account);

  /// Per rank of other nodes what it accesses; empty on ranks that do not aggregate.
  const std::map<int, RemoteAccess>& remote() const { return remote_; }

 private:
  struct Announcement;
  Task<Status> tell(Team& team, const std::vector<std::int32_t>& aggregators, Announcement head,
                    std::span<const std::byte> loop, const Account& account);
  Task<Status> collect(Team& team, const std::vector<std::int32_t>& aggregators);
  Task<Status> hear(Comm& comm, int rank);
  Status remember(int rank, const Announcement& head, std::span<const std::byte> loop);

  // Descriptions travel in pieces, so that an owner without memory for one can receive it all the
  // same, and let it go.
  static constexpr std::size_t kPiece = 16 << 10;
  std::array<std::byte, kPiece> let_go_;
  std::int64_t version_ = 1;
  std::int64_t announced_ = 0;
  std::map<int, RemoteAccess> remote_;
};

}  // namespace tamis
