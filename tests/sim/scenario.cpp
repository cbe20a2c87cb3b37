#include "sim/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "unit/layout_oracle.hpp"

namespace tamis::sim {
namespace {

constexpr const char* kFile = "simulated";

/// Leads every name to one storage.
class OneStorage : public StorageTable {
 public:
  explicit OneStorage(Storage& storage) : storage_(storage) {}
  Result<Storage*> find(const std::string& name, std::string& path) override {
    path = name;
    return &storage_;
  }

 private:
  Storage& storage_;
};

template <typename T>
std::string hang(const std::vector<T>&, const char* where) {
  return fmt::format("ranks hang in {}", where);
}

/// Copies of a random type until about `bytes` bytes, none twice where `distinct`.
struct TwinMemory {
  Layout layout;
  Words map;
};
TwinMemory random_memory(std::mt19937_64& rng, std::int64_t bytes, bool distinct) {
  for (int tries = 0; tries < 20; ++tries) {
    const oracle::Twin type = oracle::random_type(rng, 3, 40, oracle::Kind::any);
    if (type.loop.size() == 0 || type.loop.extent() == 0) continue;
    if (distinct && type.loop.overlaps_itself()) continue;
    // Copies side by side or apart, so that they cannot overlap each other.
    const std::int64_t extent = type.loop.true_ub() - type.loop.true_lb() + oracle::draw(rng, 0, 9);
    const Result<Dataloop> apart = Dataloop::resized(type.loop.lb(), extent, type.loop);
    TwinMemory memory{{*apart, 0, std::max<std::int64_t>(1, bytes / type.loop.size())}, {}};
    std::int64_t lowest = 0;
    for (std::int64_t copy = 0; copy < memory.layout.repeat; ++copy)
      for (const std::int64_t byte : type.map.bytes) {
        memory.map.push_back(copy * extent + byte);
        lowest = std::min(lowest, memory.map.back());
      }
    // The buffer begins at its lowest byte.
    for (std::int64_t& byte : memory.map) byte -= lowest;
    memory.layout.displacement = -lowest;
    return memory;
  }
  TwinMemory flat{Layout::contiguous(bytes), {}};
  for (std::int64_t i = 0; i < bytes; ++i) flat.map.push_back(i);
  return flat;
}

}  // namespace

std::int64_t TwinView::offset_of(std::int64_t position) const {
  const auto size = static_cast<std::int64_t>(tile.size());
  return view.layout.displacement + position / size * extent +
         tile[static_cast<std::size_t>(position % size)];
}

Scenario::Scenario(std::uint64_t seed, const ScenarioOptions& options)
    : options_(options), rng_(seed), seed_(seed) {}

std::int64_t Scenario::draw(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
}
bool Scenario::chance(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(rng_) < probability;
}
template <typename T>
T Scenario::one_of(std::initializer_list<T> choices) {
  return *(choices.begin() + draw(0, static_cast<std::int64_t>(choices.size()) - 1));
}

int Scenario::faults_injected() const {
  std::size_t count = 0;
  for (const auto& injector : injectors_) count += injector->injected().size();
  return static_cast<int>(count);
}

std::vector<HintText> Scenario::random_hints() {
  const auto any_switch = [&] { return one_of<std::string>({"automatic", "enable", "disable"}); };
  std::vector<HintText> hints = {
      {"cb_buffer_size", std::to_string(one_of<int>({64, 300, 1024, 5000, 20000, 1 << 20}))},
      {"ind_rd_buffer_size", std::to_string(one_of<int>({16, 100, 1000, 65536}))},
      {"ind_wr_buffer_size", std::to_string(one_of<int>({16, 100, 1000, 65536}))},
      {"romio_cb_read", one_of<std::string>({"enable", any_switch()})},
      {"romio_cb_write", one_of<std::string>({"enable", any_switch()})},
      {"romio_ds_read", any_switch()},
      {"romio_ds_write", any_switch()}};
  if (chance(0.5)) hints.push_back({"cb_nodes", std::to_string(draw(1, world_->size()))});
  if (chance(0.3)) hints.push_back({"tamis_pretend_nodes", std::to_string(draw(2, 4))});
  if (chance(0.1)) hints.push_back({"tamis_shared_memory", "disable"});
  return hints;
}

FaultPlan Scenario::random_faults() {
  FaultPlan plan{.seed = static_cast<std::uint64_t>(draw(1, 1 << 30))};
  const Verb verb = chance(0.8) ? Verb::transfer : one_of<Verb>({Verb::lock, Verb::unlock});
  Fault fault{.verb = verb, .code = one_of<Errc>({Errc::io, Errc::no_space, Errc::quota})};
  fault.nth = chance(0.5) ? static_cast<std::uint64_t>(draw(1, 12)) : 0;
  fault.lasting = chance(0.5);
  fault.probability = fault.nth == 0 ? 0.15 : 0;
  fault.after_bytes = draw(0, 40);
  plan.faults.push_back(fault);
  return plan;
}

void Scenario::set_up() {
  const auto ranks = static_cast<std::size_t>(draw(1, options_.most_ranks));
  std::vector<std::int64_t> labels(ranks);
  const std::int64_t nodes = chance(0.5) ? 1 : draw(1, 4);
  for (std::int64_t& label : labels) label = draw(1, nodes);
  Weather weather;
  weather.shared_memory_refused = chance(0.05);
  if (chance(0.05))
    weather.attach_fails_on = static_cast<int>(draw(0, static_cast<int>(ranks) - 1));
  world_ = std::make_unique<World>(rng_(), labels, weather);
  hints_ = random_hints();

  const bool faulty = chance(options_.fault_chance);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool this_one = faulty && chance(0.5);
    injectors_.push_back(std::make_unique<FaultInjector>(this_one ? random_faults() : FaultPlan{}));
    faulty_.push_back(std::make_unique<FaultyStorage>(disk_, *injectors_.back()));
    tables_.push_back(std::make_unique<OneStorage>(*faulty_.back()));
  }
  faults_before_.resize(ranks);
  description_ =
      fmt::format("seed {}, {} ranks, {} nodes, faults {}, hints", seed_, ranks, nodes, faulty);
  for (const HintText& hint : hints_) description_ += fmt::format(" {}={}", hint.key, hint.value);

