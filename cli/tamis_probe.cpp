// Finds out for the `tamis` command what this machine and the storage behind a path can do, through
// the library's own driver and shared memory. JSON on the standard output, for a program.
//
//   tamis-probe storage NAME                     what a file of that name would stand on
//   tamis-probe memory                           memory shared between processes, huge pages
//   tamis-probe costs DIRECTORY SECONDS BYTES    measures; a line of JSON for each step on the way
//   tamis-probe profiles                         where profiles lie
//   tamis-probe profile FILE                     what a profile says, or why it is ignored
//
// Exit code 2: called in another way than that. Whatever else goes wrong is part of the answer.

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probe.hpp"

namespace {

using namespace tamis::probe;

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> carry_out(std::span<char*> words) {
  if (words.empty()) return std::nullopt;
  const std::string_view what = words[0];
  if (what == "storage" && words.size() == 2) return print_storage(words[1]);
  if (what == "memory" && words.size() == 1) return print_memory();
  if (what == "profiles" && words.size() == 1) return print_profile_directory();
  if (what == "profile" && words.size() == 2) return print_profile(words[1]);
  if (what != "costs" || words.size() != 4) return std::nullopt;
  const std::optional<double> seconds = number<double>(words[2]);
  const std::optional<std::int64_t> bytes = number<std::int64_t>(words[3]);
  if (!seconds || !bytes) return std::nullopt;
  return print_costs(words[1], *seconds, *bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error to be told, not a death
  const std::optional<int> code = carry_out({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (!code) fmt::print(stderr, "tamis-probe: see the head of cli/tamis_probe.cpp\n");
  return code.value_or(2);
}
