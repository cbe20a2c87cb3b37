#pragma once

#include <array>
#include <optional>

#include "drivers/driver.hpp"
#include "engine/account.hpp"
#include "layout/cursor.hpp"
#include "plan/realms.hpp"

namespace tamis {

/// A transfer of part of a realm between contiguous memory and the file, in lists of the realm's
/// blocks, up to the first byte that cannot be moved. With a queue it goes on beside the rank's
/// other work; without one it has ended when begin() returns.
class Flight {
 public:
  /// Where transfers go, and who hears of them.
  struct Means {
    Driver& driver;
    TransferQueue* queue;  ///< null: none
    std::size_t slot;      ///< in it
    Account account;
  };

  /// REQUIRES: the last one was settled.
  void begin(const Means& means, Direction direction, const Layout& realm, const Window& part,
             std::byte* memory);
  /// Whether nothing is under way any more; takes the next list up where one has ended. Never
  /// waits.
  bool settle(const Means& means);

  /// As if nothing had been begun. REQUIRES: it was settled.
  void clear() {
    part_ = {};
    outcome_ = {};
  }

  const Window& part() const { return part_; }
  /// Bytes moved so far, and the error that ended it.
  const Outcome& outcome() const { return outcome_; }

 private:
  // Blocks of a realm in one call of the driver.
  static constexpr std::size_t kList = 64;

  bool next_list();
  void launch(const Means& means);
  bool absorb(const Outcome& some);
  std::span<const Transfer> list() const { return std::span(list_).first(count_); }

  Direction direction_ = Direction::read;
  Layout realm_;
  Window part_;
  std::byte* memory_ = nullptr;
  std::optional<Blocks> blocks_;  // of realm_, not yet in a list
  std::array<Transfer, kList> list_;
  std::size_t count_ = 0;
  std::int64_t asked_ = 0;  // bytes of the list
  std::int64_t begun_ns_ = 0;
  bool under_way_ = false;
  Outcome outcome_;
};

}  // namespace tamis
