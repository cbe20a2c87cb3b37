#pragma once

#include <cstdint>
#include <optional>

namespace tamis {

/// A number (>= 0) that is the same for processes that can share memory through /proc: those of one
/// running kernel, one process namespace and one user. Empty where the system does not tell.
std::optional<std::int64_t> node_label();

}  // namespace tamis
