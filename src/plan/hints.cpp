#include "plan/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "plan/config_list.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostRanks = 1 << 24;
constexpr std::string_view kWireMark = "tamis hints 1\n";

// ---- values ----------------------------------------------------------------------------------

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

int shift_of_suffix(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    default:
      return 0;
  }
}

/// "4194304", "4096k", "4M".
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const int shift = text.empty() ? 0 : shift_of_suffix(text.back());
  if (shift != 0) text.remove_suffix(1);
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 0 || *value > (kMostBytes >> shift)) return std::nullopt;
  return *value << shift;
}

template <std::int64_t Hints::*Member, std::int64_t Least>
bool set_bytes(std::string_view text, Hints& hints) {
  const std::optional<std::int64_t> value = parse_bytes(text);
  if (!value || *value < Least) return false;
  hints.*Member = *value;
  return true;
}

template <int Hints::*Member, std::int64_t Most>
bool set_count(std::string_view text, Hints& hints) {
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 0 || *value > Most) return false;
  hints.*Member = static_cast<int>(*value);
  return true;
}

constexpr std::array<std::string_view, 3> kSwitchNames = {"automatic", "enable", "disable"};

template <Switch Hints::*Member>
bool set_switch(std::string_view text, Hints& hints) {
  const auto* found = std::find(kSwitchNames.begin(), kSwitchNames.end(), text);
  if (found == kSwitchNames.end()) return false;
  hints.*Member = static_cast<Switch>(found - kSwitchNames.begin());
  return true;
}

/// One of `Choices`, which have names, or "automatic" for none of them.
template <auto Member, const auto& Choices>
bool set_choice(std::string_view text, Hints& hints) {
  if (text == kSwitchNames[0]) {
    (hints.*Member).reset();
    return true;
  }
  const auto* found = std::ranges::find(Choices, text, [](auto choice) { return name(choice); });
  if (found == Choices.end()) return false;
  hints.*Member = *found;
  return true;
}

template <bool Hints::*Member>
bool set_claim(std::string_view text, Hints& hints) {
  if (text != "true" && text != "false") return false;
  hints.*Member = text == "true";
  return true;
}

/// A list that leaves nobody to aggregate ("*:0") is refused, too.
bool set_config_list(std::string_view text, Hints& hints) {
  const std::optional<std::vector<HostLimit>> limits = parse_config_list(text);
  const auto admits = [](const HostLimit& limit) { return limit.most > 0; };
  if (!limits || std::ranges::none_of(*limits, admits)) return false;
  hints.cb_config_list = text;
  return true;
}

constexpr std::size_t kMostSizes = 1 << 16;

/// "4M,4M,1M"; nothing takes the sizes back.
template <std::vector<std::int64_t> Hints::*Member>
bool set_sizes(std::string_view text, Hints& hints) {
  std::vector<std::int64_t> sizes;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::optional<std::int64_t> size = parse_bytes(text.substr(0, comma));
    if (!size || *size < 1 || sizes.size() == kMostSizes || comma + 1 == text.size()) return false;
    sizes.push_back(*size);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  hints.*Member = std::move(sizes);
  return true;
}

template <std::vector<std::int64_t> Hints::*Member>
std::string print_sizes(const Hints& hints) {
  return fmt::format("{}", fmt::join(hints.*Member, ","));
}

template <auto Member>
std::string print_number(const Hints& hints) {
  return fmt::to_string(hints.*Member);
}

template <Switch Hints::*Member>
std::string print_switch(const Hints& hints) {
  return std::string(kSwitchNames.at(static_cast<std::size_t>(hints.*Member)));
}

template <auto Member>
std::string print_choice(const Hints& hints) {
  return hints.*Member ? name(*(hints.*Member)) : std::string(kSwitchNames[0]);
}

template <bool Hints::*Member>
std::string print_claim(const Hints& hints) {
  return hints.*Member ? "true" : "false";
}

template <std::string Hints::*Member>
std::string print_string(const Hints& hints) {
  return hints.*Member;
}

// ---- the table -------------------------------------------------------------------------------

constexpr std::string_view kSwitchRange = "automatic | enable | disable";
constexpr std::string_view kSomeBytes = "bytes (k, M, G allowed), 1 to 1024G";
constexpr std::string_view kMaybeBytes = "bytes (k, M, G allowed), 0 to 1024G";
constexpr std::string_view kRankCount = "0 to 16777216";

