#include "drivers/posix/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace tamis {
namespace {

constexpr std::string_view kFirstLine = "tamis-profile 1";
constexpr std::size_t kLongestText = 4096;

struct Figure {
  std::string_view key;
  double Profile::*value;
  double least;
  double most;
};
// Far outside of what storage does, and near enough that no sum of costs overflows.
constexpr std::array kFigures = {
    Figure{"read_ns", &Profile::read_ns, 1, 1e9},
    Figure{"write_ns", &Profile::write_ns, 1, 1e9},
    Figure{"read_byte_ns", &Profile::read_byte_ns, 1e-4, 1e5},
    Figure{"write_byte_ns", &Profile::write_byte_ns, 1e-4, 1e5},
    Figure{"lock_ns", &Profile::lock_ns, 1, 1e10},
};

struct Text {
  std::string_view key;
  std::string Profile::*value;
};
constexpr std::array kTexts = {
    Text{"mount", &Profile::mount},
    Text{"filesystem", &Profile::filesystem},
    Text{"date", &Profile::date},
};

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  for (const char c : text) {
    if (is_plain(c) || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = text[0] == '%' ? 3 : 1;
    if (text.size() < length) return std::nullopt;
    if (length == 1) {
      result += text[0];
    } else {
      std::uint8_t byte = 0;
      const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
      if (error != std::errc() || end != text.data() + 3) return std::nullopt;
      result += static_cast<char>(byte);
    }
    text.remove_prefix(length);
  }
  return result;
}

/// One line, taken off the text without its end.
std::string_view next_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

std::string read_figure(const Figure& figure, std::string_view value, Profile& profile) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    return fmt::format("{} is not a number", figure.key);
  // Written so that it refuses what is not a number, too.
  if (!(number >= figure.least && number <= figure.most))
    return fmt::format("{} is not between {:g} and {:g}", figure.key, figure.least, figure.most);
  profile.*figure.value = number;
  return {};
}

std::string read_text(const Text& text, std::string_view value, Profile& profile) {
  const std::optional<std::string> content = unescaped(value);
  if (!content || content->empty() || content->size() > kLongestText)
    return fmt::format("{} is malformed", text.key);
  profile.*text.value = *content;
  return {};
}

/// Applies one line; `seen` has a flag for each figure and then for each text.
std::string read_line(std::string_view line, Profile& profile, std::span<bool> seen) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return "a line is not \"key value\"";
  const std::string_view key = line.substr(0, blank);
  const std::string_view value = line.substr(blank + 1);
  const auto* figure = std::ranges::find(kFigures, key, &Figure::key);
  const auto* text = std::ranges::find(kTexts, key, &Text::key);
  if (figure == kFigures.end() && text == kTexts.end()) return {};
  const auto place = static_cast<std::size_t>(figure != kFigures.end()
                                                  ? figure - kFigures.begin()
                                                  : std::ssize(kFigures) + (text - kTexts.begin()));
  if (seen[place]) return fmt::format("{} stands there twice", key);
  seen[place] = true;
  return figure != kFigures.end() ? read_figure(*figure, value, profile)
                                  : read_text(*text, value, profile);
}

}  // namespace

std::string format_profile(const Profile& profile) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const Text& entry : kTexts)
    text += fmt::format("{} {}\n", entry.key, escaped(profile.*entry.value, "/:"));
  for (const Figure& figure : kFigures)
    text += fmt::format("{} {}\n", figure.key, profile.*figure.value);
  return text;
}

std::string parse_profile(std::string_view text, Profile& profile) {
  if (next_line(text) != kFirstLine) return fmt::format("its first line is not \"{}\"", kFirstLine);
  Profile result;
  std::array<bool, kFigures.size() + kTexts.size()> seen{};
  while (!text.empty()) {
    std::string defect = read_line(next_line(text), result, seen);
    if (!defect.empty()) return defect;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen.at(i)) continue;
    const bool figure = i < kFigures.size();
    return fmt::format("{} is missing",
                       figure ? kFigures.at(i).key : kTexts.at(i - kFigures.size()).key);
  }
  profile = std::move(result);
  return {};
}

Profile bounded(Profile profile) {
  for (const Figure& figure : kFigures) {
    double& value = profile.*figure.value;
    value = value > figure.least ? std::min(value, figure.most) : figure.least;
  }
  return profile;
}

std::string profile_file_name(std::string_view mount) { return escaped(mount, "") + ".profile"; }

}  // namespace tamis
