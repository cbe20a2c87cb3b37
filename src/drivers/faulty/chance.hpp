#pragma once

#include <cstddef>
#include <cstdint>

namespace tamis {

/// A sequence of numbers that its seed determines: splitmix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
  }
  bool draw(double probability) {
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

}  // namespace tamis
