#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/hints.hpp"

namespace tamis {

/// Hints for the files whose name a pattern fits.
struct PatternHints {
  std::string glob;
  std::vector<HintText> hints;
};

// Everyone's hints for a file, weakest first:
//   1. the site's file: the one ROMIO_HINTS names, else /etc/romio-hints;
//   2. the program's info object;
//   3. TAMIS_HINTS, the user's word for this run. It is the strongest because it is what can be
//      changed without changing the program, as with MPICH_MPIIO_HINTS and PNETCDF_HINTS.
// Every text says its source: "/etc/romio-hints" or "ROMIO_HINTS", "info", "TAMIS_HINTS".
// What is malformed in a source comes along as a text with a `defect`, which apply_hints() ignores
// and names. Besides
// profile_directory() these are the only functions of the library that read the environment.

/// For opening a file.
std::vector<HintText> hint_texts(const std::string& file_name, std::span<const HintText> from_info);

/// For set_view and set_info on an open file: the site's hints have had their say at open and must
/// not undo the program's; the user's word still stands above both.
std::vector<HintText> changed_hint_texts(const std::string& file_name,
                                         std::span<const HintText> from_info);

/// The whole of the site's file and of TAMIS_HINTS, whatever the file, for checking them.
std::vector<HintText> site_hints();
std::vector<PatternHints> user_hints();

/// ROMIO's file format: a line "key value" per hint, # starts a comment.
std::vector<HintText> parse_hint_lines(std::string_view text);

/// "glob:key=value:key=value,glob2:...": Cray's format. A backslash takes the next character as it
/// is (cb_config_list=*\:1).
std::vector<PatternHints> parse_pattern_hints(std::string_view text);

/// The glob matches the file name as given, or its last component without a driver prefix ("ufs:").
/// A * also stands for slashes.
bool glob_matches(const std::string& glob, const std::string& file_name);

}  // namespace tamis
