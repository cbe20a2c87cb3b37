#pragma once

#include <memory>
#include <string>

#include "drivers/driver.hpp"
#include "drivers/posix/profile_store.hpp"
#include "drivers/posix/system_calls.hpp"

namespace tamis {

/// Files, and devices that have offsets, by the calls of POSIX and Linux. Thread-safe.
/// What transfers cost is read from the profile of the mount that holds the file, where
/// `tamis calibrate` made one; a profile that is broken is passed over.
class PosixStorage : public Storage {
 public:
  explicit PosixStorage(const SystemCalls& calls = SystemCalls::real()) : calls_(calls) {}

  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override;

 private:
  SystemCalls calls_;
  ProfileCache profiles_;
};

}  // namespace tamis
