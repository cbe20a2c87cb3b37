#include "engine/account.hpp"

namespace tamis {
namespace {

/// Bytes of the leading entries that touch in the file: to the storage they are one request.
std::int64_t first_request(std::span<const Transfer>& batch) {
  std::int64_t bytes = batch[0].file.length;
  std::size_t count = 1;
  while (count < batch.size() && batch[count].file.offset == batch[count - 1].file.end())
    bytes += batch[count++].file.length;
  batch = batch.subspan(count);
  return bytes;
}

}  // namespace

// What was not moved any more (an error, the end of the file) was asked for all the same, up to the
// request in which that happened.
Outcome Account::transfer_noted(Driver& driver, Direction direction,
                                std::span<const Transfer> batch) const {
  if (batch.empty()) return {};
  entry_->tally.lists += 1;
  const Extent hull = between(batch.front().file.offset, batch.back().file.end());
  const bool is_rest = entry_->rest == Phase::transfer && entry_->sink == nullptr;
  Outcome outcome;
  {
    const Span span(is_rest ? nullptr : entry_, Phase::transfer, hull, direction);
    outcome = driver.transfer(direction, batch);
  }
  for (std::int64_t begun = 0; !batch.empty() && begun <= outcome.bytes;) {
    const std::int64_t bytes = first_request(batch);
    if (begun == outcome.bytes && begun > 0 && outcome.status.ok()) break;
    entry_->tally.count_request(direction, bytes);
    begun += bytes;
  }
  return outcome;
}

}  // namespace tamis
