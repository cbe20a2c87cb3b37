#pragma once

// The host MPI's header, made safe for a library that does not link MPI. Files of mpi/ and abi/
// include this and never <mpi.h>.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace tamis {

/// A name as a template argument.
template <std::size_t N>
struct SymbolName {
  char text[N];
  constexpr SymbolName(const char (&literal)[N]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(literal, N, text);
  }
};

template <SymbolName Name>
inline constinit std::atomic<void*> cached_symbol{nullptr};

/// Address of a data object of the host MPI as the whole process sees it; nullptr where there is no
/// host (not remembered). Any thread may call it.
void* find_symbol(const char* name);

/// The same, remembered: one load and a branch from the second time on.
template <SymbolName Name>
void* host_symbol() {
  void* address = cached_symbol<Name>.load(std::memory_order_relaxed);
  if (address == nullptr) [[unlikely]] {
    address = find_symbol(Name.text);
    cached_symbol<Name>.store(address, std::memory_order_relaxed);
  }
  return address;
}

}  // namespace tamis

// Open MPI's handles are addresses of data objects. Naming the objects would leave undefined data
// symbols, which stop the load where libmpi comes later or privately (Python). And an executable
// that names one holds a copy whose address is the handle, so only a look-up through the global
// scope finds the right one.
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::tamis::host_symbol<#global>()))
#endif
