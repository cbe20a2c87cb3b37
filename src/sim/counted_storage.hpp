#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drivers/driver.hpp"
#include "sim/calendar.hpp"
#include "sim/clocked_world.hpp"
#include "sim/machine.hpp"

namespace tamis::sim {

/// A striped file that keeps nothing but its size and counts: transfers cost the time of the model.
/// A piece of a transfer is one request to each server that has some of it; a rank waits for each
/// piece. Locks are held by the clock, in the order in which ranks ask.
class CountedStorage : public Storage {
 public:
  struct Counts {
    std::int64_t requests = 0;  ///< at servers
    std::int64_t bytes = 0;
  };

  CountedStorage(ClockedWorld& world, const Disks& disks);

  /// By whoever acts.
  Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) override;
  Status remove(const std::string& path) override;

  /// Servers idle, nothing counted; the size stays.
  void begin_anew();
  void set_size(std::int64_t bytes) { size_ = bytes; }
  std::int64_t size() const { return size_; }
  const Counts& counts(Direction d) const { return counts_[d == Direction::write ? 1 : 0]; }

  const Disks& disks() const { return disks_; }
  /// When a piece is there, if it is asked for at that time.
  double move(Direction direction, const Extent& piece, double from_ns);
  /// When nobody holds the range any more.
  double free_from(const Extent& range) const;
  void hold_until(const Extent& range, double time_ns);
  ClockedWorld& world() { return world_; }

 private:
  double book_server(std::int64_t server, Direction direction, const Extent& piece, double from_ns);
  double read_first_ns(std::int64_t stripe, std::int64_t bytes);

  ClockedWorld& world_;
  Disks disks_;
  std::int64_t size_ = 0;
  Counts counts_[2];
  std::vector<Calendar> servers_;
  std::vector<double> held_until_;       // per stripe
  std::vector<std::int64_t> read_once_;  // per stripe: bytes that need no disk any more
};

}  // namespace tamis::sim
