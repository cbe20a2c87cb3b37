#pragma once

#include <new>

#include "mpi/host.hpp"
#include "mpi/mpi.hpp"

/// What the dynamic linker may see of this library; the rest is hidden.
#define TAMIS_EXPORT __attribute__((visibility("default")))
/// A second name for an exported function: the same code.
#define TAMIS_TWIN(name) __attribute__((alias(name), visibility("default")))

namespace tamis::abi {

/// The answers where there is no host MPI, or no memory to say more.
int without_host();
int without_memory();

/// Runs the answer to an entry point. No exception leaves the library.
template <typename Body>
int guard(Body body) noexcept {
  if (find_host() == nullptr) [[unlikely]]
    return without_host();
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return without_memory();
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

}  // namespace tamis::abi
