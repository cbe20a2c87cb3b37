#include "drivers/posix/mounts.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "drivers/posix/small_file.hpp"

namespace tamis {
namespace {

constexpr std::size_t kLongestTable = 16 << 20;

std::string_view next_field(std::string_view& line) {
  const std::size_t length = std::min(line.find(' '), line.size());
  const std::string_view field = line.substr(0, length);
  line.remove_prefix(std::min(length + 1, line.size()));
  return field;
}

bool is_octal(std::string_view digits) {
  return digits.size() == 3 && digits.find_first_not_of("01234567") == std::string_view::npos;
}

/// Blanks, tabs, newlines and backslashes stand in the table as \ and three octal digits.
std::string unescaped(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && is_octal(field.substr(i + 1, 3))) {
      text += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 +
                                (field[i + 3] - '0'));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

bool holds(std::string_view point, std::string_view path) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

/// id, parent, device, root, point, options, any number of tags, "-", type, source, more options.
Mount parse_line(std::string_view line) {
  for (int skipped = 0; skipped < 4; ++skipped) next_field(line);
  Mount mount;
  mount.point = unescaped(next_field(line));
  mount.options = next_field(line);
  while (!line.empty() && next_field(line) != "-") {
  }
  mount.type = next_field(line);
  return mount;
}

}  // namespace

Mount mount_in(std::string_view table, std::string_view path) {
  Mount best;
  while (!table.empty()) {
    const std::size_t length = std::min(table.find('\n'), table.size());
    Mount mount = parse_line(table.substr(0, length));
    table.remove_prefix(std::min(length + 1, table.size()));
    const bool fits = !mount.point.empty() && !mount.type.empty() && holds(mount.point, path);
    if (fits && mount.point.size() >= best.point.size()) best = std::move(mount);
  }
  return best;
}

Mount mount_of(std::string_view path) {
  std::string table;
  if (read_small_file("/proc/self/mountinfo", kLongestTable, table) != 0) return {};
  return mount_in(table, path);
}

std::string path_of(int fd) {
  std::array<char, PATH_MAX> target;
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  return length <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

}  // namespace tamis
