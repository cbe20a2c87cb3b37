#include "abi/error_handlers.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "mpi/host.hpp"

namespace tamis::abi {
namespace {

// The host never calls it: errors of files are raised here.
void unused(MPI_File*, int*, ...) {}

std::optional<Reaction::Kind> predefined_kind(MPI_Errhandler handle) {
  if (handle == MPI_ERRORS_RETURN) return Reaction::Kind::give_back;
  if (handle == MPI_ERRORS_ARE_FATAL) return Reaction::Kind::abort_all;
#if defined(MPI_ERRORS_ABORT)
  if (handle == MPI_ERRORS_ABORT) return Reaction::Kind::abort_group;
#endif
  return std::nullopt;
}

}  // namespace

int ErrorHandlers::create(const Reaction& reaction, void (*free_state)(void*),
                          MPI_Errhandler* handle) {
  const int code = host().File_create_errhandler(&unused, handle);
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(mutex_);
  entries_.push_back(
      {.handle = *handle, .reaction = reaction, .free_state = free_state, .users = 1});
  return MPI_SUCCESS;
}

int ErrorHandlers::free(MPI_Errhandler* handle) {
  const std::lock_guard lock(mutex_);
  Entry* entry = handle == nullptr ? nullptr : find(*handle);
  if (entry == nullptr || entry->users == 0) return host().Errhandler_free(handle);
  --entry->users;
  *handle = MPI_ERRHANDLER_NULL;
  return drop_unused(*entry);
}

void ErrorHandlers::inherit(Holding& holding) {
  const std::lock_guard lock(mutex_);
  move(holding, null_.entry);
}

bool ErrorHandlers::set(Holding& holding, MPI_Errhandler handle) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find_or_add_predefined(handle);
  if (entry == nullptr) return false;
  move(holding, entry);
  return true;
}

void ErrorHandlers::release(Holding& holding) {
  const std::lock_guard lock(mutex_);
  move(holding, nullptr);
}

MPI_Errhandler ErrorHandlers::hand_out(const Holding& holding) {
  const std::lock_guard lock(mutex_);
  Entry* entry =
      holding.entry != nullptr ? holding.entry : find_or_add_predefined(MPI_ERRORS_RETURN);
  ++entry->users;
  return entry->handle;
}

Reaction ErrorHandlers::reaction(const Holding& holding) {
  const std::lock_guard lock(mutex_);
  return holding.entry != nullptr ? holding.entry->reaction : Reaction{};
}

ErrorHandlers::Entry* ErrorHandlers::find(MPI_Errhandler handle) {
  const auto found = std::ranges::find(entries_, handle, &Entry::handle);
  return found == entries_.end() ? nullptr : &*found;
}

ErrorHandlers::Entry* ErrorHandlers::find_or_add_predefined(MPI_Errhandler handle) {
  if (Entry* entry = find(handle)) return entry;
  const std::optional<Reaction::Kind> kind = predefined_kind(handle);
  if (!kind) return nullptr;
  return &entries_.emplace_back(
      Entry{.handle = handle, .reaction = {.kind = *kind}, .predefined = true});
}

void ErrorHandlers::move(Holding& holding, Entry* entry) {
  if (entry != nullptr) ++entry->files;
  Entry* former = std::exchange(holding.entry, entry);
  if (former == nullptr) return;
  --former->files;
  drop_unused(*former);
}

int ErrorHandlers::drop_unused(Entry& entry) {
  if (entry.predefined || entry.users > 0 || entry.files > 0) return MPI_SUCCESS;
  if (entry.free_state != nullptr) entry.free_state(entry.reaction.state);
  MPI_Errhandler handle = entry.handle;
  entries_.remove_if([&](const Entry& other) { return &other == &entry; });
  return host().Errhandler_free(&handle);
}

}  // namespace tamis::abi
