#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace tamis {

/// Sums and products of 64-bit offsets; empty where the result does not fit.
inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// Narrows an integer. REQUIRES: the value fits; the caller has checked it.
template <typename To, typename From>
constexpr To checked_cast(From value) {
  To narrow = static_cast<To>(value);
  if (!std::in_range<To>(value)) __builtin_trap();
  return narrow;
}

}  // namespace tamis
