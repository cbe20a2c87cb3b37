#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario.hpp"

namespace tamis::sim {
namespace {

std::byte at(const std::vector<std::byte>& bytes, std::size_t i) {
  return i < bytes.size() ? bytes[i] : std::byte{0};
}

}  // namespace

bool Scenario::faults_since(std::size_t rank) const {
  const std::vector<InjectedFault> all = injectors_[rank]->injected();
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(faults_before_[rank]), all.end(),
                     [](const InjectedFault& fault) { return !fault.status.ok(); });
}

/// Whether this rank's part of an access cannot succeed, whatever the others do.
bool Scenario::fails_alone(std::size_t rank, const TwinAccess& access) const {
  if (faults_since(rank) || !access.request.error.ok()) return true;
  if (access.request.direction == Direction::read) return false;
  for (std::int64_t i = 0; i < access.wanted(); ++i)
    if (views_[rank].offset_of(access.first + i) >= options_.capacity) return true;
  return false;
}

std::string Scenario::check_collective(const char* what, const std::vector<Status>& results,
                                       const std::vector<Status>& mistakes, bool disagree) const {
  bool any = disagree;
  for (std::size_t rank = 0; rank < results.size(); ++rank)
    any = any || faults_since(rank) || !mistakes[rank].ok();
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    if (results[rank].ok() == any)
      return fmt::format("{}: rank {} was told {}", what, rank, results[rank].to_string());
    if (!mistakes[rank].ok() && results[rank].code != mistakes[rank].code)
      return fmt::format("{}: rank {} was not told of its own mistake", what, rank);
  }
  return {};
}

std::string Scenario::check_statuses(const Accesses& accesses, const Outcomes& outcomes,
                                     bool collective) const {
  bool any = false;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank)
    any = any || fails_alone(rank, accesses[rank]);
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const bool expected = collective ? any : fails_alone(rank, accesses[rank]);
    if (expected && outcomes[rank].status.ok())
      return fmt::format("rank {} was told success though something failed", rank);
    if (!expected && !outcomes[rank].status.ok())
      return fmt::format("rank {}: {}", rank, outcomes[rank].status.to_string());
    const std::string wrong = check_code(rank, accesses[rank], outcomes[rank]);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

/// A rank's own mistake is what it hears of; a full disk is called so.
std::string Scenario::check_code(std::size_t rank, const TwinAccess& access,
                                 const Outcome& outcome) const {
  const Status& mistake = access.request.error;
  if (!mistake.ok() && outcome.status.code != mistake.code)
    return fmt::format("rank {} was not told of its own mistake", rank);
  const bool clean = options_.fault_chance == 0 && options_.bad_call_chance == 0;
  if (clean && !outcome.status.ok() && outcome.status.code != Errc::no_space)
    return fmt::format("rank {}: {} instead of a full disk", rank, outcome.status.to_string());
  return {};
}

std::string Scenario::check_pointers(const Accesses& accesses) const {
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    if (accesses[rank].request.explicit_offset) continue;
    const std::int64_t wanted = accesses[rank].first + accesses[rank].wanted();
    if (files_[rank]->position() != wanted)
      return fmt::format("rank {} points to {} instead of {}", rank, files_[rank]->position(),
                         wanted);
  }
  return {};
}

std::string Scenario::check_read(std::size_t rank, const TwinAccess& access,
                                 const Outcome& outcome) const {
  const auto end = static_cast<std::int64_t>(model_.size());
  std::vector<std::byte> expected = access.before;
  std::int64_t there = 0;
  const bool partial = !outcome.status.ok() || options_.short_reads > 0;
  const std::int64_t limit = partial ? std::min(outcome.bytes, access.wanted()) : access.wanted();
  for (; there < limit; ++there) {
    const std::int64_t offset = views_[rank].offset_of(access.first + there);
    if (offset >= end) break;
    expected[static_cast<std::size_t>(access.memory[static_cast<std::size_t>(there)])] =
        model_[static_cast<std::size_t>(offset)];
  }
  if (outcome.bytes != there)
    return fmt::format("rank {} counts {} bytes read instead of {}", rank, outcome.bytes, there);
  for (std::size_t i = 0; i < expected.size() && !partial; ++i)
    if (expected[i] != access.buffer[i])
      return fmt::format("rank {} has a wrong byte at {} of its buffer", rank, i);
  for (std::int64_t i = 0; i < there; ++i) {
    const auto here = static_cast<std::size_t>(access.memory[static_cast<std::size_t>(i)]);
    if (expected[here] != access.buffer[here])
      return fmt::format("rank {} counts byte {} as read, but it is wrong", rank, i);
  }
  return {};
}

