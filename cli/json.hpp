#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace tamis::json {

/// A string with its quotes. Bytes beyond ASCII go out as they are: a path need not be UTF-8, and
/// the reader replaces what is not.
inline std::string quoted(std::string_view text) {
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

/// An array of values that are JSON already, one on a line.
inline std::string joined(const std::vector<std::string>& items) {
  return fmt::format("[\n  {}\n ]", fmt::join(items, ",\n  "));
}

}  // namespace tamis::json
