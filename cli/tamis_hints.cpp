// Prints the hint table as JSON for the `tamis` command, so that the table stands in one place.
//
//   tamis-hints [--file NAME] [key=value ...]
//
// Shows each hint with its value as a file of that name would get it (without a name: from no
// pattern of TAMIS_HINTS), who said so, and every hint that was not taken over. `tamis-hints
// --version` prints the version. Output for a program, not for people: exit code 2 is the only
// complaint.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file/hint_sources.hpp"
#include "json.hpp"
#include "plan/hints.hpp"
#include "tamis/version.h"

namespace {

using tamis::HintText;
using tamis::json::joined;
using tamis::json::quoted;

constexpr const char* kCommandLine = "command line";

struct Arguments {
  std::optional<std::string> file;
  std::vector<HintText> checks;
};

/// Hints in force, and for each key that is not the default's who said so last.
struct InForce {
  tamis::Hints hints;
  std::map<std::string, std::string, std::less<>> sources;
  std::vector<tamis::IgnoredHint> ignored;

  void apply(std::span<const HintText> texts) {
    for (const HintText& text : texts) {
      std::vector<tamis::IgnoredHint> refused = apply_hints({&text, 1}, hints);
      if (refused.empty()) sources[text.key] = text.source;
      ignored.insert(ignored.end(), refused.begin(), refused.end());
    }
  }
  std::string source_of(std::string_view key) const {
    const auto found = sources.find(key);
    return found == sources.end() ? "default" : found->second;
  }
};

std::string entry_json(const tamis::HintEntry& entry, const InForce& force) {
  return fmt::format(
      R"({{"key":{},"default":{},"value":{},"source":{},"range":{},"informative":{},"sentence":{}}})",
      quoted(entry.key), quoted(entry.default_value), quoted(entry.print(force.hints)),
      quoted(force.source_of(entry.key)), quoted(entry.range), entry.informative,
      quoted(entry.sentence));
}

std::string ignored_json(const tamis::IgnoredHint& ignored) {
  return fmt::format(R"({{"key":{},"value":{},"source":{},"reason":{}}})", quoted(ignored.hint.key),
                     quoted(ignored.hint.value), quoted(ignored.hint.source),
                     quoted(ignored.reason));
}

HintText assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return {std::string(word), {}, "malformed: wants key=value", kCommandLine};
  }
  return {
      std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)), {}, kCommandLine};
}

std::optional<Arguments> parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word != "--file") {
      arguments.checks.push_back(assignment(word));
    } else if (++i < words.size()) {
      arguments.file = words[i];
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

/// What the patterns of TAMIS_HINTS would have ignored, each tried on its own.
void try_patterns(InForce& force) {
  for (const tamis::PatternHints& pattern : tamis::user_hints()) {
    InForce scratch;
    scratch.apply(pattern.hints);
    force.ignored.insert(force.ignored.end(), scratch.ignored.begin(), scratch.ignored.end());
  }
}

void print_table(const Arguments& arguments) {
  InForce force;
  force.apply(arguments.file ? tamis::hint_texts(*arguments.file, {}) : tamis::site_hints());
  if (!arguments.file) try_patterns(force);
  force.apply(arguments.checks);

  std::vector<std::string> rows;
  for (const tamis::HintEntry& entry : tamis::hint_table())
    rows.push_back(entry_json(entry, force));
  std::vector<std::string> refusals;
  for (const tamis::IgnoredHint& one : force.ignored) refusals.push_back(ignored_json(one));
  fmt::print("{{\n \"hints\": {},\n \"ignored\": {}\n}}\n", joined(rows), joined(refusals));
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words(argv + 1, static_cast<std::size_t>(argc - 1));
  if (!words.empty() && std::string_view(words[0]) == "--version") {
    fmt::print("{}\n", TAMIS_VERSION);
    return 0;
  }
  const std::optional<Arguments> arguments = parse(words);
  if (!arguments) {
    fmt::print(stderr, "tamis-hints: --file wants a name\n");
    return 2;
  }
  print_table(*arguments);
  return 0;
}
