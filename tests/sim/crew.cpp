#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

constexpr const char* kFile = "crewed";

}  // namespace

Crew::Crew(std::vector<std::int64_t> node_labels, Plans plans, MemoryOptions options)
    : world_(1, std::move(node_labels)),
      disk_(options),
      idle_rival_(disk_, kFile, 1),
      rivalled_(disk_, idle_rival_) {
  plans.resize(static_cast<std::size_t>(size()));
  for (FaultPlan& plan : plans) {
    injectors_.push_back(std::make_unique<FaultInjector>(std::move(plan)));
    faulty_.push_back(std::make_unique<FaultyStorage>(rivalled_, *injectors_.back()));
    tables_.push_back(std::make_unique<OneStorage>(*faulty_.back()));
  }
}

std::vector<Status> Crew::open(const std::function<OpenRequest(int)>& request) {
  std::vector<Task<Result<std::unique_ptr<File>>>> tasks;
  for (int rank = 0; rank < size(); ++rank)
    tasks.push_back(
        File::open(world_.comm(rank, 0), request(rank), *tables_[static_cast<std::size_t>(rank)]));
  std::vector<Result<std::unique_ptr<File>>> results;
  if (!world_.run(std::move(tasks), results)) throw std::runtime_error("ranks hang in open");
  std::vector<Status> statuses;
  files_.clear();
  for (auto& result : results) {
    statuses.push_back(result.status());
    if (result.ok()) files_.push_back(std::move(*result));
  }
  return statuses;
}

std::vector<Status> Crew::open(unsigned amode, const std::vector<HintText>& hints) {
  return open(
      [&](int) { return OpenRequest{.name = kFile, .amode = amode, .hints = hints, .error = {}}; });
}

std::vector<Status> Crew::close() {
  std::vector<Status> statuses = each([](File& file, int) { return file.close(); });
  files_.clear();
  return statuses;
}

bool Crew::exists() { return disk_.open(kFile, {.read = true}).ok(); }

std::vector<std::byte> Crew::stored() {
  const Result<std::unique_ptr<Driver>> disk = disk_.open(kFile, {.read = true});
  std::vector<std::byte> bytes(static_cast<std::size_t>(*(*disk)->size()));
  const Transfer all{{0, static_cast<std::int64_t>(bytes.size())}, bytes.data()};
  if (!bytes.empty()) static_cast<void>((*disk)->transfer(Direction::read, {&all, 1}));
  return bytes;
}

void Crew::store(const std::vector<std::byte>& bytes) {
  const Result<std::unique_ptr<Driver>> disk =
      disk_.open(kFile, {.read = true, .write = true, .create = true});
  std::vector<std::byte> copy = bytes;
  const Transfer all{{0, static_cast<std::int64_t>(copy.size())}, copy.data()};
  static_cast<void>((*disk)->resize(0));
  if (!copy.empty()) static_cast<void>((*disk)->transfer(Direction::write, {&all, 1}));
}

View strided_view(std::int64_t part, std::int64_t parts, std::int64_t block) {
  return {{*Dataloop::resized(0, parts * block, Dataloop::bytes(block)), part * block,
           Layout::kEndless}};
}

AccessRequest request_at(Direction direction, std::int64_t offset, std::vector<std::byte>& bytes) {
  return {.direction = direction,
          .explicit_offset = true,
          .offset = offset,
          .buffer = bytes.data(),
          .memory = Layout::contiguous(static_cast<std::int64_t>(bytes.size())),
          .error = {}};
}

std::vector<std::byte> filled(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

}  // namespace tamis::sim
