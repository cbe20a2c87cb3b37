#include "mpi/node_label.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace tamis {
namespace {

/// FNV-1a: the same on every machine, as std::hash is not.
std::int64_t hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    value *= 1099511628211ULL;
  }
  return static_cast<std::int64_t>(value & std::numeric_limits<std::int64_t>::max());
}

std::string process_namespace() {
  std::array<char, 64> link{};
  const ssize_t length = readlink("/proc/self/ns/pid", link.data(), link.size());
  return length > 0 ? std::string(link.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

std::optional<std::int64_t> node_label() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::string space = process_namespace();
  if (boot.empty() || space.empty()) return std::nullopt;
  return hash(boot + ' ' + space + ' ' + std::to_string(geteuid()));
}

}  // namespace tamis
