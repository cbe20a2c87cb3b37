#include "sim/fleet.hpp"

#include <algorithm>

#include "engine/team.hpp"

namespace tamis::sim {
namespace {

Task<Outcome> move_alone(File& file, AccessRequest request) { co_return file.access(request); }

void add(Posted& sum, const Posted& part) {
  sum.messages += part.messages;
  sum.bytes += part.bytes;
}
void keep_most(Posted& most, const Posted& one) {
  most.messages = std::max(most.messages, one.messages);
  most.bytes = std::max(most.bytes, one.bytes);
}
void divide(Posted& sum, std::int64_t by) {
  sum.messages = (sum.messages + by / 2) / by;
  sum.bytes = (sum.bytes + by / 2) / by;
}

}  // namespace

Fleet::Fleet(const Machine& machine, int ranks)
    : world_(ranks, machine), storage_(world_, machine.disks), table_(storage_) {}

Fleet::~Fleet() = default;

Cost Fleet::cost(bool ok) const {
  Cost cost;
  cost.ns = world_.now_ns();
  cost.ok = ok;
  int timed = 0;
  for (int rank = 0; rank < world_.size(); ++rank) {
    const Traffic& one = world_.traffic(rank);
    for (std::size_t tag = 0; tag < Traffic::kTags; ++tag) {
      add(cost.mean.sent[tag], one.sent[tag]);
      add(cost.mean.received[tag], one.received[tag]);
      keep_most(cost.most.sent[tag], one.sent[tag]);
      keep_most(cost.most.received[tag], one.received[tag]);
    }
    cost.most.longest_queue = std::max(cost.most.longest_queue, one.longest_queue);
    cost.cpu_busiest_ns = std::max(cost.cpu_busiest_ns, static_cast<double>(one.cpu_ns));
    if (world_.timed(rank)) cost.cpu_mean_ns += static_cast<double>(one.cpu_ns);
    timed += world_.timed(rank) ? 1 : 0;
    cost.steps += one.steps;
  }
  for (std::size_t tag = 0; tag < Traffic::kTags; ++tag) {
    divide(cost.mean.sent[tag], world_.size());
    divide(cost.mean.received[tag], world_.size());
  }
  cost.cpu_mean_ns /= timed;
  for (const Direction direction : {Direction::read, Direction::write}) {
    cost.requests += storage_.counts(direction).requests;
    cost.moved += storage_.counts(direction).bytes;
  }
  return cost;
}

template <typename T>
Cost Fleet::all(const std::function<Task<T>(File&, int rank)>& call, std::vector<T>& results) {
  world_.begin_anew();
  storage_.begin_anew();
  std::vector<Task<T>> tasks;
  tasks.reserve(files_.size());
  for (int rank = 0; rank < size(); ++rank) {
    const Acting acting(rank);
    tasks.push_back(call(*files_[static_cast<std::size_t>(rank)], rank));
  }
  return cost(world_.run(std::move(tasks), results));
}

Cost Fleet::open(const std::vector<HintText>& hints) {
  world_.begin_anew();
  storage_.begin_anew();
  std::vector<Task<Result<std::unique_ptr<File>>>> tasks;
  for (int rank = 0; rank < size(); ++rank) {
    const Acting acting(rank);
    OpenRequest request{.name = "counted", .amode = kReadWrite | kCreate, .hints = {}, .error = {}};
    if (rank == 0) request.hints = hints;
    tasks.push_back(File::open(world_.comm(rank), std::move(request), table_));
  }
  std::vector<Result<std::unique_ptr<File>>> results;
  bool ok = world_.run(std::move(tasks), results);
  files_.clear();
  for (auto& result : results) {
    ok = ok && result.ok();
    if (result.ok()) files_.push_back(std::move(*result));
  }
  return cost(ok);
}

Cost Fleet::set_view(const Parts& parts) {
  std::vector<Status> results;
  Cost cost = all<Status>(
      [&](File& file, int rank) { return file.set_view({parts(rank).view}, {}, {}); }, results);
  for (const Status& status : results) cost.ok = cost.ok && status.ok();
  return cost;
}

AccessRequest Fleet::request(Direction direction, const Part& part, std::int64_t done) {
  return {.direction = direction,
          .explicit_offset = true,
          .offset = done,
          .buffer = buffer_.data(),
          .memory = Layout::contiguous(part.bytes),
          .error = {}};
}

Cost Fleet::move(Direction direction, const Parts& parts, std::int64_t done, bool together) {
  std::int64_t most = 0;
  std::vector<std::int64_t> wanted;
  for (int rank = 0; rank < size(); ++rank) {
    wanted.push_back(parts(rank).bytes);
    most = std::max(most, wanted.back());
  }
  buffer_.resize(static_cast<std::size_t>(most));
  std::vector<Outcome> results;
  Cost cost = all<Outcome>(
      [&](File& file, int rank) {
        AccessRequest asked =
            request(direction, {{}, wanted[static_cast<std::size_t>(rank)]}, done);
        return together ? file.access_all(std::move(asked)) : move_alone(file, std::move(asked));
      },
      results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    cost.error.keep_first(results[i].status);
    cost.ok = cost.ok && results[i].bytes == wanted[i];
  }
  cost.ok = cost.ok && cost.error.ok();
  return cost;
}

Cost Fleet::close() {
  std::vector<Status> results;
  Cost cost = all<Status>([](File& file, int) { return file.close(); }, results);
  for (const Status& status : results) cost.ok = cost.ok && status.ok();
  files_.clear();
  return cost;
}

}  // namespace tamis::sim
