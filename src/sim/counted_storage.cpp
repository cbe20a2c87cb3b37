#include "sim/counted_storage.hpp"

#include <algorithm>
#include <optional>

namespace tamis::sim {
namespace {

// Locks far beyond all data say something else than who writes where.
constexpr std::int64_t kMostLocked = std::int64_t{1} << 44;

/// Transfers that have begun, each with the time by which it is done.
class CountedQueue : public TransferQueue {
 public:
  CountedQueue(Driver& driver, ClockedWorld& world, int rank, std::size_t depth, Bell bell)
      : driver_(driver), world_(world), rank_(rank), bell_(bell), slots_(depth) {}

  std::size_t depth() const override { return slots_.size(); }
  const char* name() const override { return "modelled"; }

  // The rank goes on at once: what the transfer takes is in its slot.
  void start(std::size_t slot, Direction direction, std::span<const Transfer> batch) override;
  std::optional<Outcome> finished(std::size_t slot) override {
    if (world_.clock_ns(rank_) < slots_[slot].done_ns) return std::nullopt;
    return slots_[slot].outcome;
  }
  Outcome wait(std::size_t slot) override {
    world_.busy_until(rank_, slots_[slot].done_ns);
    return slots_[slot].outcome;
  }

 private:
  struct Slot {
    double done_ns = 0;
    Outcome outcome;
  };
  Driver& driver_;
  ClockedWorld& world_;
  int rank_;
  Bell bell_;
  std::vector<Slot> slots_;
};

class CountedDriver : public Driver {
 public:
  CountedDriver(CountedStorage& storage, int rank)
      : storage_(storage), rank_(rank), capabilities_(capabilities_of(storage.disks())) {}

  const Capabilities& capabilities() const override { return capabilities_; }

  Outcome transfer(Direction direction, std::span<const Transfer> batch) override {
    double time_ns = storage_.world().clock_ns(rank_);
    const Outcome outcome = move(direction, batch, time_ns);
    storage_.world().busy_until(rank_, time_ns);
    return outcome;
  }
  Result<std::unique_ptr<TransferQueue>> queue(const QueueOptions& options) override {
    return std::unique_ptr<TransferQueue>(std::make_unique<CountedQueue>(
        *this, storage_.world(), rank_, options.depth, options.bell));
  }
  /// Moves the batch from `time_ns` on, and the time with it.
  Outcome move(Direction direction, std::span<const Transfer> batch, double& time_ns) {
    Outcome outcome;
    for (const Transfer& piece : batch) {
      Extent there = piece.file;
      if (direction == Direction::read)
        there.length = std::clamp<std::int64_t>(storage_.size() - there.offset, 0, there.length);
      else
        storage_.set_size(std::max(storage_.size(), there.end()));
      time_ns = storage_.move(direction, there, time_ns);
      outcome.bytes += there.length;
      if (there.length < piece.file.length) break;
    }
    return outcome;
  }

  Status sync() override { return {}; }
  Result<std::int64_t> size() override { return storage_.size(); }
  Status resize(std::int64_t bytes) override {
    storage_.set_size(bytes);
    return {};
  }
  Status preallocate(std::int64_t bytes) override {
    storage_.set_size(std::max(storage_.size(), bytes));
    return {};
  }
  Status lock(const Extent& range, LockKind) override {
    ClockedWorld& world = storage_.world();
    const double free_ns = std::max(storage_.free_from(range), world.clock_ns(rank_));
    world.busy_until(rank_, free_ns + storage_.disks().lock_ns);
    return {};
  }
  Result<bool> try_lock(const Extent&, LockKind) override { return true; }
  Status unlock(const Extent& range) override {
    storage_.hold_until(range, storage_.world().clock_ns(rank_));
    return {};
  }
  Status close() override { return {}; }

 private:
  static Capabilities capabilities_of(const Disks& disks) {
    Capabilities c;
    c.name = "counted";
    c.locks = true;
    c.block_bytes = disks.stripe_bytes;
    c.stripe_bytes = disks.stripe_bytes;
    c.read_ns = disks.read_ns + disks.trip_ns;
    c.write_ns = disks.write_ns + disks.trip_ns;
    c.byte_ns = disks.byte_ns / disks.servers;
    c.lock_ns = disks.lock_ns;
    return c;
  }