  model_.resize(static_cast<std::size_t>(draw(0, 4000)));
  for (std::byte& byte : model_) byte = static_cast<std::byte>(draw(0, 255));
  Result<std::unique_ptr<Driver>> disk =
      disk_.open(kFile, {.read = true, .write = true, .create = true});
  const Transfer all{{0, static_cast<std::int64_t>(model_.size())}, model_.data()};
  if (!model_.empty()) static_cast<void>((*disk)->transfer(Direction::write, {&all, 1}));
  static_cast<void>((*disk)->close());
}

std::vector<std::byte> Scenario::stored() {
  Result<std::unique_ptr<Driver>> disk = disk_.open(kFile, {.read = true});
  std::vector<std::byte> bytes(static_cast<std::size_t>(*(*disk)->size()));
  const Transfer all{{0, static_cast<std::int64_t>(bytes.size())}, bytes.data()};
  if (!bytes.empty()) static_cast<void>((*disk)->transfer(Direction::read, {&all, 1}));
  static_cast<void>((*disk)->close());
  return bytes;
}

std::string Scenario::run() {
  set_up();
  std::string wrong = open();
  for (int i = 0; i < options_.operations && wrong.empty(); ++i) {
    wrong = operate();
    ++operations_done_;
  }
  if (wrong.empty()) wrong = close();
  if (wrong.empty() && world_->segments_alive() > 0) wrong = "shared memory is left over";
  return wrong.empty()
             ? wrong
             : fmt::format("{}\n  operation {} of {}", wrong, operations_done_, description_);
}

