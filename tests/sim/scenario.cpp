#include "sim/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/one_storage.hpp"

namespace tamis::sim {
namespace {

constexpr const char* kFile = "simulated";

}  // namespace

Scenario::Scenario(std::uint64_t seed, const ScenarioOptions& options)
    : options_(options),
      rng_(seed),
      seed_(seed),
      disk_({.capacity = options.capacity, .lock_wait = LockWait::refuse}),
      rival_(disk_, kFile, seed),
      rivalled_(disk_, rival_) {}

std::int64_t Scenario::draw(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
}
bool Scenario::chance(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(rng_) < probability;
}

int Scenario::faults_injected() const {
  std::size_t count = 0;
  for (const auto& injector : injectors_) count += injector->injected().size();
  return static_cast<int>(count);
}

void Scenario::set_up() {
  const auto ranks = static_cast<std::size_t>(draw(options_.least_ranks, options_.most_ranks));
  std::vector<std::int64_t> labels(ranks);
  const std::int64_t nodes = chance(0.5) ? 1 : draw(1, 4);
  for (std::int64_t& label : labels) label = draw(1, nodes);
  Weather weather;
  weather.shared_memory_refused = chance(0.05);
  if (chance(0.05))
    weather.attach_fails_on = static_cast<int>(draw(0, static_cast<int>(ranks) - 1));
  world_ = std::make_unique<World>(rng_(), labels, weather);
  has_rival_ = chance(0.7);

  const bool faulty = chance(options_.fault_chance);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool this_one = faulty && chance(0.5);
    FaultPlan plan = this_one ? random_faults() : FaultPlan{};
    if (options_.short_reads > 0)
      plan = {.seed = seed_ + rank,
              .faults = {{.direction = Direction::read,
                          .probability = options_.short_reads,
                          .code = Errc::ok,
                          .after_bytes = draw(0, 60)}}};
    plan.late = Lateness{.seed = seed_ + rank};
    injectors_.push_back(std::make_unique<FaultInjector>(plan));
    faulty_.push_back(std::make_unique<FaultyStorage>(rivalled_, *injectors_.back()));
    tables_.push_back(std::make_unique<OneStorage>(*faulty_.back()));
  }
  faults_before_.resize(ranks);
  description_ = fmt::format("seed {}, {} ranks, {} nodes, faults {}, rival {}", seed_, ranks,
                             nodes, faulty, has_rival_);
  fill_disk();
}

void Scenario::fill_disk() {
  model_.resize(static_cast<std::size_t>(draw(0, std::min<std::int64_t>(4000, options_.capacity))));
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
  if (wrong.empty() && rivalled_.open_drivers() > 0) wrong = "a driver is left open";
  return wrong.empty()
             ? wrong
             : fmt::format("{}\n  operation {} of {}", wrong, operations_done_, description_);
}

std::string Scenario::open() {
  std::vector<Task<Result<std::unique_ptr<File>>>> tasks;
  for (int rank = 0; rank < world_->size(); ++rank) {
    OpenRequest request{
        .name = kFile, .amode = kReadWrite, .hints = random_open_hints(), .error = {}};
    if (rank == 0)
      for (const HintText& hint : request.hints)
        description_ += fmt::format(" {}={}", hint.key, hint.value);
    tasks.push_back(File::open(world_->comm(rank, 0), std::move(request),
                               *tables_[static_cast<std::size_t>(rank)]));
  }
  std::vector<Result<std::unique_ptr<File>>> results;
  if (!world_->run(std::move(tasks), results)) return "ranks hang in open";
  for (auto& result : results) {
    if (!result.ok()) return "open: " + result.status().to_string();
    files_.push_back(std::move(*result));
    if (files_.back()->hints() != files_.front()->hints()) return "hints differ between ranks";
  }
  return {};
}

/// Every rank makes one collective call that gives a Status: `call(rank, mistake)`. Where ranks
/// `disagree` all have to hear of it.
template <typename Call>
std::string Scenario::together(const char* what, const std::vector<Status>& mistakes, Call call,
                               bool disagree) {
  for (std::size_t rank = 0; rank < injectors_.size(); ++rank)
    faults_before_[rank] = injectors_[rank]->injected().size();
  std::vector<Task<Status>> tasks;
  for (std::size_t rank = 0; rank < files_.size(); ++rank)
    tasks.push_back(call(rank, mistakes[rank]));
  std::vector<Status> results;
  if (!world_->run(std::move(tasks), results)) return fmt::format("ranks hang in {}", what);
  return check_collective(what, results, mistakes, disagree);
}

std::string Scenario::close() {
  const std::vector<Status> mistakes(files_.size());
  const std::string wrong = together(
      "close", mistakes, [&](std::size_t rank, const Status&) { return files_[rank]->close(); });
  count_windows();
  files_.clear();
  return wrong;
}

void Scenario::count_windows() {
  for (const auto& file : files_) {
    if (file->recorder() == nullptr) continue;
    for (const auto& [way, tally] : file->recorder()->ways())
      if (way.route == Route::two_phase) in_windows_.add(tally);
  }
}

std::string Scenario::operate() {
  const bool reads_only = options_.short_reads > 0;
  if (!reads_only && chance(0.1)) return manage();
  if (chance(0.08)) return set_atomicity();
  if (chance(0.08)) return set_realms();
  const Direction direction = !reads_only && chance(0.6) ? Direction::write : Direction::read;
  if (views_.empty() || direction == Direction::write || chance(0.3)) {
    const std::string wrong = set_views(direction == Direction::write || chance(0.4));
    if (!wrong.empty()) return wrong;
  }
  return move(direction, chance(0.7));
}