  CountedStorage& storage_;
  int rank_;
  Capabilities capabilities_;
};

void CountedQueue::start(std::size_t slot, Direction direction, std::span<const Transfer> batch) {
  double time_ns = world_.clock_ns(rank_);
  slots_[slot].outcome = static_cast<CountedDriver&>(driver_).move(direction, batch, time_ns);
  slots_[slot].done_ns = time_ns;
  world_.wake(rank_, time_ns);
  bell_();
}

}  // namespace

CountedStorage::CountedStorage(ClockedWorld& world, const Disks& disks)
    : world_(world), disks_(disks) {
  // Some requests to a slot: fine enough for queues, coarse enough for long runs.
  const double slot_ns = 4 * (disks.read_ns + disks.write_ns) + 1;
  servers_.assign(static_cast<std::size_t>(disks.servers), Calendar(slot_ns));
}

Result<std::unique_ptr<Driver>> CountedStorage::open(const std::string&, const OpenMode&) {
  return std::unique_ptr<Driver>(std::make_unique<CountedDriver>(*this, acting_rank()));
}

Status CountedStorage::remove(const std::string&) { return {}; }

void CountedStorage::begin_anew() {
  for (Calendar& server : servers_) server.clear();
  held_until_.clear();
  read_once_.clear();
  for (Counts& counts : counts_) counts = {};
}

/// What the disk takes for bytes of a stripe that may be read for the first time.
double CountedStorage::read_first_ns(std::int64_t stripe, std::int64_t bytes) {
  const auto index = static_cast<std::size_t>(stripe);
  if (disks_.first_read_byte_ns == 0) return 0;
  if (read_once_.size() <= index) read_once_.resize(index + 1);
  const std::int64_t fresh = std::min(bytes, disks_.stripe_bytes - read_once_[index]);
  read_once_[index] += fresh;
  return static_cast<double>(fresh) * disks_.first_read_byte_ns;
}

double CountedStorage::book_server(std::int64_t server, Direction direction, const Extent& piece,
                                   double from_ns) {
  // Its stripes are every `servers`-th one of the piece.
  const bool write = direction == Direction::write;
  const std::int64_t stripe = disks_.stripe_bytes;
  const std::int64_t first = piece.offset / stripe;
  const std::int64_t away = (server - first % disks_.servers + disks_.servers) % disks_.servers;
  std::int64_t bytes = 0;
  bool whole = true;
  double work_ns = 0;
  for (std::int64_t s = first + away; s * stripe < piece.end(); s += disks_.servers) {
    const std::int64_t part =
        std::min(piece.end(), (s + 1) * stripe) - std::max(piece.offset, s * stripe);
    whole = whole && part == stripe;
    bytes += part;
    if (!write) work_ns += read_first_ns(s, part);
  }
  Counts& counts = counts_[write ? 1 : 0];
  ++counts.requests;
  counts.bytes += bytes;
  work_ns += static_cast<double>(bytes) * disks_.byte_ns;
  const double request_ns = whole ? disks_.write_ns : disks_.partial_write_ns;
  work_ns += write ? request_ns : disks_.read_ns;
  return servers_[static_cast<std::size_t>(server)].book(from_ns, work_ns);
}

double CountedStorage::move(Direction direction, const Extent& piece, double from_ns) {
  if (piece.length <= 0) return from_ns + disks_.trip_ns;
  const std::int64_t first = piece.offset / disks_.stripe_bytes;
  const std::int64_t stripes = (piece.end() - 1) / disks_.stripe_bytes - first + 1;
  double done_ns = from_ns;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(stripes, disks_.servers); ++i)
    done_ns = std::max(done_ns, book_server((first + i) % disks_.servers, direction, piece,
                                            from_ns + disks_.trip_ns / 2));
  return done_ns + disks_.trip_ns / 2;
}

double CountedStorage::free_from(const Extent& range) const {
  if (range.offset >= kMostLocked) return 0;
  const auto first = static_cast<std::size_t>(range.offset / disks_.stripe_bytes);
  const auto last = static_cast<std::size_t>(
      (std::min(range.end(), kMostLocked) + disks_.stripe_bytes - 1) / disks_.stripe_bytes);
  double free_ns = 0;
  for (std::size_t i = first; i < std::min(last, held_until_.size()); ++i)
    free_ns = std::max(free_ns, held_until_[i]);
  return free_ns;
}

void CountedStorage::hold_until(const Extent& range, double time_ns) {
  if (range.offset >= kMostLocked) return;
  const std::int64_t end = std::min({range.end(), kMostLocked, size_ + disks_.stripe_bytes});
  const auto first = static_cast<std::size_t>(range.offset / disks_.stripe_bytes);
  const auto last = static_cast<std::size_t>((end - 1) / disks_.stripe_bytes);
  if (held_until_.size() <= last) held_until_.resize(last + 1);
  for (std::size_t i = first; i <= last; ++i) held_until_[i] = std::max(held_until_[i], time_ns);
}

}  // namespace tamis::sim