std::string Scenario::check_reads(const Accesses& accesses, const Outcomes& outcomes) const {
  bool cut_short = false;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const std::string wrong = check_read(rank, accesses[rank], outcomes[rank]);
    if (!wrong.empty()) return wrong;
    cut_short = cut_short || injectors_[rank]->injected().size() > faults_before_[rank];
  }
  if (options_.short_reads == 0 || cut_short) return {};
  for (std::size_t rank = 0; rank < accesses.size(); ++rank)
    for (std::int64_t i = outcomes[rank].bytes; i < accesses[rank].wanted(); ++i) {
      const auto offset = views_[rank].offset_of(accesses[rank].first + i);
      if (offset >= static_cast<std::int64_t>(model_.size())) break;
      return fmt::format("rank {} counts {} bytes read, but nothing was short", rank,
                         outcomes[rank].bytes);
    }
  return {};
}

/// Puts the leading `count` bytes of an access where they belong.
void Scenario::put(std::vector<std::byte>& bytes, std::size_t rank, const TwinAccess& access,
                   std::int64_t count) const {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto offset = static_cast<std::size_t>(views_[rank].offset_of(access.first + i));
    if (offset >= bytes.size()) bytes.resize(offset + 1);
    bytes[offset] =
        access.before[static_cast<std::size_t>(access.memory[static_cast<std::size_t>(i)])];
  }
}

/// What the rival wrote was there while the ranks wrote: it has to be there still.
void Scenario::take_over_rival() {
  for (const auto& [offset, value] : rival_.end()) {
    const auto place = static_cast<std::size_t>(offset);
    if (place >= model_.size()) model_.resize(place + 1);
    model_[place] = value;
    ++rival_writes_;
  }
}

std::string Scenario::check_writes(const Accesses& accesses, const Outcomes& outcomes) {
  std::vector<std::byte> complete = model_;
  std::vector<std::byte> counted = model_;  // with what ranks say is stored, and no more
  bool failed = false;
  for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
    const TwinAccess& access = accesses[rank];
    const bool called_rightly = access.request.error.ok();
    failed = failed || faults_since(rank) || (called_rightly && fails_alone(rank, access));
    put(complete, rank, access, access.wanted());
    put(counted, rank, access, std::min(outcomes[rank].bytes, access.wanted()));
    if (outcomes[rank].bytes > access.wanted() ||
        (outcomes[rank].status.ok() && outcomes[rank].bytes != access.wanted()))
      return fmt::format("rank {} counts {} bytes written instead of {}", rank,
                         outcomes[rank].bytes, access.wanted());
  }
  const std::vector<std::byte> actual = stored();
  if (!failed && actual != complete) {
    std::size_t i = 0;
    while (i < std::min(actual.size(), complete.size()) && actual[i] == complete[i]) ++i;
    return fmt::format("the file is wrong from byte {} on ({} bytes, should be {})", i,
                       actual.size(), complete.size());
  }
  // After a fault: counted bytes are there, bytes nobody wrote are as before.
  for (std::size_t i = 0; i < std::max(actual.size(), complete.size()); ++i) {
    if (at(counted, i) != at(model_, i) && at(actual, i) != at(counted, i))
      return fmt::format("byte {} is counted as written, but is not there", i);
    if (at(actual, i) != at(model_, i) && at(actual, i) != at(complete, i))
      return fmt::format("byte {} is neither old nor new", i);
  }
  model_ = actual;
  return {};
}

}  // namespace tamis::sim
