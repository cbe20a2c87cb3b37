#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "drivers/posix/profile_store.hpp"
#include "json.hpp"
#include "probe.hpp"

// Measures what the cost model reads, as the library does it: through the driver, into the system's
// cache, new files and old ones. Turns repeat until time or bytes are used up; every figure is a
// median. What reaches the device is measured, too, to be told: plans do not read it.

namespace tamis::probe {
namespace {

using Clock = std::chrono::steady_clock;
using json::quoted;

constexpr std::int64_t kSmall = 512;
constexpr std::int64_t kStride = 2048;
constexpr int kPieces = 64;
constexpr int kSmallBatches = 8;
constexpr int kLargeTransfers = 4;
constexpr std::int64_t kLargestTransfer = 4 << 20;
constexpr std::int64_t kSmallestTransfer = 64 << 10;
constexpr std::int64_t kSmallRegion = 1 << 20;
constexpr int kMostTurns = 24;
constexpr int kMostDeviceTurns = 8;
constexpr double kShareOfModel = 0.6;  ///< of time and bytes; the rest is for the device

enum Which : std::size_t {
  small_write,
  small_rewrite,
  small_read,
  large_write,
  large_rewrite,
  large_read,
  lock_pair,
  durable_write,
  uncached_read,
  direct_write,
  direct_read,
  figure_count,
};

struct Figure {
  const char* name;
  std::vector<double> samples_ns = {};  ///< of one operation
  std::int64_t bytes = 0;               ///< that one operation moves
};

double quantile(std::vector<double>& samples, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), samples.begin() + place, samples.end());
  return samples[static_cast<std::size_t>(place)];
}

/// Time and bytes that may be used, and how much of them are.
class Budget {
 public:
  Budget(double seconds, std::int64_t bytes) : seconds_(seconds), bytes_(bytes) {}
  void wrote(std::int64_t bytes) { written_ += bytes; }
  /// The larger share used so far, of what is allowed in all.
  double used() const {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    return std::max(passed.count() / seconds_,
                    static_cast<double>(written_) / static_cast<double>(bytes_));
  }

 private:
  double seconds_;
  std::int64_t bytes_;
  std::int64_t written_ = 0;
  Clock::time_point start_ = Clock::now();
};

/// A part of the measurement: from and until which share of the budget, and the share of its turns
/// that is done.
struct Phase {
  const char* what = "";
  double from = 0;
  double until = 0;
  double turns = 0;
};

class Measurement {
 public:
  Measurement(ScratchFile& file, double seconds, std::int64_t most_bytes)
      : file_(file),
        budget_(seconds, most_bytes),
        large_(std::clamp(most_bytes / 32 / kAlignment * kAlignment, kSmallestTransfer,
                          kLargestTransfer)),
        buffer_(large_) {
    constexpr std::array kNames = {"small_write",   "small_rewrite", "small_read", "large_write",
                                   "large_rewrite", "large_read",    "lock",       "durable_write",
                                   "uncached_read", "direct_write",  "direct_read"};
    static_assert(kNames.size() == figure_count);
    for (std::size_t i = 0; i < figure_count; ++i) figures_[i].name = kNames[i];
  }

  Status run();
  Profile fitted(const Mount& mount);
  std::string figures_json();

 private:
  template <typename Turn>
  Status repeat(const char* what, double until, int most_turns, Turn turn);
  template <typename Action>
  Status sample(Which which, std::int64_t bytes, int operations, Action action);
  Status small_pieces(Which which, Direction direction);
  Status large_pieces(Driver& driver, Which which, Direction direction);
  Status locks();
  Status model_turn();
  Status device_turn();
  Status durable_writes();
  Status settle_pieces();
  Status move(Driver& driver, Direction direction, std::span<const Transfer> batch);
  void tell(bool in_any_case);
  double median(Which which) { return quantile(figures_[which].samples_ns, 0.5); }

  ScratchFile& file_;
  Budget budget_;
  std::int64_t large_;
  Buffer buffer_;
  int pieces_ = kPieces;
  Phase phase_;
  Clock::time_point told_;
  std::array<Figure, figure_count> figures_;
};

