#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace tamis {

/// What a failed system call was about: some errors mean another thing for a file's name than for
/// the bytes of an open file.
enum class Subject : std::uint8_t { name, data };

/// The one place where errno becomes an Errc. `offset` is the byte that failed, -1 for none.
Status from_errno(int error, Subject subject, std::int64_t offset = -1);

}  // namespace tamis
