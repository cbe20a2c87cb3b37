#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace tamis {

/// A number (>= 0) for bytes, FNV-1a: the same on every machine, as std::hash is not.
inline std::int64_t fingerprint(std::span<const std::byte> bytes) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const std::byte byte : bytes) {
    value ^= static_cast<std::uint64_t>(byte);
    value *= 1099511628211ULL;
  }
  return static_cast<std::int64_t>(value & std::numeric_limits<std::int64_t>::max());
}
inline std::int64_t fingerprint(std::string_view text) {
  return fingerprint(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace tamis