/// Takes a sample unless the budget is used up and there is one already.
template <typename Action>
Status Measurement::sample(Which which, std::int64_t bytes, int operations, Action action) {
  Figure& figure = figures_[which];
  if (budget_.used() >= phase_.until && !figure.samples_ns.empty()) return {};
  const Clock::time_point start = Clock::now();
  const Status status = action();
  const std::chrono::duration<double, std::nano> passed = Clock::now() - start;
  if (!status.ok()) return status;
  figure.bytes = bytes;
  figure.samples_ns.push_back(passed.count() / operations);
  tell(false);
  return {};
}

Status Measurement::move(Driver& driver, Direction direction, std::span<const Transfer> batch) {
  std::int64_t bytes = 0;
  for (const Transfer& transfer : batch) bytes += transfer.file.length;
  const Outcome outcome = driver.transfer(direction, batch);
  if (direction == Direction::write) budget_.wrote(outcome.bytes);
  if (outcome.status.ok() && outcome.bytes < bytes)
    return failure(Errc::io, "the file ends before what was written");
  return outcome.status;
}

Status Measurement::small_pieces(Which which, Direction direction) {
  std::vector<Transfer> batch(static_cast<std::size_t>(pieces_));
  for (int repeat = 0; repeat < kSmallBatches; ++repeat) {
    std::int64_t offset = std::int64_t{repeat} * kPieces * kStride;
    for (Transfer& transfer : batch) {
      transfer = {{offset, kSmall}, buffer_.data()};
      offset += kStride;
    }
    const Status status =
        sample(which, kSmall, pieces_, [&] { return move(file_.plain(), direction, batch); });
    if (!status.ok()) return status;
  }
  return {};
}

Status Measurement::large_pieces(Driver& driver, Which which, Direction direction) {
  for (int i = 0; i < kLargeTransfers; ++i) {
    const Transfer transfer{{kSmallRegion + i * large_, large_}, buffer_.data()};
    const Status status = sample(which, large_, 1, [&] {
      return move(driver, direction, {&transfer, 1});
    });
    if (!status.ok()) return status;
  }
  return {};
}

Status Measurement::locks() {
  if (!file_.plain().capabilities().locks) return {};
  return sample(lock_pair, 0, pieces_, [&] {
    Status status;
    for (int i = 0; i < pieces_ && status.ok(); ++i) {
      const Extent range{i * kStride, kSmall};
      status = file_.plain().lock(range, LockKind::exclusive);
      if (status.ok()) status = file_.plain().unlock(range);
    }
    return status;
  });
}

/// Slow storage gets few pieces at a time, or the first batch would use up all the time.
Status Measurement::settle_pieces() {
  constexpr auto kSlow = std::chrono::microseconds(200);
  const Transfer transfer{{0, kSmall}, buffer_.data()};
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 2; ++i) {
    const Status status = move(file_.plain(), Direction::write, {&transfer, 1});
    if (!status.ok()) return status;
  }
  if (Clock::now() - start > 2 * kSlow) pieces_ = kPieces / 16;
  return {};
}

/// Writes that make the file come first, then the same bytes again: both are what programs do.
Status Measurement::model_turn() {
  Status status = file_.plain().resize(0);
  if (status.ok()) status = small_pieces(small_write, Direction::write);
  if (status.ok()) status = small_pieces(small_read, Direction::read);
  if (status.ok()) status = small_pieces(small_rewrite, Direction::write);
  if (status.ok()) status = large_pieces(file_.plain(), large_write, Direction::write);
  if (status.ok()) status = large_pieces(file_.plain(), large_read, Direction::read);
  if (status.ok()) status = large_pieces(file_.plain(), large_rewrite, Direction::write);
  if (status.ok()) status = locks();
  return status;
}

Status Measurement::durable_writes() {
  return sample(durable_write, large_, kLargeTransfers, [&] {
    Status status;
    for (int i = 0; i < kLargeTransfers && status.ok(); ++i) {
      const Transfer transfer{{kSmallRegion + i * large_, large_}, buffer_.data()};
      status = move(file_.plain(), Direction::write, {&transfer, 1});
    }
    if (status.ok()) status = file_.plain().sync();
    return status;
  });
}

Status Measurement::device_turn() {
  Status status = file_.plain().resize(0);
  if (status.ok()) status = durable_writes();
  if (!status.ok()) return status;
  file_.forget();
  status = large_pieces(file_.plain(), uncached_read, Direction::read);
  if (!status.ok() || file_.direct() == nullptr) return status;
  // Some file systems let a file be opened like this and then refuse to move bytes.
  if (!large_pieces(*file_.direct(), direct_write, Direction::write).ok()) return {};
  static_cast<void>(large_pieces(*file_.direct(), direct_read, Direction::read));
  return {};
}

