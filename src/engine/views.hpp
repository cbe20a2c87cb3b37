#pragma once

#include <map>
#include <vector>

#include "engine/team.hpp"
#include "plan/access.hpp"

namespace tamis {

/// What an aggregator knows of a rank on another node: its view, shipped once and remembered, and
/// the range it accesses now.
struct RemoteAccess {
  Layout file;
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};

/// The announcements of a file: who told whom which view. Between nodes only; inside a node nobody
/// needs to know, since ranks move their own pieces.
class Views {
 public:
  /// The view changed: it must be shipped again before it is used.
  void renew() { ++version_; }
  bool is_new() const { return version_ != announced_; }

  /// Collective over ranks and aggregators of other nodes: owners learn what every rank elsewhere
  /// accesses. With `ship` the descriptions go along. On aggregators `remote()` is valid
  /// afterwards.
  Task<Status> announce(Team& team, const std::vector<std::int32_t>& aggregators,
                        const Access& access, bool ship);

  /// Per rank of other nodes what it accesses; empty on ranks that do not aggregate.
  const std::map<int, RemoteAccess>& remote() const { return remote_; }

 private:
  std::int64_t version_ = 1;
  std::int64_t announced_ = 0;
  std::map<int, RemoteAccess> remote_;
};

}  // namespace tamis
