#include "mpi/comm_state.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "mpi/error_class.hpp"
#include "mpi/host.hpp"
#include "mpi/node_label.hpp"

namespace tamis {
namespace {

constexpr int kMostChannels = 1 << 16;
constexpr int kChannelsAtOnce = 64;

/// Where a rank runs.
struct Place {
  std::int64_t node = 0;
  HostMark host;
  std::uint64_t cores = 0;  ///< it may run on, 64 and more folded into one word
};

HostMark own_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  if (host().Get_processor_name(name.data(), &length) != MPI_SUCCESS) return {};
  return HostMark::of({name.data(), static_cast<std::size_t>(length)});
}

/// A launcher may have bound the ranks, each to a core of its own.
std::uint64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  std::uint64_t cores = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores |= std::uint64_t{1} << (core % 64);
  return cores;
}

using Keeper = std::shared_ptr<CommState>;  // what the attribute's pointer points to

/// The communicators that keep a state, in the order of their first files, so that all ranks take
/// leave of them in one order at MPI_Finalize.
struct Registry {
  std::mutex mutex;
  bool ready = false;
  int keyval = MPI_KEYVAL_INVALID;           // of the attribute on users' communicators
  int finalize_keyval = MPI_KEYVAL_INVALID;  // of the attribute on MPI_COMM_SELF
  std::vector<MPI_Comm> users;
  std::vector<void (*)()> last_acts;
};
constinit Registry registry;

int forget(MPI_Comm user, int, void* keeper, void*) {
  {
    const std::lock_guard lock(registry.mutex);
    std::erase(registry.users, user);
  }
  delete static_cast<Keeper*>(keeper);
  return MPI_SUCCESS;
}

/// Runs first in MPI_Finalize, as the attributes of MPI_COMM_SELF are deleted: there calls of MPI
/// are still allowed. MPI_COMM_SELF's own state goes by the same deletion.
int leave_all(MPI_Comm, int, void*, void*) {
  std::vector<MPI_Comm> users;
  std::vector<void (*)()> acts;
  {
    const std::lock_guard lock(registry.mutex);
    users = registry.users;
    acts.swap(registry.last_acts);
  }
  for (auto act = acts.rbegin(); act != acts.rend(); ++act) (*act)();
  for (MPI_Comm user : users) {
    if (user != MPI_COMM_SELF) host().Comm_delete_attr(user, registry.keyval);
  }
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

Status prepare_registry() {
  const std::lock_guard lock(registry.mutex);
  if (registry.ready) return {};
  const Host& mpi = host();
  int rc = mpi.Comm_create_keyval(copy_nothing, forget, &registry.keyval, nullptr);
  if (rc == MPI_SUCCESS) {
    rc = mpi.Comm_create_keyval(copy_nothing, leave_all, &registry.finalize_keyval, nullptr);
  }
  if (rc == MPI_SUCCESS) {
    rc = mpi.Comm_set_attr(MPI_COMM_SELF, registry.finalize_keyval, nullptr);
  }
  registry.ready = rc == MPI_SUCCESS;
  return host_status(rc, "the host MPI gives no communicator attributes");
}

Status keep(MPI_Comm user, const Keeper& state) {
  auto keeper = std::make_unique<Keeper>(state);
  const int rc = host().Comm_set_attr(user, registry.keyval, keeper.get());
  if (rc != MPI_SUCCESS) return host_status(rc, "the communicator takes no attribute");
  static_cast<void>(keeper.release());
  const std::lock_guard lock(registry.mutex);
  registry.users.push_back(user);
  return {};
}

}  // namespace

void at_finalize(void (*act)()) {
  const std::lock_guard lock(registry.mutex);
  registry.last_acts.push_back(act);
}

Result<std::shared_ptr<CommState>> CommState::of(MPI_Comm user) {
  if (user == MPI_COMM_NULL) return failure(Errc::comm, "the communicator is null");
  int between_groups = 0;
  if (host().Comm_test_inter(user, &between_groups) != MPI_SUCCESS) {
    return failure(Errc::comm, "not a communicator");
  }
  if (between_groups != 0) return failure(Errc::comm, "an intercommunicator cannot open a file");
  if (Status status = prepare_registry(); !status.ok()) return status;

  Keeper* kept = nullptr;
  int found = 0;
  host().Comm_get_attr(user, registry.keyval, &kept, &found);
  if (found != 0) return *kept;

  Keeper state(new CommState);
  Status status = state->duplicate(user);
  if (status.ok()) status = state->find_nodes();
  if (status.ok()) status = state->count_channels();
  if (status.ok()) status = keep(user, state);
  if (!status.ok()) return status;
  return state;
}

