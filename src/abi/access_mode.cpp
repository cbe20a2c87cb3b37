#include "abi/access_mode.hpp"

#include <array>
#include <bit>

#include "file/file.hpp"
#include "mpi/mpi.hpp"

namespace tamis::abi {
namespace {

struct Mode {
  int host;
  AccessMode ours;
};

constexpr std::array kModes = {
    Mode{MPI_MODE_RDONLY, kReadOnly},        Mode{MPI_MODE_WRONLY, kWriteOnly},
    Mode{MPI_MODE_RDWR, kReadWrite},         Mode{MPI_MODE_CREATE, kCreate},
    Mode{MPI_MODE_EXCL, kExclusive},         Mode{MPI_MODE_DELETE_ON_CLOSE, kDeleteOnClose},
    Mode{MPI_MODE_UNIQUE_OPEN, kUniqueOpen}, Mode{MPI_MODE_SEQUENTIAL, kSequential},
    Mode{MPI_MODE_APPEND, kAppend},
};

struct Rule {
  bool (*broken)(unsigned mode);
  const char* sentence;
};

constexpr std::array kRules = {
    Rule{[](unsigned m) { return std::popcount(m & (kReadOnly | kWriteOnly | kReadWrite)) != 1; },
         "exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR must be given"},
    Rule{[](unsigned m) { return (m & kReadOnly) != 0 && (m & (kCreate | kExclusive)) != 0; },
         "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY"},
    Rule{[](unsigned m) { return (m & kReadWrite) != 0 && (m & kSequential) != 0; },
         "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR"},
};

}  // namespace

Result<unsigned> access_mode(int amode) {
  unsigned mode = 0;
  for (const Mode& known : kModes) {
    if ((amode & known.host) != 0) mode |= known.ours;
    amode &= ~known.host;
  }
  if (amode != 0) return failure(Errc::amode, "the access mode has bits that mean nothing");
  for (const Rule& rule : kRules) {
    if (rule.broken(mode)) return failure(Errc::amode, rule.sentence);
  }
  return mode;
}

}  // namespace tamis::abi
