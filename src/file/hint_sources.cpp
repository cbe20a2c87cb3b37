#include "file/hint_sources.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

namespace tamis {
namespace {

constexpr const char* kSiteFile = "/etc/romio-hints";
constexpr const char* kSiteVariable = "ROMIO_HINTS";
constexpr const char* kUserVariable = "TAMIS_HINTS";
constexpr const char* kInfo = "info";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kLongestFile = 64 << 10;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The contents, as far as a hint file can sensibly be long; nothing where it cannot be read.
std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kLongestFile> buffer{};
  if (!file) return std::nullopt;
  file.read(buffer.data(), buffer.size());
  if (file.bad() || (file.fail() && !file.eof())) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(file.gcount()));
}

HintText parse_hint_line(std::string_view line) {
  const std::size_t blank = line.find_first_of(kBlanks);
  if (blank == std::string_view::npos) {
    return {std::string(line), {}, "malformed line: wants \"key value\""};
  }
  const std::string_view value = trimmed(line.substr(blank));
  if (value.find_first_of(kBlanks) != std::string_view::npos) {
    return {std::string(line.substr(0, blank)), std::string(value),
            "malformed line: more than one value"};
  }
  return {std::string(line.substr(0, blank)), std::string(value)};
}

/// Splits at a separator that no backslash precedes; backslashes stay in.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == separator) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(text.substr(start));
  return parts;
}

/// Takes every backslash off the character behind it.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

HintText parse_assignment(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return {unescaped(part), {}, "malformed in TAMIS_HINTS: wants key=value"};
  }
  return {unescaped(trimmed(part.substr(0, equals))), unescaped(trimmed(part.substr(equals + 1)))};
}

PatternHints parse_pattern(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  // The pattern keeps its backslashes: fnmatch reads them in the same way.
  PatternHints result{std::string(trimmed(parts.front())), {}};
  if (parts.size() == 1) {
    result.hints.push_back(
        {std::string(text), {}, "malformed in TAMIS_HINTS: wants glob:key=value"});
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    result.hints.push_back(parse_assignment(trimmed(parts[i])));
  }
  return result;
}

std::string_view last_component(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return name.substr(slash == std::string_view::npos ? name.find(':') + 1 : slash + 1);
}

/// Notes who said the texts that do not say it themselves.
void say_source(std::span<HintText> texts, const char* source) {
  for (HintText& text : texts) {
    if (text.source.empty()) text.source = source;
  }
}

void append(std::vector<HintText>& to, std::span<const HintText> more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

std::vector<HintText> parse_hint_lines(std::string_view text) {
  std::vector<HintText> hints;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    const std::string_view content = trimmed(line.substr(0, line.find('#')));
    if (!content.empty()) hints.push_back(parse_hint_line(content));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return hints;
}

std::vector<PatternHints> parse_pattern_hints(std::string_view text) {
  std::vector<PatternHints> patterns;
  for (const std::string_view part : split(text, ',')) {
    if (!trimmed(part).empty()) patterns.push_back(parse_pattern(part));
  }
  return patterns;
}

bool glob_matches(const std::string& glob, const std::string& file_name) {
  const std::string base(last_component(file_name));
  return fnmatch(glob.c_str(), file_name.c_str(), 0) == 0 ||
         fnmatch(glob.c_str(), base.c_str(), 0) == 0;
}

std::vector<HintText> site_hints() {
  const char* named = std::getenv(kSiteVariable);
  const std::string path = named != nullptr ? named : kSiteFile;
  const std::optional<std::string> text = contents_of(path);
  if (!text && named == nullptr) return {};
  std::vector<HintText> hints;
  if (text) {
    hints = parse_hint_lines(*text);
  } else {
    hints.push_back({kSiteVariable, path, "the hint file cannot be read"});
  }
  say_source(hints, named != nullptr ? kSiteVariable : kSiteFile);
  return hints;
}

std::vector<PatternHints> user_hints() {
  const char* text = std::getenv(kUserVariable);
  if (text == nullptr) return {};
  std::vector<PatternHints> patterns = parse_pattern_hints(text);
  for (PatternHints& pattern : patterns) say_source(pattern.hints, kUserVariable);
  return patterns;
}

std::vector<HintText> changed_hint_texts(const std::string& file_name,
                                         std::span<const HintText> from_info) {
  std::vector<HintText> texts(from_info.begin(), from_info.end());
  say_source(texts, kInfo);
  for (const PatternHints& pattern : user_hints()) {
    const bool is_meant = glob_matches(pattern.glob, file_name);
    std::copy_if(pattern.hints.begin(), pattern.hints.end(), std::back_inserter(texts),
                 [&](const HintText& hint) { return is_meant || !hint.defect.empty(); });
  }
  return texts;
}

std::vector<HintText> hint_texts(const std::string& file_name,
                                 std::span<const HintText> from_info) {
  std::vector<HintText> texts = site_hints();
  append(texts, changed_hint_texts(file_name, from_info));
  return texts;
}

}  // namespace tamis
