#include "engine/alone.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "engine/batch.hpp"
#include "layout/pack.hpp"

namespace tamis {
namespace {

/// One layout's stream block by block, taken from the runs a cursor yields.
class Blocks {
 public:
  Blocks(const Layout& layout, std::int64_t position, std::int64_t bytes)
      : cursor_(layout, position), left_(bytes) {}

  bool empty() const { return left_ == 0; }
  /// The unread rest of the current block. REQUIRES: !empty().
  Extent front() {
    if (run_.count == 0) {
      run_ = cursor_.next(left_);
      done_ = 0;
    }
    return {run_.offset + done_, run_.block - done_};
  }
  void pop(std::int64_t bytes) {
    left_ -= bytes;
    done_ += bytes;
    if (done_ < run_.block) return;
    run_.offset += run_.stride;
    run_.count -= 1;
    done_ = 0;
  }

 private:
  Cursor cursor_;
  std::int64_t left_;
  Run run_{0, 0, 0, 0};
  std::int64_t done_ = 0;
};

// Direct and list I/O: runs are moved where they are, without a copy.
Outcome move_runs(const Access& access, const Means& means) {
  Blocks file(*access.file, access.first, access.bytes);
  Blocks memory(*access.memory, 0, access.bytes);
  Batch batch(means.driver, means.account, access.direction);
  while (!file.empty()) {
    const Extent there = file.front();
    const Extent here = memory.front();
    const std::int64_t bytes = std::min(there.length, here.length);
    if (!batch.add({there.offset, bytes}, access.buffer + here.offset)) break;
    file.pop(bytes);
    memory.pop(bytes);
  }
  return batch.finish();
}

/// Copies `bytes` of the access's memory stream from `done` on to or from a contiguous buffer.
void pack(const Access& access, std::int64_t done, std::byte* buffer, std::int64_t bytes,
          const Account& account) {
  const auto span = account.time(Phase::pack);
  const Layout flat = Layout::contiguous(bytes);
  Cursor packed(flat);
  Cursor memory(*access.memory, done);
  if (access.direction == Direction::write)
    copy_stream(packed, buffer, memory, access.buffer, bytes);
  else
    copy_stream(memory, access.buffer, packed, buffer, bytes);
}

Outcome move_chunk(const Access& access, std::int64_t done, std::int64_t bytes, std::byte* buffer,
                   const Means& means) {
  Blocks file(*access.file, access.first + done, bytes);
  Batch batch(means.driver, means.account, access.direction);
  std::byte* next = buffer;
  while (!file.empty()) {
    const Extent there = file.front();
    if (!batch.add(there, next)) break;
    next += there.length;
    file.pop(there.length);
  }
  return batch.finish();
}

/// As large as the hint allows, and no larger than what can be of use; powers of two, so that
/// accesses of different sizes use one buffer again.
std::int64_t buffer_bytes(const Access& access, std::int64_t useful, const Means& means) {
  const std::int64_t most = own_window(access.direction, means.hints, means.storage);
  if (useful > most / 2) return most;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(useful)));
}

Outcome move_gathered(const Access& access, const Means& means) {
  const std::int64_t room = buffer_bytes(access, access.bytes, means);
  Scratch::Loan buffer = means.scratch.take(room);
  means.account.holds(room);
  Outcome outcome;
  while (outcome.bytes < access.bytes) {
    const std::int64_t bytes = std::min(room, access.bytes - outcome.bytes);
    if (access.direction == Direction::write)
      pack(access, outcome.bytes, buffer.data(), bytes, means.account);
    const Outcome part = move_chunk(access, outcome.bytes, bytes, buffer.data(), means);
    if (access.direction == Direction::read && part.bytes > 0)
      pack(access, outcome.bytes, buffer.data(), part.bytes, means.account);
    outcome.bytes += part.bytes;
    outcome.status = part.status;
    if (part.bytes < bytes || !part.status.ok()) break;
  }
  return outcome;
}

/// A stretch of the file that is sieved at once, and the part of the access inside it.
struct SieveWindow {
  Extent file;             ///< begins and ends with a wanted byte
  std::int64_t done = 0;   ///< bytes of the access before it
  std::int64_t bytes = 0;  ///< bytes of the access in it
};

SieveWindow next_window(const Access& access, std::int64_t done, std::int64_t room) {
  const std::int64_t here = access.first + done;
  const std::int64_t begin = access.file->offset_of(here);
  // Near the highest offset there may be less than a window.
  const std::int64_t limit =
      begin + std::min(room, std::numeric_limits<std::int64_t>::max() - begin);
  const std::int64_t end_position =
      std::min(access.file->position_of(limit), access.first + access.bytes);
  const std::int64_t end = access.file->offset_of(end_position - 1) + 1;
  return {between(begin, end), done, end_position - here};
}

