#include "plan/overlap.hpp"

#include <algorithm>

namespace tamis {
namespace {

// Storage in memory copies faster and answers sooner than this on any machine; what is slower has
// a network or a device behind it, and a rank that asks it sleeps.
constexpr double kSlowestCopyNs = 0.4;     // per byte
constexpr double kSlowestAnswerNs = 20e3;  // of a transfer's fixed cost

bool lets_wait(const Capabilities& storage) {
  return storage.byte_ns > kSlowestCopyNs ||
         std::max(storage.read_ns, storage.write_ns) > kSlowestAnswerNs;
}

}  // namespace

Overlap choose_overlap(std::optional<AsyncKind> hint, const Capabilities& storage) {
  if (hint == AsyncKind::disable) return {.reason = "tamis_async=disable"};
  if (hint == AsyncKind::enable) return {.beside = true, .reason = "tamis_async=enable"};
  if (hint == AsyncKind::io_uring)
    return {.beside = true, .queue = QueueKind::ring, .reason = "tamis_async=io_uring"};
  if (lets_wait(storage)) return {.beside = true, .reason = "the storage is slower than memory"};
  return {.reason = "the storage is as fast as memory"};
}

}  // namespace tamis
