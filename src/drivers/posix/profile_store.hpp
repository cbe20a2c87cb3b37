#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drivers/posix/profile.hpp"

namespace tamis {

/// Where profiles lie: TAMIS_PROFILES, else XDG_CONFIG_HOME/tamis/profiles, else
/// HOME/.config/tamis/profiles. Empty: nowhere; so is an empty TAMIS_PROFILES, which turns them
/// off.
std::string profile_directory();

/// What was found for a path.
struct FoundProfile {
  std::string file;                ///< the profile's file, there or not; empty: it has no place
  std::optional<Profile> profile;  ///< one that may be used
  std::string defect;              ///< not empty: there is a file, and why it is ignored
};

/// The profile for an absolute path without links, by the mount that holds it.
FoundProfile find_profile(const std::string& directory, const std::string& path);

/// The profiles of a process: looked for once per device, at the first open there. Thread-safe.
class ProfileCache {
 public:
  /// For an open file on `device`. Throws where memory runs out.
  FoundProfile of(dev_t device, int fd);

 private:
  struct Entry {
    dev_t device;
    FoundProfile found;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace tamis
