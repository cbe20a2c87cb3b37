#include <algorithm>
#include <thread>

#include "base/attempt.hpp"
#include "file/agreements.hpp"
#include "file/file.hpp"
#include "file/shared_hints.hpp"
#include "plan/realm_choice.hpp"

namespace tamis {
namespace {

/// Capabilities as all ranks see them: plans must be equal, so the weaker word counts.
struct SharedCapabilities {
  double read_ns = 0;
  double write_ns = 0;
  double byte_ns = 0;
  double lock_ns = 0;
  std::int64_t block_bytes = 1;
  std::int64_t stripe_bytes = 0;
  std::int32_t no_locks = 0;
  std::int32_t cannot_read_back = 0;
  std::int32_t cores = 1;
  std::int32_t record = 0;  // somebody wants to know

  void merge(const SharedCapabilities& other) {
    read_ns = std::max(read_ns, other.read_ns);
    write_ns = std::max(write_ns, other.write_ns);
    byte_ns = std::max(byte_ns, other.byte_ns);
    lock_ns = std::max(lock_ns, other.lock_ns);
    block_bytes = std::max(block_bytes, other.block_bytes);
    stripe_bytes = std::max(stripe_bytes, other.stripe_bytes);
    no_locks |= other.no_locks;
    cannot_read_back |= other.cannot_read_back;
    cores = std::max(cores, other.cores);
    record |= other.record;
  }
};

SharedCapabilities share(const Capabilities& own) {
  return {.read_ns = own.read_ns,
          .write_ns = own.write_ns,
          .byte_ns = own.byte_ns,
          .lock_ns = own.lock_ns,
          .block_bytes = own.block_bytes,
          .stripe_bytes = own.stripe_bytes,
          .no_locks = own.locks ? 0 : 1,
          .cannot_read_back = own.can_read_back ? 0 : 1,
          .cores = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()))};
}

Capabilities merge(Capabilities own, const SharedCapabilities& all) {
  own.read_ns = all.read_ns;
  own.write_ns = all.write_ns;
  own.byte_ns = all.byte_ns;
  own.lock_ns = all.lock_ns;
  own.block_bytes = all.block_bytes;
  own.stripe_bytes = all.stripe_bytes;
  own.locks = all.no_locks == 0;
  own.can_read_back = all.cannot_read_back == 0;
  return own;
}

OpenMode open_mode(unsigned amode, bool creates) {
  return {.read = (amode & (kReadOnly | kReadWrite)) != 0,
          .write = (amode & (kWriteOnly | kReadWrite)) != 0,
          .create = creates && (amode & kCreate) != 0,
          .exclusive = creates && (amode & kExclusive) != 0,
          .delete_on_close = (amode & kDeleteOnClose) != 0};
}

}  // namespace

File::File(std::unique_ptr<Comm> comm, OpenRequest request)
    : comm_(std::move(comm)),
      name_(std::move(request.name)),
      amode_(request.amode),
      keeper_(request.keeper) {}

File::~File() = default;

// A rank that lacks memory takes part all the same, until Team::form tells all of it.
Task<Result<std::unique_ptr<File>>> File::open(std::unique_ptr<Comm> comm, OpenRequest request,
                                               StorageTable& storages) {
  Comm& ranks = *comm;
  const Status error = request.error;
  const std::vector<HintText> texts = std::move(request.hints);
  std::unique_ptr<File> file;
  Status status = attempt([&] {
    file.reset(new File(std::move(comm), std::move(request)));
    return Status{};
  });
  Hints hints;
  status.keep_first(co_await share_hints(ranks, texts, hints));
  Result<std::unique_ptr<Team>> team = co_await Team::form(
      ranks, hints.tamis_pretend_nodes, hints.tamis_shared_memory != Switch::disable, status);
  if (!team.ok()) co_return team.status();
  file->team_ = std::move(*team);
  file->hints_ = std::move(hints);
  file->note_sources(texts);
  status = co_await file->finish_opening(error, storages);
  if (!status.ok()) co_return status;
  co_return std::move(file);
}

Task<Status> File::finish_opening(Status status, StorageTable& storages) {
  status = co_await agree_status(*team_, status, amode_);
  if (status.code == Errc::not_same)
    status.note = "ranks open the file with different access modes";
  if (status.ok()) status = co_await open_storage(storages);
  if (status.ok()) status = co_await claim_rewriting();
  GivenRealmsPtr no_realms;
  if (status.ok()) status = co_await start_engine(std::move(hints_), std::move(no_realms));
  if (status.ok() && (amode_ & kAppend) != 0) status = co_await go_to_end();
  co_return status;
}

// Rank 0 goes first, so that exclusive creation is decided by one process and the others find the
// file in place.
Task<Status> File::open_storage(StorageTable& storages) {
  Status status = co_await agree_status(*team_, find_storage(storages));
  for (const bool first : {true, false}) {
    if (!status.ok()) break;
    if ((team_->rank() == 0) == first) status = open_driver(first);
    status = co_await agree_status(*team_, status);
  }
  if (!status.ok() && driver_ != nullptr) static_cast<void>(driver_->close());
  co_return status;
}

