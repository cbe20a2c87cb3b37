#pragma once

#include <optional>

#include "drivers/driver.hpp"
#include "plan/async_kind.hpp"

namespace tamis {

/// Whether an aggregator's transfers go on beside its other work, in a queue of the driver.
struct Overlap {
  bool beside = false;
  QueueKind queue = QueueKind::threads;
  const char* reason = "";
};

/// By hint `tamis_async`; none: where a rank would wait for the storage. Where the storage is as
/// fast as memory a transfer is a copy, and a second thread saved no time, on idle cores either.
Overlap choose_overlap(std::optional<AsyncKind> hint, const Capabilities& storage);

}  // namespace tamis
