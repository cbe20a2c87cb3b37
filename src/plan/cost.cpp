#include "plan/cost.hpp"

#include <algorithm>
#include <array>

namespace tamis {
namespace {

// One more entry of a vectored transfer, where pieces touch in the file but not in memory.
constexpr double kVectorEntryNs = 50;
// Entries of a request: as many as a rank's own bytes are handed over in at a time.
constexpr double kVectorEntries = 64;

// A window of up to here stays in the cache of a core between its transfer and the copying, and its
// pages are soon touched. Sieving reads of 4 ranks in 4 MiB took two to three times as long with
// windows of 4 MiB.
constexpr std::int64_t kCachedWindow = 256 << 10;
// The fixed costs of a window may be so much smaller than its bytes'.
constexpr double kWindowWorth = 32;

// Fixed costs of a sieved window. A write reads the window first, under a lock.
double window_ns(Direction direction, const Capabilities& storage) {
  const bool write = direction == Direction::write;
  return storage.read_ns + (write ? storage.write_ns + storage.lock_ns : 0);
}

double windows_of(std::int64_t bytes, std::int64_t window) {
  const std::int64_t windows = (bytes - 1) / std::max<std::int64_t>(window, 1) + 1;
  return static_cast<double>(windows);
}

double list_cost(Direction direction, const Shape& shape, const Capabilities& storage) {
  const auto extra = static_cast<double>(std::max<std::int64_t>(0, shape.memory_blocks - 1));
  const double operations = static_cast<double>(shape.file_blocks) + extra / kVectorEntries;
  return operations * storage.operation_ns(direction) + extra * kVectorEntryNs +
         static_cast<double>(shape.bytes) * storage.byte_ns;
}

double walk_cost(const Shape& shape) {
  return static_cast<double>(shape.bytes) * kCopyByteNs +
         static_cast<double>(shape.file_blocks + shape.memory_blocks) * kPieceNs;
}

double gather_cost(Direction direction, const Shape& shape, const Capabilities& storage,
                   std::int64_t window) {
  const double operations =
      static_cast<double>(shape.file_blocks) + windows_of(shape.bytes, window) - 1;
  return operations * storage.operation_ns(direction) +
         static_cast<double>(shape.bytes) * storage.byte_ns + walk_cost(shape);
}

double sieve_cost(Direction direction, const Shape& shape, const Hints& hints,
                  const Capabilities& storage) {
  const bool write = direction == Direction::write;
  const std::int64_t window = own_window(direction, hints, storage);
  const double passes = write ? 2 : 1;
  return passes * static_cast<double>(shape.span) * storage.byte_ns +
         windows_of(shape.span, window) * window_ns(direction, storage) + walk_cost(shape);
}

/// Why sieving is out of the question; nullptr where it is allowed.
const char* sieve_refused(Direction direction, const Shape& shape, const Hints& hints,
                          const Capabilities& storage) {
  const bool write = direction == Direction::write;
  const Switch wish = sieve_wish(direction, hints);
  if (!shape.ordered) return "the view goes back and forth in the file";
  if (shape.file_blocks <= 1) return "the access is contiguous in the file";
  if (wish == Switch::disable) return "sieving is disabled by hint";
  if (write && !storage.can_read_back) return "the file cannot be read back";
  if (write && !storage.locks && hints.tamis_locks != Switch::disable)
    return "the storage refuses byte-range locks";
  if (write && !storage.may_rewrite) return "another open of the file may write into the holes";
  if (write && !storage.guarded && hints.tamis_locks == Switch::disable)
    return "locks are disabled, and other ranks may write into the holes";
  if (write && !storage.guarded && wish != Switch::enable)
    return "ranks of other nodes may write into the holes without a lock";
  return nullptr;
}

using Candidates = std::array<Candidate, 3>;

Choice cheapest(const Shape& shape, Switch sieve_wish, const Candidates& all) {
  const auto& [list, gather, sieve] = all;
  if (list.method == Method::direct)
    return {list.method, list.cost_ns, "one piece in memory and file"};
  Choice best{list.method, list.cost_ns, "moving the holes as well would cost more"};
  if (sieve.refused != nullptr) best.reason = sieve.refused;
  if (shape.file_blocks == 1) best.reason = "packing the pieces of memory would cost more";
  if (gather.cost_ns < list.cost_ns)
    best = {gather.method, gather.cost_ns, "memory is in smaller pieces than the file"};
  if (sieve.refused != nullptr) return best;
  if (sieve_wish == Switch::enable) return {sieve.method, sieve.cost_ns, "enabled by hint"};
  if (sieve.cost_ns < best.cost_ns)
    return {sieve.method, sieve.cost_ns, "many small pieces with small holes"};
  return best;
}

/// What a hint asks for, or `otherwise` with the reason why that is impossible.
Choice as_asked(Method asked, const Candidates& all, Choice otherwise) {
  const auto* found = std::ranges::find(all, asked, &Candidate::method);
  if (found == all.end())
    otherwise.hint_refused =
        asked == Method::direct ? "there is more than one piece" : "there is one piece only";
  else if (found->refused != nullptr)
    otherwise.hint_refused = found->refused;
  else if (asked != Method::direct)
    return {asked, found->cost_ns, "asked for by the hint tamis_method"};
  return otherwise;
}

}  // namespace

Shape shape_of(const Access& access) {
  Shape shape{.bytes = access.bytes};
  if (access.bytes == 0) return shape;
  shape.ordered = access.file->is_ordered();
  shape.span = shape.ordered ? access.span().length : 0;
  shape.file_blocks = access.file->blocks_in(access.first, access.bytes);
  shape.memory_blocks = access.memory->blocks_in(0, access.bytes);
  return shape;
}

std::array<Candidate, 3> candidates(Direction direction, const Shape& shape, const Hints& hints,
                                    const Capabilities& storage) {
  const std::int64_t window = own_window(direction, hints, storage);
  const bool one_piece = shape.file_blocks == 1 && shape.memory_blocks == 1;
  return {Candidate{one_piece ? Method::direct : Method::list, list_cost(direction, shape, storage),
                    nullptr},
          Candidate{Method::gather, gather_cost(direction, shape, storage, window),
                    one_piece ? "there is nothing to gather" : nullptr},
          Candidate{Method::sieve, sieve_cost(direction, shape, hints, storage),
                    sieve_refused(direction, shape, hints, storage)}};
}

double apart_ns(Method method, const Shape& shape) {
  return method == Method::gather ? walk_cost(shape) : 0;
}

std::int64_t own_window(Direction direction, const Hints& hints, const Capabilities& storage) {
  const bool write = direction == Direction::write;
  const std::int64_t most = write ? hints.ind_wr_buffer_size : hints.ind_rd_buffer_size;
  const double fixed = window_ns(direction, storage);
  std::int64_t window = kCachedWindow;
  while (window < most && static_cast<double>(window) * storage.byte_ns < kWindowWorth * fixed)
    window *= 2;
  return std::min(window, most);
}

Switch sieve_wish(Direction direction, const Hints& hints) {
  if (hints.tamis_method == Method::sieve) return Switch::enable;
  return direction == Direction::write ? hints.romio_ds_write : hints.romio_ds_read;
}

Switch window_sieving(Direction direction, const Hints& hints) {
  return hints.tamis_method == Method::list ? Switch::disable : sieve_wish(direction, hints);
}

Choice choose_method(Direction direction, const Shape& shape, const Hints& hints,
                     const Capabilities& storage) {
  if (shape.bytes == 0) return {Method::nothing, 0, "no bytes"};
  const Candidates all = candidates(direction, shape, hints, storage);
  const Choice best = cheapest(shape, sieve_wish(direction, hints), all);
  return hints.tamis_method ? as_asked(*hints.tamis_method, all, best) : best;
}

}  // namespace tamis