std::string Scenario::set_views(bool disjoint) {
  std::vector<TwinView> views = disjoint ? disjoint_views() : free_views();
  const std::vector<Status> mistakes = random_mistakes();
  const bool new_hints = chance(0.2);
  const std::string wrong =
      together("set_view", mistakes, [&](std::size_t rank, const Status& mistake) {
        return files_[rank]->set_view(
            views[rank].view, new_hints ? random_hints() : std::vector<HintText>{}, mistake);
      });
  if (!wrong.empty()) return wrong;
  for (const auto& file : files_)
    if (file->hints() != files_.front()->hints()) return "set_view: hints differ between ranks";
  const bool refused =
      std::any_of(mistakes.begin(), mistakes.end(), [](const Status& s) { return !s.ok(); });
  if (!refused) {
    views_ = std::move(views);
    return {};
  }
  // The old view is still in force; without one there is nothing to move through.
  return views_.empty() || disjoint ? set_views(disjoint) : std::string();
}

std::string Scenario::set_atomicity() {
  const bool atomic = !atomic_;
  const std::vector<Status> mistakes = random_mistakes();
  const std::string wrong =
      together("set_atomicity", mistakes, [&](std::size_t rank, const Status& mistake) {
        return files_[rank]->set_atomicity(atomic, mistake);
      });
  if (!wrong.empty()) return wrong;
  const bool refused =
      std::any_of(mistakes.begin(), mistakes.end(), [](const Status& s) { return !s.ok(); });
  if (!refused) atomic_ = atomic;
  for (const auto& file : files_)
    if (file->atomic() != atomic_) return "atomicity is not what was set";
  return {};
}

/// Whoever has which part of the file, its bytes must be the same.
std::string Scenario::set_realms() {
  const std::vector<Layout> realms = random_realms();
  const bool disagree = chance(options_.bad_call_chance) && files_.size() > 1 && realms.size() > 1;
  const auto different = static_cast<std::size_t>(draw(0, world_->size() - 1));
  const auto call = [&](std::size_t rank, const Status& mistake) {
    std::vector<Layout> said = realms;
    if (disagree && rank == different) ++said.back().displacement;
    return files_[rank]->set_realms(std::move(said), mistake);
  };
  return together("set_realms", random_mistakes(), call, disagree);
}

/// A call about the whole file.
std::string Scenario::manage() {
  enum Kind : std::int64_t { resize, preallocate, sync };
  const std::int64_t kind = draw(resize, sync);
  const std::int64_t bytes = draw(0, std::min<std::int64_t>(5000, options_.capacity));
  const auto old = static_cast<std::int64_t>(model_.size());
  const bool disagree = chance(options_.bad_call_chance) && kind != sync && files_.size() > 1;
  const auto different = static_cast<std::size_t>(draw(0, world_->size() - 1));
  const std::vector<Status> mistakes = random_mistakes();
  const auto call = [&](std::size_t rank, const Status& mistake) {
    File& file = *files_[rank];
    const std::int64_t said = disagree && rank == different ? bytes + 1 : bytes;
    if (kind == sync) return file.sync(mistake);
    return kind == resize ? file.set_size(said, mistake) : file.preallocate(said, mistake);
  };
  const std::string wrong = together("a call about the file", mistakes, call, disagree);
  if (!wrong.empty()) return wrong;

  bool failed = disagree;
  for (std::size_t rank = 0; rank < files_.size(); ++rank)
    failed = failed || faults_since(rank) || !mistakes[rank].ok();
  if (!failed && kind == resize) model_.resize(static_cast<std::size_t>(bytes));
  if (!failed && kind == preallocate) model_.resize(static_cast<std::size_t>(std::max(bytes, old)));
  return stored() == model_ ? std::string() : "the file's bytes or its size are wrong";
}

std::string Scenario::move(Direction direction, bool collective) {
  for (std::size_t rank = 0; rank < injectors_.size(); ++rank)
    faults_before_[rank] = injectors_[rank]->injected().size();
  Accesses accesses;
  std::vector<bool> taken(20000);
  for (int rank = 0; rank < world_->size(); ++rank) {
    accesses.push_back(random_access(rank, direction));
    for (std::int64_t i = 0; i < accesses.back().wanted(); ++i) {
      const auto at = views_[static_cast<std::size_t>(rank)].offset_of(accesses.back().first + i);
      if (at < static_cast<std::int64_t>(taken.size())) taken[static_cast<std::size_t>(at)] = true;
    }
  }
  for (TwinAccess& access : accesses) access.request.buffer = access.buffer.data();
  if (has_rival_ && direction == Direction::write) rival_.begin(std::move(taken));

  Outcomes outcomes;
  if (collective) {
    std::vector<Task<Outcome>> tasks;
    for (std::size_t rank = 0; rank < files_.size(); ++rank)
      tasks.push_back(files_[rank]->access_all(accesses[rank].request));
    if (!world_->run(std::move(tasks), outcomes)) return "ranks hang in a collective access";
  } else {
    for (std::size_t rank = 0; rank < files_.size(); ++rank)
      outcomes.push_back(files_[rank]->access(accesses[rank].request));
  }
  take_over_rival();
  std::string wrong = check_statuses(accesses, outcomes, collective);
  if (wrong.empty()) wrong = check_pointers(accesses);
  if (wrong.empty())
    wrong = direction == Direction::read ? check_reads(accesses, outcomes)
                                         : check_writes(accesses, outcomes);
  if (!wrong.empty())
    wrong += fmt::format(" ({} {})", collective ? "collective" : "independent",
                         direction == Direction::read ? "read" : "write");
  return wrong;
}

}  // namespace tamis::sim