std::string Scenario::open() {
  std::vector<Task<Result<std::unique_ptr<File>>>> tasks;
  for (int rank = 0; rank < world_->size(); ++rank) {
    OpenRequest request{.name = kFile, .amode = kReadWrite, .hints = hints_, .error = {}};
    tasks.push_back(File::open(world_->comm(rank, 0), std::move(request),
                               *tables_[static_cast<std::size_t>(rank)]));
  }
  std::vector<Result<std::unique_ptr<File>>> results;
  if (!world_->run(std::move(tasks), results)) return hang(results, "open");
  for (auto& result : results) {
    if (!result.ok()) return "open: " + result.status().to_string();
    files_.push_back(std::move(*result));
  }
  return {};
}

std::string Scenario::close() {
  std::vector<Task<Status>> tasks;
  for (auto& file : files_) tasks.push_back(file->close());
  std::vector<Status> results;
  if (!world_->run(std::move(tasks), results)) return hang(results, "close");
  files_.clear();
  return {};
}

/// Every byte of a random tile belongs to one rank or to none; ranks own it in pieces.
std::vector<TwinView> Scenario::disjoint_views() {
  const auto ranks = static_cast<std::size_t>(world_->size());
  std::vector<Words> lengths(ranks);
  std::vector<Words> starts(ranks);
  std::vector<TwinView> views(ranks);
  const double holes = one_of<double>({0, 0, 0.3, 0.9});
  const std::int64_t longest = one_of<std::int64_t>({1, 8, 8, 100});
  const bool regular = chance(0.5);
  std::int64_t end = 0;
  const std::int64_t pieces = draw(1, 12) * static_cast<std::int64_t>(ranks);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t length = regular ? longest : draw(1, longest);
    const auto owner =
        regular ? static_cast<std::size_t>(piece) % ranks
                : static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(ranks) - 1));
    if (!chance(holes)) {
      starts[owner].push_back(end);
      lengths[owner].push_back(length);
      for (std::int64_t i = 0; i < length; ++i) views[owner].tile.push_back(end + i);
    }
    end += length;
  }
  const std::int64_t displacement = draw(0, 300);
  const std::int64_t extent = end + (chance(0.3) ? draw(0, 50) : 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Result<Dataloop> list =
        Dataloop::indexed(lengths[rank], starts[rank], Dataloop::bytes(1));
    const Result<Dataloop> tile = Dataloop::resized(0, extent, *list);
    views[rank].extent = extent;
    views[rank].view.layout = {*tile, displacement, Layout::kEndless};
  }
  return views;
}

/// For reads: any views, also such that go back and forth.
std::vector<TwinView> Scenario::free_views() {
  std::vector<TwinView> views(static_cast<std::size_t>(world_->size()));
  for (TwinView& view : views) {
    const auto kind = chance(0.8) ? oracle::Kind::ordered : oracle::Kind::any;
    oracle::Twin type = oracle::random_type(rng_, 3, 60, kind);
    if (type.loop.size() == 0) type = {Dataloop::bytes(1), {{0}, {}, {}}};
    view.extent = type.loop.true_ub() - type.loop.true_lb() + draw(0, 20);
    view.view.layout = {*Dataloop::resized(0, view.extent, type.loop),
                        draw(0, 200) - std::min<std::int64_t>(0, type.loop.true_lb()),
                        Layout::kEndless};
    view.tile = type.map.bytes;
  }
  return views;
}

std::string Scenario::operate() {
  for (std::size_t rank = 0; rank < injectors_.size(); ++rank)
    faults_before_[rank] = injectors_[rank]->injected().size();
  const Direction direction = chance(0.6) ? Direction::write : Direction::read;
  if (views_.empty() || direction == Direction::write || chance(0.4)) {
    const bool disjoint = direction == Direction::write || chance(0.4);
    if (views_.empty() || chance(0.7) || direction == Direction::write) {
      const std::string wrong = set_views(disjoint);
      if (!wrong.empty()) return wrong;
    }
  }
  return move(direction, chance(0.7));
}

