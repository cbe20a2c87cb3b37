#include "base/tally.hpp"

#include <algorithm>
#include <bit>

namespace tamis {
namespace {

constexpr std::array kFields = {
    TallyField{"calls", &Tally::calls},
    TallyField{"errors", &Tally::errors},
    TallyField{"bytes_wanted", &Tally::bytes_wanted},
    TallyField{"bytes_moved", &Tally::bytes_moved},
    TallyField{"pieces", &Tally::pieces},
    TallyField{"reads", &Tally::reads},
    TallyField{"bytes_read", &Tally::bytes_read},
    TallyField{"writes", &Tally::writes},
    TallyField{"bytes_written", &Tally::bytes_written},
    TallyField{"lists", &Tally::lists},
    TallyField{"bytes_resent", &Tally::bytes_resent},
    TallyField{"bytes_messages", &Tally::bytes_messages},
    TallyField{"bytes_announced", &Tally::bytes_announced},
    TallyField{"windows", &Tally::windows},
    TallyField{"aggregators", &Tally::aggregators},
    TallyField{"windows_listed", &Tally::windows_listed},
    TallyField{"rewrites", &Tally::rewrites},
    TallyField{"bytes_rewritten", &Tally::bytes_rewritten},
    TallyField{"gaps", &Tally::gaps},
    TallyField{"bytes_gaps", &Tally::bytes_gaps},
    TallyField{"locks", &Tally::locks},
    TallyField{"total_ns", &Tally::total_ns},
};

/// Place of a request among the sizes: 8 to 15 bytes and less come first.
std::size_t size_class(std::int64_t bytes) {
  constexpr int kFirstBit = 4;  // of 15
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
  return std::min(static_cast<std::size_t>(std::max(bits - kFirstBit, 0)), Tally::kSizes - 1);
}

}  // namespace

const char* name(Phase phase) {
  constexpr std::array<const char*, kPhases> names = {"survey",   "announce", "pack", "wait",
                                                      "transfer", "lock",     "agree"};
  return names[static_cast<std::size_t>(phase)];
}

void Tally::add(const Tally& other) {
  for (const TallyField& field : kFields) this->*field.sum += other.*field.sum;
  for (std::size_t direction = 0; direction < request_sizes.size(); ++direction)
    for (std::size_t i = 0; i < kSizes; ++i)
      request_sizes[direction][i] += other.request_sizes[direction][i];
  for (std::size_t i = 0; i < kPhases; ++i) phase_ns[i] += other.phase_ns[i];
  slowest_ns = std::max(slowest_ns, other.slowest_ns);
  memory = std::max(memory, other.memory);
}

void Tally::count_request(Direction direction, std::int64_t asked, std::int64_t moved) {
  const bool write = direction == Direction::write;
  (write ? writes : reads) += 1;
  (write ? bytes_written : bytes_read) += moved;
  request_sizes[static_cast<std::size_t>(direction)][size_class(asked)] += 1;
}

std::span<const TallyField> tally_fields() { return kFields; }

}  // namespace tamis
