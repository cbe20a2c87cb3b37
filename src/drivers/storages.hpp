#pragma once

#include <string>

#include "drivers/driver.hpp"
#include "drivers/memory/memory.hpp"
#include "drivers/posix/posix.hpp"

namespace tamis {

/// The storages a file name can ask for. A prefix is a name from the table below before the first
/// colon; `ufs:`, `nfs:`, `xfs:`, `lustre:`, `gpfs:` and `panfs:` name mounted file systems and all
/// lead to posix, which finds out for itself what it stands on. `memory:` leads to files inside the
/// process: only for communicators of one process (MPI_COMM_SELF) and for simulation, since other
/// processes do not see them. Any other text before a colon is part of an ordinary file name
/// ("12:30.dat", "foo:bar"); a file really called "ufs:x" is reached as "./ufs:x".
class Storages : public StorageTable {
 public:
  Result<Storage*> find(const std::string& name, std::string& path) override;

  /// Other processes do not see the file.
  static bool is_process_local(const std::string& name) { return name.starts_with("memory:"); }

 private:
  PosixStorage posix_;
  MemoryStorage memory_;
};

}  // namespace tamis
