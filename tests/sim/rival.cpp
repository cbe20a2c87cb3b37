#include "sim/rival.hpp"

#include <utility>

#include "unit/driver_passing.hpp"

namespace tamis::sim {
namespace {

class RivalledDriver : public test::PassingDriver {
 public:
  RivalledDriver(std::unique_ptr<Driver> inside, Striker& striker, int& open_drivers)
      : PassingDriver(std::move(inside)), striker_(striker), open_drivers_(open_drivers) {
    ++open_drivers_;
  }
  ~RivalledDriver() override { --open_drivers_; }

  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    if (direction == Direction::write) strike(batch);
    const Outcome outcome = inside_->transfer(direction, batch);
    if (direction == Direction::read) strike(batch);
    return outcome;
  }

 private:
  void strike(std::span<const Transfer> batch) {
    if (batch.empty()) return;
    striker_.strike(between(batch.front().file.offset, batch.back().file.end()));
  }

  Striker& striker_;
  int& open_drivers_;
};

}  // namespace

void Rival::begin(std::vector<bool> taken) {
  taken_ = std::move(taken);
  active_ = true;
}

std::map<std::int64_t, std::byte> Rival::end() {
  active_ = false;
  return std::exchange(stored_, {});
}

void Rival::strike(const Extent& range) {
  if (!active_ || range.empty()) return;
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  };
  const std::int64_t offset = draw(range.offset, range.end() - 1);
  const bool hole = offset < static_cast<std::int64_t>(taken_.size()) &&
                    !taken_[static_cast<std::size_t>(offset)];
  if (!hole) return;
  Result<std::unique_ptr<Driver>> file = disk_.open(path_, {.read = true, .write = true});
  if (!file.ok()) return;
  {
    const RangeLock held(**file, {offset, 1}, LockKind::exclusive);
    auto value = static_cast<std::byte>(draw(0, 255));
    const Transfer one{{offset, 1}, &value};
    if (held.status().ok() && (*file)->transfer(Direction::write, {&one, 1}).status.ok())
      stored_[offset] = value;
  }
  static_cast<void>((*file)->close());
}

Result<std::unique_ptr<Driver>> RivalledStorage::open(const std::string& path,
                                                      const OpenMode& mode) {
  Result<std::unique_ptr<Driver>> driver = inside_.open(path, mode);
  if (!driver.ok()) return driver;
  return std::unique_ptr<Driver>(
      std::make_unique<RivalledDriver>(std::move(*driver), striker_, open_drivers_));
}

}  // namespace tamis::sim