template <std::int64_t Hints::*Member, std::int64_t Least>
constexpr HintEntry bytes_hint(std::string_view key, std::string_view default_value,
                               std::string_view sentence) {
  return {key,
          default_value,
          Least > 0 ? kSomeBytes : kMaybeBytes,
          sentence,
          &set_bytes<Member, Least>,
          &print_number<Member>};
}

template <int Hints::*Member, std::int64_t Most = kMostRanks>
constexpr HintEntry count_hint(std::string_view key, std::string_view range,
                               std::string_view sentence) {
  return {key, "0", range, sentence, &set_count<Member, Most>, &print_number<Member>};
}

template <Switch Hints::*Member>
constexpr HintEntry switch_hint(std::string_view key, std::string_view sentence) {
  return {key, "automatic", kSwitchRange, sentence, &set_switch<Member>, &print_switch<Member>};
}

constexpr std::array kTable = {
    bytes_hint<&Hints::cb_buffer_size, 1>(
        "cb_buffer_size", "16777216",
        "Most staging memory that one aggregator uses for a collective access."),
    count_hint<&Hints::cb_nodes>(
        "cb_nodes", kRankCount,
        "Number of aggregators of a collective access; 0 lets the plan decide."),
    HintEntry{
        "cb_config_list", "*:*", "host[:ranks], comma-separated; * stands for any host, all ranks",
        "How many ranks of which host may aggregate, by the first entry that names it; a host "
        "without a number gives one rank, a host that no entry names gives none.",
        &set_config_list, &print_string<&Hints::cb_config_list>},
    switch_hint<&Hints::romio_cb_read>(
        "romio_cb_read", "Whether collective reads go through aggregators (two-phase I/O)."),
    switch_hint<&Hints::romio_cb_write>(
        "romio_cb_write", "Whether collective writes go through aggregators (two-phase I/O)."),
    HintEntry{"romio_no_indep_rw", "false", "true | false",
              "A promise that the program makes no independent accesses; taken, without effect: "
              "every rank opens the file all the same.",
              &set_claim<&Hints::romio_no_indep_rw>, &print_claim<&Hints::romio_no_indep_rw>},
    switch_hint<&Hints::romio_ds_read>(
        "romio_ds_read", "Whether scattered reads fetch the holes between the pieces (sieving)."),
    switch_hint<&Hints::romio_ds_write>(
        "romio_ds_write",
        "Whether scattered writes read, change and write back whole windows (sieving)."),
    HintEntry{"tamis_method", "automatic", "automatic | direct | list | gather | sieve",
              "How a rank moves its own scattered bytes, where no aggregator does, and by list or "
              "sieve how windows with holes are moved; stronger than romio_ds_*, and taken as "
              "automatic where it is impossible.",
              &set_choice<&Hints::tamis_method, kMethods>, &print_choice<&Hints::tamis_method>},
    bytes_hint<&Hints::ind_rd_buffer_size, 1>(
        "ind_rd_buffer_size", "4194304",
        "Most bytes of a window of an independent sieving or gathering read."),
    bytes_hint<&Hints::ind_wr_buffer_size, 1>(
        "ind_wr_buffer_size", "524288",
        "Most bytes of a window of an independent sieving or gathering write."),
    HintEntry{
        "tamis_realms", "automatic", "automatic | even | balanced | cyclic | persistent",
        "How a collective access deals the file out to the aggregators: in equal parts, in parts "
        "with as many wanted bytes, in blocks in turn, or in such as the first access had.",
        &set_choice<&Hints::tamis_realms, kRealmKinds>, &print_choice<&Hints::tamis_realms>},
    HintEntry{"tamis_realm_sizes", "",
              "bytes (k, M, G allowed), comma-separated, no more than ranks",
              "Deals the file out in parts of these sizes in turn, from byte 0 on, the i-th to the "
              "i-th of as many aggregators; stronger than tamis_realms.",
              &set_sizes<&Hints::tamis_realm_sizes>, &print_sizes<&Hints::tamis_realm_sizes>},
    switch_hint<&Hints::romio_cb_pfr>("romio_cb_pfr",
                                      "enable: tamis_realms=persistent, where that says nothing."),
    bytes_hint<&Hints::romio_cb_fr_alignment, 0>("romio_cb_fr_alignment", "0",
                                                 "Borders between aggregators' parts of the file "
                                                 "are multiples of it; 0 takes the storage's."),
    bytes_hint<&Hints::romio_min_fdomain_size, 0>(
        "romio_min_fdomain_size", "0",
        "Least part of the file that an aggregator owns in a collective access."),
    bytes_hint<&Hints::striping_unit, 0>(
        "striping_unit", "0", "Stripe size the plan aligns to; 0 takes what the storage says."),
    count_hint<&Hints::striping_factor>("striping_factor", kRankCount,
                                        "Number of servers the file is striped over: where more "
                                        "ranks may aggregate, a multiple of it "
                                        "does."),
    bytes_hint<&Hints::tamis_read_ahead, 0>("tamis_read_ahead", "0",
                                            "Bytes that a rank which walks along its view in small "
                                            "independent reads gets at once; 0: what "
                                            "it asks for, and no more."),
    bytes_hint<&Hints::tamis_write_behind, 0>(
        "tamis_write_behind", "0",
        "Bytes of windows that an aggregator keeps from one collective write to the next, to be "
        "stored at sync, close or for want of room; as much again for marks; 0: it keeps none."),
    count_hint<&Hints::tamis_pretend_nodes, 1024>(
        "tamis_pretend_nodes", "0 to 1024",
        "Splits the ranks of every node into this many pretended nodes, for tests; 0 and 1: off."),
    switch_hint<&Hints::tamis_shared_memory>(
        "tamis_shared_memory", "Whether ranks of one node exchange bytes through shared memory."),
    HintEntry{
        "tamis_async", "automatic", "automatic | disable | enable | io_uring",
        "Whether an aggregator's transfers go on beside its other work, in a thread or in the "
        "kernel's queue; automatic: in a thread where the storage is slower than memory.",
        &set_choice<&Hints::tamis_async, kAsyncKinds>, &print_choice<&Hints::tamis_async>},
    switch_hint<&Hints::tamis_locks>(
        "tamis_locks", "Whether read-modify-write windows hold a byte-range lock on the file."),
    switch_hint<&Hints::tamis_counters>("tamis_counters",
                                        "Whether what is done with the file is counted; automatic: "
                                        "where the environment asks for it."),
    HintEntry{"filesystem_type", "", "set by the library",
              "The driver that serves the file, for information.",
              [](std::string_view text, Hints& hints) {
                hints.filesystem_type = text;
                return true;
              },
              &print_string<&Hints::filesystem_type>, true},
};

