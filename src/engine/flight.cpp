#include "engine/flight.hpp"

namespace tamis {

void Flight::begin(const Means& means, Direction direction, const Layout& realm, const Window& part,
                   std::byte* memory) {
  direction_ = direction;
  realm_ = realm;
  part_ = part;
  memory_ = memory;
  outcome_ = {};
  blocks_.emplace(realm_, part.first, part.bytes);
  launch(means);
}

bool Flight::next_list() {
  count_ = 0;
  asked_ = 0;
  while (count_ < kList && blocks_->next(list_[count_].file)) {
    list_[count_].memory = memory_ + outcome_.bytes + asked_;
    asked_ += list_[count_++].file.length;
  }
  return count_ > 0;
}

void Flight::launch(const Means& means) {
  while (next_list()) {
    if (means.queue != nullptr) {
      begun_ns_ = means.account.now();
      under_way_ = true;
      means.queue->start(means.slot, direction_, list());
      return;
    }
    if (!absorb(means.account.transfer(means.driver, direction_, list()))) return;
  }
}

bool Flight::settle(const Means& means) {
  while (under_way_) {
    const std::optional<Outcome> some = means.queue->finished(means.slot);
    if (!some) return false;
    under_way_ = false;
    means.account.transferred(direction_, list(), *some, begun_ns_);
    if (absorb(*some)) launch(means);
  }
  return true;
}

/// Takes over what became of the list; whether all of it was moved.
bool Flight::absorb(const Outcome& some) {
  outcome_.bytes += some.bytes;
  outcome_.status = some.status;
  return some.status.ok() && some.bytes == asked_;
}

}  // namespace tamis
