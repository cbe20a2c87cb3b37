#pragma once

#include <cstddef>
#include <string>

namespace tamis {

/// Reads a regular file of at most `most` bytes into `text`; never waits for another process, as
/// opening a pipe would. The answer is 0 or an errno: EINVAL for what is no regular file, EFBIG for
/// one that is too long.
int read_small_file(const std::string& path, std::size_t most, std::string& text);

}  // namespace tamis
