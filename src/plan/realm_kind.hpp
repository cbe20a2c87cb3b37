#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tamis {

/// How the file is dealt out to the aggregators.
enum class RealmKind : std::uint8_t {
  even,        ///< equal parts of what is accessed (Thakur, Gropp, Lusk 1999, section 4.1)
  balanced,    ///< parts of it in which about as much is wanted
  cyclic,      ///< blocks of the file in turn, from its first byte on
  persistent,  ///< the same, with blocks as the first access had them (Coloma et al. 2006)
  given,       ///< any layouts, by the user
};

/// Those that a hint may name.
inline constexpr std::array kRealmKinds = {RealmKind::even, RealmKind::balanced, RealmKind::cyclic,
                                           RealmKind::persistent};

inline const char* name(RealmKind kind) {
  constexpr std::array names = {"even", "balanced", "cyclic", "persistent", "given"};
  return names.at(static_cast<std::size_t>(kind));
}

/// Realms are parts of what is accessed, so there may be as many as pay. Others are what they are
/// whatever is accessed.
constexpr bool cuts_the_access(RealmKind kind) {
  return kind == RealmKind::even || kind == RealmKind::balanced;
}

}  // namespace tamis
