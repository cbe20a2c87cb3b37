#include "engine/account.hpp"

#include <algorithm>

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

Outcome Account::transfer_noted(Driver& driver, Direction direction,
                                std::span<const Transfer> batch) const {
  if (batch.empty()) return {};
  const Extent hull = between(batch.front().file.offset, batch.back().file.end());
  const bool is_rest = entry_->rest == Phase::transfer && entry_->sink == nullptr;
  Outcome outcome;
  {
    Span span(is_rest ? nullptr : entry_, Phase::transfer, hull, direction);
    outcome = driver.transfer(direction, batch);
    span.moved(outcome.bytes);
  }
  note_requests(direction, batch, outcome);
  return outcome;
}

void Account::note_transferred(Direction direction, std::span<const Transfer> batch,
                               const Outcome& outcome, std::int64_t begun_ns) const {
  note_requests(direction, batch, outcome);
  if (entry_->sink == nullptr) return;
  const Extent hull = between(batch.front().file.offset, batch.back().file.end());
  entry_->sink->note({.phase = Phase::transfer,
                      .begin_ns = begun_ns,
                      .length_ns = clock_ns() - begun_ns,
                      .file = hull,
                      .direction = direction,
                      .bytes = outcome.bytes});
}

// Where something was not moved any more (an error, the end of the file), the request in which that
// happened was made, and those behind it were not.
void Account::note_requests(Direction direction, std::span<const Transfer> batch,
                            const Outcome& outcome) const {
  entry_->tally.lists += 1;
  for (std::int64_t begun = 0; !batch.empty() && begun <= outcome.bytes;) {
    const std::int64_t offset = batch[0].file.offset;
    const std::int64_t bytes = first_request(batch);
    if (begun == outcome.bytes && begun > 0 && outcome.status.ok()) break;
    note_request(direction, {offset, bytes}, std::min(bytes, outcome.bytes - begun));
    begun += bytes;
  }
}

void Account::note_request(Direction direction, const Extent& asked, std::int64_t moved) const {
  Tally& tally = entry_->tally;
  tally.count_request(direction, asked.length, moved);
  if (entry_->requested_until >= 0 && asked.offset > entry_->requested_until) {
    tally.gaps += 1;
    tally.bytes_gaps += asked.offset - entry_->requested_until;
  }
  entry_->requested_until = asked.end();
}

}  // namespace tamis