Status File::find_storage(StorageTable& storages) {
  const Result<Storage*> found = attempt([&] { return storages.find(name_, path_); });
  if (found.ok()) storage_ = *found;
  return found.status();
}

Status File::open_driver(bool creates) {
  Result<std::unique_ptr<Driver>> opened =
      attempt([&] { return storage_->open(path_, open_mode(amode_, creates)); });
  if (!opened.ok()) return opened.status();
  driver_ = std::move(*opened);
  return {};
}

// One open of a file at a time may read, change and write back: it holds the token's lock until it
// is closed. All others lock their plain writes, so that the holder's sieves, which lock as well,
// cannot put old bytes back over them; and they do not sieve. The usual single open pays nothing.
Task<Status> File::claim_rewriting() {
  std::int64_t claimed = 0;
  std::int64_t refused = 0;
  const Capabilities& storage = driver_->capabilities();
  if (hints_.tamis_locks == Switch::disable) {
    claimed = 1;  // the user's word that nobody else writes
  } else if (team_->rank() == 0 && writable() && storage.locks) {
    const Result<bool> taken = driver_->try_lock(kRewriteToken, LockKind::exclusive);
    claimed = taken.ok() && *taken ? 1 : 0;
    refused = taken.ok() ? 0 : 1;  // some storages answer questions about locks and give none
  }
  Agreement all{.worst = {}, .least = {claimed, refused}, .greatest = {claimed, refused}};
  all = co_await team_->agree(all);
  may_rewrite_ = all.greatest[0] != 0;
  gives_locks_ = all.greatest[1] == 0;
  co_return all.worst;
}

// MPI_MODE_APPEND: pointers start at the end of the file.
Task<Status> File::go_to_end() {
  const Result<std::int64_t> end = driver_->size();
  if (end.ok()) position_ = *end;
  co_return co_await agree_status(*team_, end.status());
}

// Where one rank wants to know, all of them count. Decisions are told by rank 0 alone.
void File::start_recorder(RecordWishes wishes) {
  wishes.counters = true;
  wishes.decisions = wishes.decisions && team_->rank() == 0;
  recorder_ = std::make_unique<Recorder>(std::move(wishes));
}

/// Circumstances of an engine to be made.
Circumstances File::plan_for(const Hints& hints, const GivenRealmsPtr& realms, Capabilities storage,
                             int cores) const {
  const Topology& topology = team_->topology();
  const GivenRealmsPtr given = realms_in_force(realms, hints, team_->size());
  const std::size_t realm_count = given != nullptr ? given->layouts.size() : 0;
  storage.may_rewrite = may_rewrite_;
  storage.locks = storage.locks && gives_locks_;
  Circumstances plan{.hints = hints,
                     .storage = std::move(storage),
                     .aggregators = choose_aggregators(topology, hints, cores, realm_count),
                     .window_bytes = choose_window(hints, topology.node_count()),
                     .ranks = team_->size(),
                     .cores = cores,
                     .given = given};
  if (engine_ == nullptr) return plan;
  // What outlives a change of hints.
  plan.atomic = engine_->plan().atomic;
  plan.persistent_block = engine_->plan().persistent_block;
  if (given == nullptr && wished_realms(hints) == RealmKind::persistent && !persistent_.empty())
    plan.aggregators = persistent_;
  return plan;
}

// Also after a change of hints or realms: the plan is made anew, staging memory with it. Where a
// rank has no memory for that all keep what they had.
Task<Status> File::start_engine(Hints hints, GivenRealmsPtr realms) {
  if (engine_ != nullptr && engine_->keeps()) {
    const Status stored = co_await engine_->store_kept();
    if (!stored.ok()) co_return stored;
  }
  SharedCapabilities shared = share(driver_->capabilities());
  RecordWishes wishes;
  Status status = attempt([&] {
    if (keeper_ != nullptr) wishes = keeper_->wishes(name_);
    if (hints.tamis_counters == Switch::enable) wishes.counters = true;
    if (hints.tamis_counters == Switch::disable) wishes = {};
    return Status{};
  });
  shared.record = wishes.any() ? 1 : 0;
  shared = co_await team_->agree(shared);
  std::unique_ptr<Engine> engine;
  status.keep_first(attempt([&] {
    if (shared.record != 0 && recorder_ == nullptr) start_recorder(std::move(wishes));
    if (engine_ != nullptr && engine_->plan().persistent_block > 0 && persistent_.empty())
      persistent_ = engine_->plan().aggregators;
    hints.filesystem_type = driver_->capabilities().name;
    engine = std::make_unique<Engine>(
        *team_, *driver_,
        plan_for(hints, realms, merge(driver_->capabilities(), shared), shared.cores),
        recorder_.get());
    return Status{};
  }));
  status = co_await agree_status(*team_, status);
  if (!status.ok()) co_return status;
  hints_ = std::move(hints);
  realms_ = std::move(realms);
  engine_ = std::move(engine);
  if (recorder_ != nullptr) recorder_->forget_decisions();
  co_return Status{};
}

}  // namespace tamis
