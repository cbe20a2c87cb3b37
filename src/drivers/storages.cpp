#include "drivers/storages.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tamis {
namespace {

enum class Home : std::uint8_t { posix, memory };

struct Prefix {
  std::string_view text;
  Home home;
};

constexpr std::array kPrefixes = {
    Prefix{"ufs:", Home::posix},     Prefix{"nfs:", Home::posix},   Prefix{"xfs:", Home::posix},
    Prefix{"gpfs:", Home::posix},    Prefix{"panfs:", Home::posix}, Prefix{"lustre:", Home::posix},
    Prefix{"memory:", Home::memory},
};

}  // namespace

Result<Storage*> Storages::find(const std::string& name, std::string& path) {
  const auto* prefix = std::ranges::find_if(
      kPrefixes, [&](const Prefix& candidate) { return name.starts_with(candidate.text); });
  const bool found = prefix != kPrefixes.end();
  path = found ? name.substr(prefix->text.size()) : name;
  if (path.empty()) return failure(Errc::bad_file, "the file name is empty");
  if (found && prefix->home == Home::memory) return static_cast<Storage*>(&memory_);
  return static_cast<Storage*>(&posix_);
}

}  // namespace tamis
