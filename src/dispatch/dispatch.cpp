#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

// libtamis.so: one file that may be preloaded into anything. It has every name of the libraries
// libtamis-<mpi>.so, which lie beside it; at the first call it looks which MPI the process has
// loaded and hands everything to the library for that MPI. It includes no mpi.h: it is built once.
//
// A stub passes on six words as they come. Every function behind a stub takes at most six integers
// or pointers, which the ABIs of 64-bit machines pass in registers, one each; so a stub needs to
// know nothing of its function's type.

namespace {

using Word = std::intptr_t;
static_assert(sizeof(Word) == 8, "arguments must be one register each");
using Function = Word (*)(Word, Word, Word, Word, Word, Word);

/// What a stub answers where no implementation can be had.
enum class Answer : std::uint8_t { error, nothing, fortran, host };

struct Export {
  const char* name;
  Answer without;
};

constexpr Export kExports[] = {
#define TAMIS_STUB(name, answer) {#name, Answer::answer},
#include "stubs.inc"
#undef TAMIS_STUB
};
constexpr std::size_t kCount = std::size(kExports);

enum Index : std::size_t {
#define TAMIS_STUB(name, answer) kIndex_##name,
#include "stubs.inc"
#undef TAMIS_STUB
};

/// The MPI of this process.
struct Host {
  void* library = nullptr;
  const char* kind = nullptr;  ///< "mpich", "openmpi"; nullptr: none that is served
};

constinit std::array<std::atomic<Function>, kCount> functions{};
constinit std::mutex search;  // guards what follows
constinit void* implementation = nullptr;
constinit bool complained = false;

int look_at(dl_phdr_info* object, std::size_t, void* result) {
  const std::string_view path = object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with("libmpi.so.") && !file.starts_with("libmpich.so.") &&
      !file.starts_with("libmpi_abi.so.")) {
    return 0;
  }
  void* library = dlopen(object->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return 0;
  if (dlsym(library, "PMPI_Init") == nullptr) {
    dlclose(library);
    return 0;
  }
  const bool is_open_mpi = dlsym(library, "ompi_mpi_comm_world") != nullptr;
  const bool is_standard_abi = file.starts_with("libmpi_abi");
  *static_cast<Host*>(result) = {library, is_open_mpi       ? "openmpi"
                                          : is_standard_abi ? nullptr
                                                            : "mpich"};
  return 1;
}

Host find_host() {
  Host host;
  dl_iterate_phdr(look_at, &host);
  return host;
}

/// "<directory of this library>/libtamis-<kind>.so"
std::string path_beside(const char* kind) {
  Dl_info self{};
  if (dladdr(static_cast<const void*>(kExports), &self) == 0) return {};
  const std::string_view path = self.dli_fname;
  return std::string(path.substr(0, path.rfind('/') + 1)) + "libtamis-" + kind + ".so";
}

void complain(const char* reason) {
  if (!complained) std::fprintf(stderr, "libtamis.so: %s; MPI-IO calls fail\n", reason);
  complained = true;
}

void load_implementation(const Host& host) {
  if (implementation != nullptr) return;
  if (host.library == nullptr) return complain("this process has loaded no MPI library");
  if (host.kind == nullptr) return complain("the MPI standard ABI library is not served");
  implementation = dlopen(path_beside(host.kind).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (implementation == nullptr) complain(dlerror());
}

Word answer_error(Word, Word, Word, Word, Word, Word) {
  constexpr Word kErrorOther = 15;  // MPI_ERR_OTHER is 15 or 16; any code but MPI_SUCCESS will do
  return kErrorOther;
}
Word answer_nothing(Word, Word, Word, Word, Word, Word) { return 0; }
Word answer_fortran(Word, Word, Word code, Word, Word, Word) {
  if (code != 0) *reinterpret_cast<int*>(code) = static_cast<int>(answer_error(0, 0, 0, 0, 0, 0));
  return 0;
}

Function without_implementation(const Export& wanted, const Host& host) {
  switch (wanted.without) {
    case Answer::error:
      return answer_error;
    case Answer::nothing:
      return answer_nothing;
    case Answer::fortran:
      return answer_fortran;
    case Answer::host:
      break;
  }
  void* own = host.library == nullptr ? nullptr : dlsym(host.library, wanted.name);
  return own == nullptr ? answer_error : reinterpret_cast<Function>(own);
}

/// The function behind a stub. What stands in for it where there is no MPI yet is not remembered:
/// the next call looks again.
Function resolve(std::size_t index) {
  const std::lock_guard lock(search);
  const Host host = implementation == nullptr ? find_host() : Host{};
  load_implementation(host);
  if (implementation == nullptr) return without_implementation(kExports[index], host);
  const auto found = reinterpret_cast<Function>(dlsym(implementation, kExports[index].name));
  if (found == nullptr) return answer_error;
  functions[index].store(found, std::memory_order_release);
  return found;
}

}  // namespace

#define TAMIS_STUB(name, answer)                                                              \
  extern "C" __attribute__((visibility("default"))) Word name(Word a, Word b, Word c, Word d, \
                                                              Word e, Word f) {               \
    Function function = functions[kIndex_##name].load(std::memory_order_acquire);             \
    if (function == nullptr) [[unlikely]]                                                     \
      function = resolve(kIndex_##name);                                                      \
    return function(a, b, c, d, e, f);                                                        \
  }
#include "stubs.inc"
#undef TAMIS_STUB
