#pragma once

#include <string>
#include <string_view>

namespace tamis {

/// What `tamis calibrate` measured on a mounted file system, as far as planning reads it.
struct Profile {
  std::string mount;       ///< absolute path of the mount point
  std::string filesystem;  ///< its type, as the mount table calls it
  std::string date;        ///< of the measurement, UTC: 2026-11-21T15:04:05Z
  double read_ns = 0;      ///< fixed cost of one contiguous read
  double write_ns = 0;
  double read_byte_ns = 0;  ///< cost per byte of a large read
  double write_byte_ns = 0;
  double lock_ns = 0;  ///< taking and giving back an uncontended lock

  /// Plans know one cost per byte. The mean is exact where it counts most: a sieving write reads a
  /// window and writes it back.
  double byte_ns() const { return (read_byte_ns + write_byte_ns) / 2; }

  bool operator==(const Profile&) const = default;
};

/// A text file: "tamis-profile 1", then a line "key value" for each member. Keys that are not known
/// are passed over: they inform people.
std::string format_profile(const Profile& profile);

/// Reads what format_profile wrote into `profile`. Whatever else it is given, the answer says what
/// is wrong with it; empty: all is well. Figures are within bounds no storage leaves.
std::string parse_profile(std::string_view text, Profile& profile);

/// The figures forced into the bounds that parse_profile insists upon.
Profile bounded(Profile profile);

/// The name of the profile's file: every byte of the mount point that is not a letter, a digit,
/// '.',
/// '_' or '-' as %XX.
std::string profile_file_name(std::string_view mount);

}  // namespace tamis
