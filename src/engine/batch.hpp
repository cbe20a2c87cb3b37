#pragma once

#include <array>
#include <span>

#include "drivers/driver.hpp"
#include "engine/account.hpp"

namespace tamis {

/// Collects transfers and hands them to the driver in lists, up to the first byte that cannot be
/// moved.
class Batch {
 public:
  Batch(Driver& driver, const Account& account, Direction direction)
      : driver_(driver), account_(account), direction_(direction) {}

  /// False once something went wrong or the file ended: nothing more is taken then.
  bool add(const Extent& file, std::byte* memory) {
    if (stopped_) return false;
    if (filled_ == pieces_.size()) flush();
    pieces_[filled_++] = {file, memory};
    asked_ += file.length;
    return !stopped_;
  }
  Outcome finish() {
    flush();
    return outcome_;
  }

 private:
  void flush() {
    if (filled_ == 0 || stopped_) return;
    const Outcome part = account_.transfer(driver_, direction_, std::span(pieces_).first(filled_));
    outcome_.bytes += part.bytes;
    outcome_.status.keep_first(part.status);
    stopped_ = !part.status.ok() || outcome_.bytes < asked_;
    filled_ = 0;
  }

  Driver& driver_;
  Account account_;
  Direction direction_;
  std::array<Transfer, 64> pieces_;
  std::size_t filled_ = 0;
  std::int64_t asked_ = 0;
  Outcome outcome_;
  bool stopped_ = false;
};

}  // namespace tamis