std::string Scenario::set_views(bool disjoint) {
  views_ = disjoint ? disjoint_views() : free_views();
  std::vector<Task<Status>> tasks;
  for (std::size_t rank = 0; rank < files_.size(); ++rank)
    tasks.push_back(files_[rank]->set_view(views_[rank].view, {}, {}));
  std::vector<Status> results;
  if (!world_->run(std::move(tasks), results)) return hang(results, "set_view");
  for (const Status& status : results)
    if (!status.ok()) return "set_view: " + status.to_string();
  return {};
}

TwinAccess Scenario::random_access(int rank, Direction direction, const TwinView& view) {
  TwinAccess access;
  AccessRequest& request = access.request;
  request.direction = direction;
  request.memory = Layout::contiguous(0);
  if (!view.tile.empty() && !chance(0.1)) {
    TwinMemory memory = random_memory(rng_, draw(1, 600), direction == Direction::read);
    request.memory = memory.layout;
    access.memory = std::move(memory.map);
  }
  access.first = draw(0, 100);
  request.explicit_offset = true;
  request.offset = access.first;
  std::int64_t room = 0;
  for (const std::int64_t byte : access.memory) room = std::max(room, byte + 1);
  access.buffer.resize(static_cast<std::size_t>(room));
  for (std::byte& byte : access.buffer) byte = static_cast<std::byte>(draw(0, 255));
  access.before = access.buffer;
  if (chance(options_.bad_call_chance) && rank == 0)
    request.error = failure(Errc::count, "simulated: a negative count");
  return access;
}

std::string Scenario::move(Direction direction, bool collective) {
  std::vector<TwinAccess> accesses;
  for (int rank = 0; rank < world_->size(); ++rank)
    accesses.push_back(random_access(rank, direction, views_[static_cast<std::size_t>(rank)]));
  std::vector<Outcome> outcomes;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank)
    accesses[rank].request.buffer = accesses[rank].buffer.data();
  if (collective) {
    std::vector<Task<Outcome>> tasks;
    for (std::size_t rank = 0; rank < files_.size(); ++rank)
      tasks.push_back(files_[rank]->access_all(accesses[rank].request));
    if (!world_->run(std::move(tasks), outcomes)) return hang(outcomes, "a collective access");
  } else {
    for (std::size_t rank = 0; rank < files_.size(); ++rank)
      outcomes.push_back(files_[rank]->access(accesses[rank].request));
  }
  std::string wrong = check_statuses(accesses, outcomes, collective);
  if (wrong.empty())
    wrong = direction == Direction::read ? check_reads(accesses, outcomes)
                                         : check_writes(accesses, outcomes);
  if (!wrong.empty())
    wrong += fmt::format(" ({} {})", collective ? "collective" : "independent",
                         direction == Direction::read ? "read" : "write");
  return wrong;
}

bool Scenario::faults_since(std::size_t rank) const {
  return injectors_[rank]->injected().size() > faults_before_[rank];
}

std::string Scenario::check_statuses(const std::vector<TwinAccess>& accesses,
                                     const std::vector<Outcome>& outcomes, bool collective) {
  bool any = false;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank)
    any = any || faults_since(rank) || !accesses[rank].request.error.ok();
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const bool own = faults_since(rank) || !accesses[rank].request.error.ok();
    const bool expected = collective ? any : own;
    if (expected && outcomes[rank].status.ok())
      return fmt::format("rank {} was told success though something failed", rank);
    if (!expected && !outcomes[rank].status.ok())
      return fmt::format("rank {}: {}", rank, outcomes[rank].status.to_string());
  }
  return {};
}

