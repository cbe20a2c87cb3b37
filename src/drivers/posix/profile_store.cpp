#include "drivers/posix/profile_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "drivers/posix/mounts.hpp"
#include "drivers/posix/small_file.hpp"

namespace tamis {
namespace {

constexpr std::size_t kLongestProfile = 64 << 10;

bool is_directory(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Why the file at `found.file` is ignored; empty: it is used, or not there.
std::string read_profile(const Mount& mount, FoundProfile& found) {
  std::string text;
  const int error = read_small_file(found.file, kLongestProfile, text);
  if (error == ENOENT || error == ENAMETOOLONG) return {};
  if (error == EINVAL) return "it is not a regular file";
  if (error == EFBIG) return "it is too long for a profile";
  if (error != 0) return fmt::format("it cannot be read: {}", strerror(error));
  Profile profile;
  std::string defect = parse_profile(text, profile);
  if (!defect.empty()) return defect;
  if (profile.mount != mount.point)
    return fmt::format("it was made for {}, not for {}", profile.mount, mount.point);
  if (profile.filesystem != mount.type)
    return fmt::format("it was made for {}, and {} is {} now", profile.filesystem, mount.point,
                       mount.type);
  found.profile = std::move(profile);
  return {};
}

}  // namespace

std::string profile_directory() {
  if (const char* own = std::getenv("TAMIS_PROFILES"); own != nullptr) return own;
  const char* settings = std::getenv("XDG_CONFIG_HOME");
  if (settings != nullptr && settings[0] == '/') return fmt::format("{}/tamis/profiles", settings);
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return fmt::format("{}/.config/tamis/profiles", home);
}

FoundProfile find_profile(const std::string& directory, const std::string& path) {
  FoundProfile found;
  if (directory.empty()) return found;
  const Mount mount = mount_of(path);
  if (mount.point.empty()) return found;
  found.file = fmt::format("{}/{}", directory, profile_file_name(mount.point));
  found.defect = read_profile(mount, found);
  return found;
}

FoundProfile ProfileCache::of(dev_t device, int fd) {
  const std::lock_guard held(mutex_);
  const auto known = std::ranges::find(entries_, device, &Entry::device);
  if (known != entries_.end()) return known->found;
  FoundProfile found;
  const std::string directory = profile_directory();
  // The mount table can be long: nobody without profiles reads it.
  if (!directory.empty() && is_directory(directory)) found = find_profile(directory, path_of(fd));
  entries_.push_back({device, found});
  return found;
}

}  // namespace tamis
