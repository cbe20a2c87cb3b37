#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "comm/comm.hpp"

namespace tamis {

/// Memory without a name in any file system, seen by its maker and by processes of the same user
/// and process namespace that are told its SegmentName while the maker lives.
/// Errors: no_memory; unsupported_operation where the system refuses.
Result<std::unique_ptr<Segment>> create_shared_segment(std::int64_t bytes);
Result<std::unique_ptr<Segment>> attach_shared_segment(const SegmentName& name);

}  // namespace tamis
