// Prints the hint table as JSON for the `tamis` command, so that the table stands in one place.
//
//   tamis-hints [--file NAME] [key=value ...]
//
// Shows each hint with its value as a file of that name would get it (without a name: from no
// pattern of TAMIS_HINTS), and every hint that was not taken over. `tamis-hints --version` prints
// the version. Output for a program, not for people: exit code 2 is the only complaint.

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file/hint_sources.hpp"
#include "plan/hints.hpp"
#include "tamis/version.h"

namespace {

using tamis::HintText;

struct Arguments {
  std::optional<std::string> file;
  std::vector<HintText> checks;
};

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string entry_json(const tamis::HintEntry& entry, const tamis::Hints& hints) {
  return fmt::format(
      R"({{"key":{},"default":{},"value":{},"range":{},"informative":{},"sentence":{}}})",
      quoted(entry.key), quoted(entry.default_value), quoted(entry.print(hints)),
      quoted(entry.range), entry.informative, quoted(entry.sentence));
}

std::string ignored_json(const tamis::IgnoredHint& ignored) {
  return fmt::format(R"({{"key":{},"value":{},"reason":{}}})", quoted(ignored.hint.key),
                     quoted(ignored.hint.value), quoted(ignored.reason));
}

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("[\n  {}\n ]", fmt::join(items, ",\n  "));
}

HintText assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return {std::string(word), {}, "malformed: wants key=value"};
  }
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
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
std::vector<tamis::IgnoredHint> ignored_of_patterns() {
  std::vector<tamis::IgnoredHint> ignored;
  for (const tamis::PatternHints& pattern : tamis::user_hints()) {
    tamis::Hints scratch;
    for (tamis::IgnoredHint& one : apply_hints(pattern.hints, scratch))
      ignored.push_back(std::move(one));
  }
  return ignored;
}

void print_table(const Arguments& arguments) {
  tamis::Hints hints;
  std::vector<HintText> texts =
      arguments.file ? tamis::hint_texts(*arguments.file, {}) : tamis::site_hints();
  std::vector<tamis::IgnoredHint> ignored = apply_hints(texts, hints);
  if (!arguments.file) {
    for (tamis::IgnoredHint& one : ignored_of_patterns()) ignored.push_back(std::move(one));
  }
  for (tamis::IgnoredHint& one : apply_hints(arguments.checks, hints))
    ignored.push_back(std::move(one));

  std::vector<std::string> rows;
  for (const tamis::HintEntry& entry : tamis::hint_table())
    rows.push_back(entry_json(entry, hints));
  std::vector<std::string> refusals;
  for (const tamis::IgnoredHint& one : ignored) refusals.push_back(ignored_json(one));
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
