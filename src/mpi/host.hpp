#pragma once

#include <type_traits>

#include "mpi/mpi.hpp"

namespace tamis {

/// The host MPI: its functions by their PMPI_ names, as pointers (`host().Comm_rank(...)`).
///
/// The library is not linked to any MPI: Python loads MPI privately, one MPI has several library
/// names, and a wrong one must never be pulled in beside the program's own. So the table is filled
/// from whichever MPI the process has loaded, which is made visible to the whole process by that.
struct Host {
#define TAMIS_HOST_FUNCTION(name) decltype(&::MPI_##name) name = nullptr;  // NOLINT
#define TAMIS_HOST_OPTIONAL(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "mpi/host_functions.inc"
#undef TAMIS_HOST_FUNCTION
#undef TAMIS_HOST_OPTIONAL
};

/// The host, or nullptr where this process has loaded no MPI that this build can serve (looked for
/// again at the next call). Every entry point asks this before anything else. Any thread may call.
const Host* find_host();

/// Why find_host() gave nullptr, as a sentence; empty where it did not.
const char* host_problem();

/// The host. REQUIRES: find_host() has succeeded before.
const Host& host();

}  // namespace tamis
