#include "engine/views.hpp"

#include <algorithm>

namespace tamis {
namespace {

struct Announcement {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  std::int64_t displacement = 0;
  std::int64_t repeat = 0;
  std::int64_t loop_bytes = 0;  // of the encoded dataloop that follows; 0: as announced before
};

struct Post {
  Announcement head;
  std::vector<std::byte> loop;
  Ticket head_ticket = 0;
  Ticket loop_ticket = 0;
};

Status remember(const Post& post, RemoteAccess& remote) {
  remote.first = post.head.first;
  remote.bytes = post.head.bytes;
  remote.file.displacement = post.head.displacement;
  remote.file.repeat = post.head.repeat;
  if (post.loop.empty()) return {};
  Result<Dataloop> loop = Dataloop::decode(post.loop);
  if (!loop.ok()) {
    remote.bytes = 0;
    return loop.status();
  }
  remote.file.loop = std::move(*loop);
  return {};
}

/// Receives from every rank of other nodes; heads first, since they tell the sizes of the loops.
Task<Status> collect(Team& team, std::map<int, RemoteAccess>& remote) {
  Comm& comm = team.comm();
  std::map<int, Post> posts;
  for (int rank = 0; rank < team.size(); ++rank) {
    if (team.beside_me(rank)) continue;
    Post& post = posts[rank];
    post.head_ticket = comm.receive(rank, kTagAnnounce, bytes_of(post.head));
  }
  Status status;
  for (auto& [rank, post] : posts) {
    co_await until([&] { return comm.done(post.head_ticket); });
    post.loop.resize(static_cast<std::size_t>(post.head.loop_bytes));
    if (!post.loop.empty()) post.loop_ticket = comm.receive(rank, kTagLoop, post.loop);
  }
  for (auto& [rank, post] : posts) {
    co_await until([&] { return comm.done(post.loop_ticket); });
    status.keep_first(remember(post, remote[rank]));
  }
  co_return status;
}

}  // namespace

Task<Status> Views::announce(Team& team, const std::vector<std::int32_t>& aggregators,
                             const Access& access, bool ship) {
  Comm& comm = team.comm();
  Post post;
  post.head = {access.first, access.bytes, access.file->displacement, access.file->repeat, 0};
  if (ship) access.file->loop.encode(post.loop);
  post.head.loop_bytes = static_cast<std::int64_t>(post.loop.size());

  std::vector<Ticket> tickets;
  for (const std::int32_t owner : aggregators) {
    if (team.beside_me(owner)) continue;
    tickets.push_back(comm.send(owner, kTagAnnounce, bytes_of(post.head)));
    if (!post.loop.empty()) tickets.push_back(comm.send(owner, kTagLoop, post.loop));
  }
  Status status;
  if (std::binary_search(aggregators.begin(), aggregators.end(), team.rank()))
    status = co_await collect(team, remote_);
  for (Ticket& ticket : tickets) co_await until([&] { return comm.done(ticket); });
  if (ship) announced_ = version_;
  co_return status;
}

}  // namespace tamis
