#pragma once

#include <string>

#include "file/record.hpp"

namespace tamis {

/// The counters of a file as lines for a terminal, each ending with a newline.
std::string counters_text(const FileRecord& record);

/// "write_all by two-phase", "read by sieve".
std::string way_text(const Way& way);

/// A way in the words of documents and of include/tamis/counters.h.
struct WayNames {
  const char* direction;  ///< "read", "write"
  const char* route;      ///< "nothing", "alone", "two_phase"
  const char* method;     ///< "nothing", "direct", "list", "gather", "sieve", "exchange"
};
WayNames names(const Way& way);

}  // namespace tamis
