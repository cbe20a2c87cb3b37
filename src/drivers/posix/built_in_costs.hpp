#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tamis {

/// What one transfer, one byte and one uncontended lock cost there, in ns. Orders of magnitude:
/// planning compares them with each other, never with a clock.
struct FileSystemCosts {
  double read_ns;
  double write_ns;
  double byte_ns;
  double lock_ns;
};

/// A file system that has costs of its own, as the mount table calls it.
struct FileSystemName {
  std::string_view name;
  std::int64_t magic;  ///< what statfs(2) says of it
};
/// All of them, and "other", which stands for the rest.
std::span<const FileSystemName> file_system_names();
inline constexpr std::int64_t kOtherFileSystem = 0;

/// The costs a file has where none were measured, by what statfs(2) says of its file system.
const FileSystemCosts& built_in_costs(std::int64_t magic);
/// The same by name; nullptr: none of file_system_names().
const FileSystemCosts* built_in_costs(std::string_view name);

}  // namespace tamis
