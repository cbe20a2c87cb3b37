#include "base/status.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace tamis {
namespace {

constexpr std::array kNames = {"OK",
                               "ARG",
                               "COUNT",
                               "TYPE",
                               "BUFFER",
                               "COMM",
                               "INFO",
                               "AMODE",
                               "FILE",
                               "NOT_SAME",
                               "UNSUPPORTED_DATAREP",
                               "UNSUPPORTED_OPERATION",
                               "BAD_FILE",
                               "NO_SUCH_FILE",
                               "FILE_EXISTS",
                               "FILE_IN_USE",
                               "READ_ONLY",
                               "ACCESS",
                               "NO_MEM",
                               "QUOTA",
                               "NO_SPACE",
                               "IO",
                               "INTERN"};
static_assert(kNames.size() == static_cast<std::size_t>(Errc::internal) + 1);

}  // namespace

const char* name(Errc code) { return kNames.at(static_cast<std::size_t>(code)); }

std::string Status::to_string() const {
  std::string text = name(code);
  if (note != nullptr) text += fmt::format(": {}", note);
  if (os_error != 0) {
    std::array<char, 128> buffer{};
    text += fmt::format(": {}", strerror_r(os_error, buffer.data(), buffer.size()));
  }
  if (offset >= 0) text += fmt::format(" at byte {}", offset);
  if (rank >= 0) text += fmt::format(" (rank {})", rank);
  return text;
}

}  // namespace tamis