const HintEntry* find_hint(std::string_view key) {
  const auto* found = std::find_if(kTable.begin(), kTable.end(),
                                   [&](const HintEntry& entry) { return entry.key == key; });
  return found == kTable.end() ? nullptr : found;
}

/// Why the hint was not taken over; empty where it was.
std::string apply_one(const HintText& text, Hints& hints) {
  if (!text.defect.empty()) return text.defect;
  const HintEntry* entry = find_hint(text.key);
  if (entry == nullptr) return "unknown";
  if (entry->informative) return "informative: set by the library";
  if (!entry->parse(text.value, hints)) return fmt::format("malformed: wants {}", entry->range);
  return {};
}

/// Takes "<length>:<length bytes>\n" off the front of `rest`.
std::optional<std::string_view> take_field(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> length = parse_integer(rest.substr(0, colon));
  rest.remove_prefix(colon + 1);
  if (!length || *length < 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(*length);
  if (size >= rest.size() || rest[size] != '\n') return std::nullopt;
  const std::string_view field = rest.substr(0, size);
  rest.remove_prefix(size + 1);
  return field;
}

}  // namespace

std::span<const HintEntry> hint_table() { return kTable; }

std::vector<IgnoredHint> apply_hints(std::span<const HintText> texts, Hints& hints) {
  std::vector<IgnoredHint> ignored;
  for (const HintText& text : texts) {
    std::string reason = apply_one(text, hints);
    if (!reason.empty()) ignored.push_back({text, std::move(reason)});
  }
  return ignored;
}

std::vector<HintText> to_texts(const Hints& hints) {
  std::vector<HintText> texts;
  for (const HintEntry& entry : kTable) {
    std::string value = entry.print(hints);
    if (!value.empty()) texts.push_back({std::string(entry.key), std::move(value)});
  }
  return texts;
}

std::string encode(const Hints& hints) {
  std::string text(kWireMark);
  for (const HintEntry& entry : kTable) {
    const std::string value = entry.print(hints);
    text += fmt::format("{}:{}\n", value.size(), value);
  }
  return text;
}

bool decode(std::string_view text, Hints& hints) {
  if (!text.starts_with(kWireMark)) return false;
  text.remove_prefix(kWireMark.size());
  Hints decoded;
  for (const HintEntry& entry : kTable) {
    const std::optional<std::string_view> value = take_field(text);
    if (!value || !entry.parse(*value, decoded)) return false;
  }
  if (!text.empty()) return false;
  hints = std::move(decoded);
  return true;
}

}  // namespace tamis
