#include "abi/library.hpp"

#include <atomic>
#include <cstdio>

#include "abi/entry.hpp"
#include "abi/say.hpp"
#include "tamis/tamis.h"
#include "tamis/version.h"

namespace tamis::abi {
namespace {

constinit std::atomic_flag said_without_host = ATOMIC_FLAG_INIT;

}  // namespace

Library& library() {
  static Library& instance = *new Library;
  return instance;
}

void say(const char* sentence) { std::fprintf(stderr, "tamis: %s\n", sentence); }

int without_host() {
  if (!said_without_host.test_and_set()) say(host_problem());
  return MPI_ERR_OTHER;
}

int without_memory() { return MPI_ERR_NO_MEM; }

}  // namespace tamis::abi

TAMIS_EXPORT const char* tamis_version(void) { return TAMIS_VERSION; }

TAMIS_EXPORT const char* tamis_host(void) { return TAMIS_HOST_NAME; }
