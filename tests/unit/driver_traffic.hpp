#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "drivers/driver.hpp"

namespace tamis::test {

/// Transfers in all slots of a queue, each in its own part of the file, and what they must come to.
class Traffic {
 public:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::int64_t kPart = 64;  ///< bytes of the file that a slot has to itself
  static constexpr std::int64_t kFileBytes = static_cast<std::int64_t>(kSlots) * kPart;

  Traffic(TransferQueue& queue, std::uint64_t seed)
      : queue_(queue), random_(seed), content_(kFileBytes, '\0') {}

  void run(int transfers) {
    for (started_ = 0; started_ < transfers;) {
      const std::size_t slot = random_() % kSlots;
      if (busy_[slot])
        look(slot);
      else
        start(slot);
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot)
      if (busy_[slot]) end(slot, queue_.wait(slot));
  }
  const std::string& content() const { return content_; }
  const std::vector<Status>& errors() const { return errors_; }
  int started() const { return started_; }

 private:
  void start(std::size_t slot) {
    ++started_;
    busy_[slot] = true;
    direction_[slot] = random_() % 2 == 0 ? Direction::write : Direction::read;
    memory_[slot].assign(kPart, '?');
    for (char& letter : memory_[slot])
      if (direction_[slot] == Direction::write) letter = static_cast<char>('a' + random_() % 26);
    batch_[slot].clear();
    // Some pieces of the part, in ascending order; bytes in memory lie as in the file.
    std::int64_t at = static_cast<std::int64_t>(random_() % 8);
    while (at < kPart) {
      const auto length =
          std::min<std::int64_t>(1 + static_cast<std::int64_t>(random_() % 30), kPart - at);
      batch_[slot].push_back(
          {{begin(slot) + at, length}, reinterpret_cast<std::byte*>(memory_[slot].data() + at)});
      at += length + static_cast<std::int64_t>(random_() % 3) * 7;
    }
    queue_.start(slot, direction_[slot], batch_[slot]);
  }
  void look(std::size_t slot) {
    if (const std::optional<Outcome> outcome = queue_.finished(slot)) end(slot, *outcome);
  }
  /// Holds the leading bytes that were moved against the content, and lets writes change it.
  void end(std::size_t slot, const Outcome& outcome) {
    busy_[slot] = false;
    if (!outcome.status.ok()) errors_.push_back(outcome.status);
    std::int64_t left = outcome.bytes;
    for (const Transfer& piece : batch_[slot]) {
      const std::int64_t bytes = std::min(left, piece.file.length);
      left -= bytes;
      const char* const memory = reinterpret_cast<const char*>(piece.memory);
      char* const there = content_.data() + piece.file.offset;
      if (direction_[slot] == Direction::write) {
        std::copy_n(memory, bytes, there);
        continue;
      }
      EXPECT_EQ(std::string(memory, static_cast<std::size_t>(bytes)),
                std::string(there, static_cast<std::size_t>(bytes)));
      EXPECT_EQ(std::string(memory + bytes, static_cast<std::size_t>(piece.file.length - bytes)),
                std::string(static_cast<std::size_t>(piece.file.length - bytes), '?'));
    }
    EXPECT_EQ(left, 0);
    EXPECT_TRUE(!outcome.status.ok() || outcome.bytes == asked(slot));
  }
  std::int64_t asked(std::size_t slot) const {
    std::int64_t bytes = 0;
    for (const Transfer& piece : batch_[slot]) bytes += piece.file.length;
    return bytes;
  }
  static std::int64_t begin(std::size_t slot) { return static_cast<std::int64_t>(slot) * kPart; }

  TransferQueue& queue_;
  std::mt19937_64 random_;
  std::string content_;
  std::vector<Status> errors_;
  int started_ = 0;
  bool busy_[kSlots] = {};
  Direction direction_[kSlots] = {};
  std::string memory_[kSlots];
  std::vector<Transfer> batch_[kSlots];
};

}  // namespace tamis::test