std::string Scenario::check_reads(const std::vector<TwinAccess>& accesses,
                                  const std::vector<Outcome>& outcomes) {
  const auto end = static_cast<std::int64_t>(model_.size());
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const TwinAccess& access = accesses[rank];
    std::vector<std::byte> expected = access.before;
    std::int64_t there = 0;
    const bool failed = !outcomes[rank].status.ok();
    const auto wanted = static_cast<std::int64_t>(access.memory.size());
    const std::int64_t limit = failed ? outcomes[rank].bytes : wanted;
    for (; there < limit; ++there) {
      const std::int64_t offset = views_[rank].offset_of(access.first + there);
      if (offset >= end) break;
      expected[static_cast<std::size_t>(access.memory[static_cast<std::size_t>(there)])] =
          model_[static_cast<std::size_t>(offset)];
    }
    if (outcomes[rank].bytes != there)
      return fmt::format("rank {} counts {} bytes read instead of {}", rank, outcomes[rank].bytes,
                         there);
    for (std::size_t i = 0; i < expected.size() && !failed; ++i)
      if (expected[i] != access.buffer[i])
        return fmt::format("rank {} has a wrong byte at {} of its buffer", rank, i);
    for (std::int64_t i = 0; i < there; ++i) {
      const auto at = static_cast<std::size_t>(access.memory[static_cast<std::size_t>(i)]);
      if (expected[at] != access.buffer[at])
        return fmt::format("rank {} counts byte {} as read, but it is wrong", rank, i);
    }
  }
  return {};
}

std::string Scenario::check_writes(const std::vector<TwinAccess>& accesses,
                                   const std::vector<Outcome>& outcomes) {
  std::vector<std::byte> complete = model_;
  std::vector<std::byte> counted = model_;  // with what ranks say is stored, and no more
  bool failed = false;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const TwinAccess& access = accesses[rank];
    const bool bad_call = !access.request.error.ok();
    failed = failed || (!outcomes[rank].status.ok() && !bad_call && faults_since(rank));
    const auto wanted = static_cast<std::int64_t>(bad_call ? 0 : access.memory.size());
    for (std::int64_t i = 0; i < wanted; ++i) {
      const auto offset = static_cast<std::size_t>(views_[rank].offset_of(access.first + i));
      if (offset >= complete.size()) complete.resize(offset + 1);
      const std::byte value =
          access.before[static_cast<std::size_t>(access.memory[static_cast<std::size_t>(i)])];
      complete[offset] = value;
      if (i >= outcomes[rank].bytes) continue;
      if (offset >= counted.size()) counted.resize(offset + 1);
      counted[offset] = value;
    }
    if (!failed && outcomes[rank].status.ok() && outcomes[rank].bytes != wanted)
      return fmt::format("rank {} counts {} bytes written instead of {}", rank,
                         outcomes[rank].bytes, wanted);
  }
  const std::vector<std::byte> actual = stored();
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) failed = failed || faults_since(rank);
  if (!failed && actual != complete) {
    std::size_t i = 0;
    while (i < std::min(actual.size(), complete.size()) && actual[i] == complete[i]) ++i;
    return fmt::format("the file is wrong from byte {} on ({} bytes, should be {})", i,
                       actual.size(), complete.size());
  }
  // After a fault: counted bytes are there, bytes nobody wrote are as before.
  const auto at = [](const std::vector<std::byte>& bytes, std::size_t i) {
    return i < bytes.size() ? bytes[i] : std::byte{0};
  };
  for (std::size_t i = 0; i < std::max(actual.size(), complete.size()); ++i) {
    if (at(counted, i) != at(model_, i) && at(actual, i) != at(counted, i))
      return fmt::format("byte {} is counted as written, but is not there", i);
    if (at(actual, i) != at(model_, i) && at(actual, i) != at(complete, i))
      return fmt::format("byte {} is neither old nor new", i);
  }
  model_ = actual;
  return {};
}

}  // namespace tamis::sim
