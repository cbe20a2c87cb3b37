#pragma once

#include <string>
#include <vector>

#include "plan/strategy.hpp"

namespace tamis {

// File realms in plain words, line by line.

/// Who has which part of the file, where the borders are and why, and how evenly the wanted bytes
/// are shared out. REQUIRES: realms.count() > 0.
std::vector<std::string> realms_text(const Survey& survey, const Circumstances& circumstances,
                                     const FileRealms& realms);

/// Why realms that a user gave cannot serve an access. `error` is what decide said.
std::vector<std::string> refusal_text(const Circumstances& circumstances, const Status& error);

}  // namespace tamis
