#pragma once

#include <string_view>

#include "base/result.hpp"
#include "layout/dataloop.hpp"

namespace tamis {

/// Reads the notation of Dataloop::to_string, with lists of any length. Blanks may stand between
/// words. Errc::arg with a note where the text is something else; a shortened text ("...") is.
Result<Dataloop> parse_dataloop(std::string_view text);

}  // namespace tamis