/// Moves the window's bytes between the user's memory and the buffer that holds the window.
void sift(const Access& access, const SieveWindow& window, std::byte* buffer, std::int64_t bytes,
          const Account& account) {
  const auto span = account.time(Phase::pack);
  Layout shifted = *access.file;
  shifted.displacement -= window.file.offset;
  Cursor file(shifted, access.first + window.done);
  Cursor memory(*access.memory, window.done);
  if (access.direction == Direction::write)
    copy_stream(file, buffer, memory, access.buffer, bytes);
  else
    copy_stream(memory, access.buffer, file, buffer, bytes);
}

Outcome read_sieved(const Access& access, const SieveWindow& window, std::byte* buffer,
                    const Means& means) {
  const Transfer whole{window.file, buffer};
  const Outcome got = means.account.transfer(means.driver, Direction::read, {&whole, 1});
  const std::int64_t valid_until = window.file.offset + got.bytes;
  const std::int64_t bytes =
      std::min(window.bytes, access.file->position_of(valid_until) - (access.first + window.done));
  if (bytes > 0) sift(access, window, buffer, bytes, means.account);
  return {std::max<std::int64_t>(bytes, 0), got.status};
}

/// What was stored of a window, in bytes of the access.
Outcome write_window(const Access& access, const SieveWindow& window, std::byte* buffer,
                     const Means& means) {
  sift(access, window, buffer, window.bytes, means.account);
  const Transfer whole{window.file, buffer};
  const Outcome put = means.account.transfer(means.driver, Direction::write, {&whole, 1});
  if (put.status.ok()) return {window.bytes, {}};
  const std::int64_t stored = access.file->position_of(window.file.offset + put.bytes);
  return {stored - (access.first + window.done), put.status};
}

/// Puts what is stored in the window into the buffer; zeros beyond the end of the file.
Status prefill(const SieveWindow& window, std::byte* buffer, const Means& means) {
  const Transfer whole{window.file, buffer};
  const Outcome before = means.account.transfer(means.driver, Direction::read, {&whole, 1});
  if (!before.status.ok()) return before.status;
  means.account.count(&Tally::rewrites);
  means.account.count(&Tally::bytes_rewritten, before.bytes);
  std::memset(buffer + before.bytes, 0,
              static_cast<std::size_t>(window.file.length - before.bytes));
  return {};
}

/// Read-modify-write of one window, locked so that nobody's bytes in the holes are lost meanwhile.
/// A window without holes is locked as well: another rank may be in the middle of a
/// read-modify-write around it.
Outcome write_sieved(const Access& access, const SieveWindow& window, std::byte* buffer,
                     const Means& means) {
  const bool lock = !means.locked && means.hints.tamis_locks != Switch::disable;
  RangeLock held =
      means.account.lock(means.driver, window.file, lock ? LockKind::exclusive : LockKind::none);
  Outcome outcome{0, held.status()};
  const bool holes = window.bytes < window.file.length;
  if (outcome.status.ok() && holes) outcome.status = prefill(window, buffer, means);
  if (outcome.status.ok()) outcome = write_window(access, window, buffer, means);
  held.release();
  outcome.status.keep_first(held.status());
  return outcome;
}

Outcome move_sieved(const Access& access, const Means& means) {
  const std::int64_t room = buffer_bytes(access, access.span().length, means);
  Scratch::Loan buffer = means.scratch.take(room);
  means.account.holds(room);
  Outcome outcome;
  while (outcome.bytes < access.bytes) {
    const SieveWindow window = next_window(access, outcome.bytes, room);
    means.account.count(&Tally::windows);
    const Outcome part = access.direction == Direction::write
                             ? write_sieved(access, window, buffer.data(), means)
                             : read_sieved(access, window, buffer.data(), means);
    outcome.bytes += part.bytes;
    outcome.status = part.status;
    if (part.bytes < window.bytes || !part.status.ok()) break;
  }
  return outcome;
}

}  // namespace

Outcome move_alone(const Access& access, Method method, const Means& means) {
  switch (method) {
    case Method::direct:
    case Method::list:
      return move_runs(access, means);
    case Method::gather:
      return move_gathered(access, means);
    case Method::sieve:
      return move_sieved(access, means);
    case Method::nothing:
    case Method::whole:  // of windows of collective accesses only
    case Method::ahead:
      break;
  }
  return {};
}

}  // namespace tamis
