#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "drivers/driver.hpp"

namespace tamis::sim {

/// Somebody who does something whenever a rank has read a range of the file, and before it writes
/// one.
class Striker {
 public:
  virtual ~Striker() = default;
  virtual void strike(const Extent& range) = 0;
};

/// Somebody else who has the file open and obeys its locks. Whenever a rank has read, and before it
/// writes, the rival puts bytes of its own into the holes between the ranks' pieces, unless the
/// range is locked. A read-modify-write without a lock loses them.
/// The storage below must refuse locks instead of waiting: all of this is one thread.
class Rival : public Striker {
 public:
  Rival(Storage& disk, const char* path, std::uint64_t seed)
      : disk_(disk), path_(path), random_(seed) {}

  /// From now on it strikes, but never at the offsets marked in `taken`, which ranks write.
  void begin(std::vector<bool> taken);
  /// Ends it; tells what was stored, by offset.
  std::map<std::int64_t, std::byte> end();
  void strike(const Extent& range) override;

 private:
  Storage& disk_;
  const char* path_;
  std::mt19937_64 random_;
  bool active_ = false;
  std::vector<bool> taken_;
  std::map<std::int64_t, std::byte> stored_;
};

/// Opens drivers that let the striker strike; counts those that are open.
class RivalledStorage : public Storage {
 public:
  RivalledStorage(Storage& inside, Striker& striker) : inside_(inside), striker_(striker) {}
  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override { return inside_.remove(path); }
  int open_drivers() const { return open_drivers_; }

 private:
  Storage& inside_;
  Striker& striker_;
  int open_drivers_ = 0;
};

}  // namespace tamis::sim
