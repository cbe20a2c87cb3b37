#include "mpi/host.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tamis {
namespace {

#if defined(OPEN_MPI)
constexpr std::array<std::string_view, 1> kLibraries = {"libmpi.so."};
constexpr bool kOpenMpi = true;
#else
constexpr std::array<std::string_view, 2> kLibraries = {"libmpi.so.", "libmpich.so."};
constexpr bool kOpenMpi = false;
#endif
constexpr const char* kOpenMpiMark = "ompi_mpi_comm_world";

constexpr const char* kNoMpi = "this process has loaded no MPI library";
constexpr const char* kOtherMpi = "this build of Tamis does not serve the MPI that is loaded";
constexpr const char* kOldMpi = "the MPI that is loaded lacks a function that Tamis needs";

struct Entry {
  const char* name;
  std::size_t place;  ///< offset of the pointer in Host
  bool required;
};

constexpr Entry kEntries[] = {
#define TAMIS_HOST_FUNCTION(name) {"PMPI_" #name, offsetof(Host, name), true},
#define TAMIS_HOST_OPTIONAL(name, ...) {"PMPI_" #name, offsetof(Host, name), false},
#include "mpi/host_functions.inc"
#undef TAMIS_HOST_FUNCTION
#undef TAMIS_HOST_OPTIONAL
};

constinit std::mutex search;  // guards the filling of `table`
constinit Host table;
constinit std::atomic<const Host*> found{nullptr};
constinit std::atomic<const char*> problem{kNoMpi};

int note_library(dl_phdr_info* object, std::size_t, void* paths) {
  const std::string_view path = object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view stem : kLibraries) {
    if (file.starts_with(stem)) static_cast<std::vector<std::string>*>(paths)->emplace_back(path);
  }
  return 0;
}

/// Makes a library that is already loaded visible to the whole process; nullptr where it is no MPI.
/// The handle is never closed: the library must outlive this one.
void* promote(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr || dlsym(library, "PMPI_Init") != nullptr) return library;
  dlclose(library);
  return nullptr;
}

bool fill(void* library) {
  for (const Entry& entry : kEntries) {
    void* function = dlsym(library, entry.name);
    if (function == nullptr && entry.required) return false;
    *reinterpret_cast<void**>(reinterpret_cast<std::byte*>(&table) + entry.place) = function;
  }
  return true;
}

/// nullptr once `table` is filled, otherwise the reason why it is not.
const char* look_for_host() {
  std::vector<std::string> paths;
  dl_iterate_phdr(note_library, &paths);
  const char* reason = kNoMpi;
  for (const std::string& path : paths) {
    void* library = promote(path);
    if (library == nullptr) continue;
    const bool is_open_mpi = dlsym(library, kOpenMpiMark) != nullptr;
    if (is_open_mpi != kOpenMpi) {
      reason = kOtherMpi;
    } else if (fill(library)) {
      return nullptr;
    } else {
      reason = kOldMpi;
    }
  }
  return reason;
}

}  // namespace

const Host* find_host() {
  const Host* ready = found.load(std::memory_order_acquire);
  if (ready != nullptr) [[likely]]
    return ready;
  const std::lock_guard lock(search);
  if (found.load(std::memory_order_relaxed) == nullptr) {
    const char* reason = look_for_host();
    problem.store(reason, std::memory_order_relaxed);
    if (reason != nullptr) return nullptr;
    found.store(&table, std::memory_order_release);
  }
  return &table;
}

const char* host_problem() {
  const char* reason = problem.load(std::memory_order_relaxed);
  return reason != nullptr ? reason : "";
}

const Host& host() { return *found.load(std::memory_order_relaxed); }

void* find_symbol(const char* name) {
  return find_host() != nullptr ? dlsym(RTLD_DEFAULT, name) : nullptr;
}

}  // namespace tamis
