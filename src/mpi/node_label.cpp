#include "mpi/node_label.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "base/fingerprint.hpp"

namespace tamis {
namespace {

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
  return fingerprint(boot + ' ' + space + ' ' + std::to_string(geteuid()));
}

}  // namespace tamis
