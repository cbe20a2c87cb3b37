#pragma once

#include <array>
#include <cstdint>

namespace tamis {

/// A number modulo the prime 2^61 - 1: what fingerprints of offsets are made of.
class Residue {
 public:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

  constexpr Residue() = default;
  /// REQUIRES: value < kPrime.
  constexpr explicit Residue(std::uint64_t value) : value_(value) {}
  constexpr std::uint64_t value() const { return value_; }

  friend constexpr Residue operator+(Residue a, Residue b) { return below(a.value_ + b.value_); }
  friend constexpr Residue operator-(Residue a, Residue b) {
    return below(a.value_ + kPrime - b.value_);
  }
  friend constexpr Residue operator*(Residue a, Residue b) {
    // 2^61 is 1 here, so what is above 61 bits is added to what is below.
    const auto wide = static_cast<unsigned __int128>(a.value_) * b.value_;
    return below((static_cast<std::uint64_t>(wide) & kPrime) +
                 static_cast<std::uint64_t>(wide >> 61));
  }
  constexpr Residue& operator+=(Residue other) { return *this = *this + other; }
  constexpr Residue& operator*=(Residue other) { return *this = *this * other; }
  constexpr bool operator==(const Residue&) const = default;

 private:
  static constexpr Residue below(std::uint64_t twice) {
    return Residue(twice >= kPrime ? twice - kPrime : twice);
  }
  std::uint64_t value_ = 0;
};

/// The base of all fingerprints: its powers run through every residue but 0 before they repeat.
inline constexpr Residue kFingerprintBase{0x10db8507f0480ffb};

/// The base to the power of an offset, which may be negative.
Residue power_of(std::int64_t offset);

/// 1 + ratio + ratio^2 + ... of `count` terms, in O(log count).
Residue geometric_sum(Residue ratio, std::int64_t count);

}  // namespace tamis