CommState::~CommState() {
  int over = 0;
  host().Finalized(&over);
  if (over == 0 && duplicate_ != MPI_COMM_NULL) host().Comm_free(&duplicate_);
}

Status CommState::duplicate(MPI_Comm user) {
  const Host& mpi = host();
  int rc = mpi.Comm_dup(user, &duplicate_);
  if (rc != MPI_SUCCESS) return host_status(rc, "the communicator cannot be duplicated");
  // The duplicate has inherited the user's error handler, which usually ends the program.
  rc = mpi.Comm_set_errhandler(duplicate_, MPI_ERRORS_RETURN);
  if (rc == MPI_SUCCESS) rc = mpi.Comm_rank(duplicate_, &rank_);
  if (rc == MPI_SUCCESS) rc = mpi.Comm_size(duplicate_, &size_);
  return host_status(rc, "the duplicated communicator cannot be used");
}

Status CommState::find_nodes() {
  // A rank whose system does not tell is a node by itself: negative labels are nobody else's.
  const Place mine{node_label().value_or(-1 - rank_), own_host(), usable_cores()};
  std::vector<Place> places(static_cast<std::size_t>(size_));
  const int rc = host().Allgather(&mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine,
                                  MPI_BYTE, duplicate_);
  if (rc != MPI_SUCCESS) return host_status(rc, "the ranks cannot exchange their nodes");
  std::vector<std::int64_t> labels;
  for (const Place& place : places) labels.push_back(place.node);
  topology_ = Topology::from_labels(labels);
  for (const auto& ranks : topology_.nodes)
    topology_.hosts.push_back(places[static_cast<std::size_t>(ranks.front())].host);
  std::uint64_t cores = 0;
  for (const int rank : topology_.ranks_beside(rank_))
    cores |= places[static_cast<std::size_t>(rank)].cores;
  cores_beside_ = std::popcount(cores);
  return {};
}

Status CommState::count_channels() {
  constexpr int kLeastUpperBound = 32767;  // the standard promises this much
  int* upper_bound = nullptr;
  int known = 0;
  const int rc = host().Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper_bound, &known);
  if (rc != MPI_SUCCESS) return host_status(rc, "the host MPI does not tell its greatest tag");
  const int greatest = known != 0 ? *upper_bound : kLeastUpperBound;
  channel_count_ = std::min(kMostChannels, greatest / kTagsPerChannel);
  return {};
}

// The first files get numbers that nobody has had, so there is nothing to agree on. Later a number
// may belong to a file that is closed on this rank and not yet on another.
Result<int> CommState::take_channel() {
  const Result<int> channel = all_fresh_ ? Result<int>(next_) : agree_on_channel();
  if (!channel.ok()) return channel;
  next_ = step(*channel, 1);
  if (next_ == 0) all_fresh_ = false;
  const std::lock_guard held(open_mutex_);
  open_.insert(*channel);
  return channel;
}

/// Bit i: channel `first` + i is in use on this rank.
std::uint64_t CommState::busy_from(int first) {
  const std::lock_guard held(open_mutex_);
  std::uint64_t busy = 0;
  for (int i = 0; i < kChannelsAtOnce; ++i) {
    if (open_.contains(step(first, i))) busy |= std::uint64_t{1} << i;
  }
  return busy;
}

/// The next channel that is free on all ranks.
Result<int> CommState::agree_on_channel() {
  for (int seen = 0; seen < channel_count_; seen += kChannelsAtOnce) {
    std::uint64_t busy = busy_from(next_);
    const int rc = host().Allreduce(MPI_IN_PLACE, &busy, 1, MPI_UINT64_T, MPI_BOR, duplicate_);
    if (rc != MPI_SUCCESS) return host_status(rc, "the ranks cannot agree on a file's messages");
    const int free = std::countr_one(busy);
    next_ = step(next_, free);
    if (free < kChannelsAtOnce) return next_;
  }
  return failure(Errc::no_memory, "too many files are open on one communicator");
}

void CommState::return_channel(int channel) {
  const std::lock_guard held(open_mutex_);
  open_.erase(channel);
}

}  // namespace tamis