template <typename Turn>
Status Measurement::repeat(const char* what, double until, int most_turns, Turn turn) {
  phase_ = {.what = what, .from = phase_.until, .until = until};
  for (int i = 0; i < most_turns; ++i) {
    phase_.turns = static_cast<double>(i) / most_turns;
    tell(i == 0);
    if (i > 0 && budget_.used() >= until) break;
    const Status status = turn();
    if (!status.ok()) return status;
  }
  return {};
}

/// A line about how far this is; not too often.
void Measurement::tell(bool in_any_case) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const Clock::time_point now = Clock::now();
  if (!in_any_case && now - told_ < kPause) return;
  told_ = now;
  const double width = phase_.until - phase_.from;
  const double share = std::clamp((budget_.used() - phase_.from) / width, 0.0, 1.0);
  fmt::print("{{\"doing\":{},\"share\":{:.3f}}}\n", quoted(phase_.what),
             phase_.from + width * std::max(phase_.turns, share));
  std::fflush(stdout);
}

Status Measurement::run() {
  Status status = settle_pieces();
  if (!status.ok()) return status;
  status = repeat("costs of small and large accesses", kShareOfModel, kMostTurns,
                  [this] { return model_turn(); });
  if (!status.ok()) return status;
  return repeat("what the device does", 1.0, kMostDeviceTurns, [this] { return device_turn(); });
}

/// Solves "operation + bytes * byte" for the small and the large transfer of a direction.
void fit(double small_ns, double large_ns, std::int64_t large, double& operation_ns,
         double& byte_ns) {
  byte_ns = std::max(0.0, (large_ns - small_ns) / static_cast<double>(large - kSmall));
  operation_ns = small_ns - byte_ns * static_cast<double>(kSmall);
}

Profile Measurement::fitted(const Mount& mount) {
  Profile profile{.mount = mount.point,
                  .filesystem = mount.type,
                  .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
  fit(median(small_read), median(large_read), large_, profile.read_ns, profile.read_byte_ns);
  fit(median(small_write), median(large_write), large_, profile.write_ns, profile.write_byte_ns);
  const bool locked = !figures_[lock_pair].samples_ns.empty();
  profile.lock_ns = locked ? median(lock_pair) : Capabilities{}.lock_ns;
  return bounded(std::move(profile));
}

std::string Measurement::figures_json() {
  std::vector<std::string> items;
  for (Figure& figure : figures_) {
    if (figure.samples_ns.empty()) continue;
    items.push_back(fmt::format(
        R"({{"name":{},"bytes":{},"samples":{},"median_ns":{},"low_ns":{},"high_ns":{}}})",
        quoted(figure.name), figure.bytes, figure.samples_ns.size(),
        quantile(figure.samples_ns, 0.5), quantile(figure.samples_ns, 0.1),
        quantile(figure.samples_ns, 0.9)));
  }
  return json::joined(items);
}

int failed(const Status& status) {
  fmt::print("{{\"error\":{},\"code\":{},\"errno\":{}}}\n", quoted(status.to_string()),
             quoted(name(status.code)), status.os_error);
  return 1;
}

}  // namespace

int print_costs(const std::string& directory, double seconds, std::int64_t most_bytes) {
  const Place place = place_of(directory);
  if (place.directory.empty()) return failed({.code = Errc::no_such_file, .os_error = place.error});
  if (place.mount.point.empty()) return failed(failure(Errc::io, "the mount table cannot be read"));
  ScratchFile file(place.directory);
  if (!file.status().ok()) return failed(file.status());
  Measurement measurement(file, seconds, most_bytes);
  const Status status = measurement.run();
  if (!status.ok()) return failed(status);
  const Profile profile = measurement.fitted(place.mount);
  const std::string target = profile_directory().empty()
                                 ? std::string()
                                 : profile_directory() + "/" + profile_file_name(profile.mount);
  std::string figures = measurement.figures_json();
  std::erase(figures, '\n');  // every step is one line
  fmt::print("{{\"file\":{},\"text\":{},\"mount\":{},\"filesystem\":{},\"figures\":{}}}\n",
             quoted(target), quoted(format_profile(profile)), quoted(profile.mount),
             quoted(profile.filesystem), figures);
  return 0;
}

}  // namespace tamis::probe
