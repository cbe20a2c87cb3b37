#include "layout/residue.hpp"

#include <bit>

namespace tamis {
namespace {

constexpr std::size_t kDigits = 8;
constexpr std::size_t kDigitValues = 256;
using Powers = std::array<std::array<Residue, kDigitValues>, kDigits>;

/// For each byte of an exponent, and each value it may have, what it stands for.
constexpr Powers make_powers() {
  Powers powers;
  Residue step = kFingerprintBase;
  for (std::array<Residue, kDigitValues>& of_digit : powers) {
    of_digit[0] = Residue(1);
    for (std::size_t value = 1; value < kDigitValues; ++value)
      of_digit[value] = of_digit[value - 1] * step;
    step = of_digit[kDigitValues - 1] * step;
  }
  return powers;
}

constexpr Powers kPowers = make_powers();

}  // namespace

Residue power_of(std::int64_t offset) {
  // By Fermat exponents count modulo the prime less one.
  constexpr auto kOrder = static_cast<std::int64_t>(Residue::kPrime - 1);
  auto exponent = static_cast<std::uint64_t>(offset < 0 ? offset % kOrder + kOrder : offset);
  Residue power(1);
  for (const std::array<Residue, kDigitValues>& of_digit : kPowers) {
    if (exponent == 0) break;
    power *= of_digit[exponent % kDigitValues];
    exponent /= kDigitValues;
  }
  return power;
}

Residue geometric_sum(Residue ratio, std::int64_t count) {
  if (count <= 0) return {};
  const auto terms = static_cast<std::uint64_t>(count);
  Residue sum(1);
  Residue power = ratio;  // to the number of terms in the sum
  for (int bit = static_cast<int>(std::bit_width(terms)) - 2; bit >= 0; --bit) {
    sum += sum * power;
    power *= power;
    if ((terms >> bit & 1) == 0) continue;
    sum += power;
    power *= ratio;
  }
  return sum;
}

}  // namespace tamis
