#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "drivers/driver.hpp"
#include "drivers/posix/mounts.hpp"

// What tamis-probe finds out; each answer is JSON on the standard output, for `tamis doctor` and
// `tamis calibrate`.
namespace tamis::probe {

/// Where a file name leads: its directory as the system sees it (absolute, without links) and the
/// mount that holds it.
struct Place {
  std::string name;       ///< without the driver's prefix
  std::string directory;  ///< empty: there is no such directory, and `error` says why
  int error = 0;          ///< errno
  bool process_local = false;
  Mount mount;
};
Place place_of(const std::string& name);

/// A file of its own in a directory, opened by the posix driver. It has no name any more when the
/// constructor returns, so that nothing is left however the process ends.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& directory);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const Status& status() const { return status_; }
  Driver& plain() { return *plain_; }
  /// A second open of the same file, which cannot write; nullptr where it cannot be had.
  Driver* second() { return second_.get(); }
  /// The same file opened past the system's cache; nullptr where the file system refuses that.
  Driver* direct() { return direct_.get(); }
  const Status& direct_status() const { return direct_status_; }
  /// Asks the system to forget what it keeps of the file in memory.
  void forget();

 private:
  Status status_;
  Status direct_status_;
  std::unique_ptr<Driver> plain_;
  std::unique_ptr<Driver> second_;
  std::unique_ptr<Driver> direct_;
  int advice_ = -1;
};

/// Memory for transfers that go past the cache: aligned, its bytes random, so that nothing on the
/// way can make them fewer.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() { return data_; }

 private:
  std::byte* data_;
};

inline constexpr std::int64_t kAlignment = 4096;

int print_storage(const std::string& name);
int print_memory();
int print_costs(const std::string& directory, double seconds, std::int64_t most_bytes);
int print_profile_directory();
/// Reads a profile's file, whatever it holds.
int print_profile(const std::string& file);

}  // namespace tamis::probe
