#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "tamis/counters.h"

namespace tamis::abi {
namespace {

tamis_counters counters_of(const Tally& tally) {
  return {.calls = tally.calls,
          .errors = tally.errors,
          .bytes_wanted = tally.bytes_wanted,
          .bytes_moved = tally.bytes_moved,
          .pieces = tally.pieces,
          .reads = tally.reads,
          .bytes_read = tally.bytes_read,
          .writes = tally.writes,
          .bytes_written = tally.bytes_written,
          .lists = tally.lists,
          .bytes_resent = tally.bytes_resent,
          .bytes_messages = tally.bytes_messages,
          .bytes_announced = tally.bytes_announced,
          .windows = tally.windows,
          .rewrites = tally.rewrites,
          .bytes_rewritten = tally.bytes_rewritten,
          .gaps = tally.gaps,
          .bytes_gaps = tally.bytes_gaps,
          .locks = tally.locks,
          .total_ns = tally.total_ns,
          .survey_ns = tally.time(Phase::survey),
          .announce_ns = tally.time(Phase::announce),
          .pack_ns = tally.time(Phase::pack),
          .wait_ns = tally.time(Phase::wait),
          .transfer_ns = tally.time(Phase::transfer),
          .lock_ns = tally.time(Phase::lock),
          .agree_ns = tally.time(Phase::agree),
          .memory = tally.memory};
}

int file_counters(MPI_File fh, tamis_counters* counters, std::size_t size) {
  constexpr const char* kCall = "tamis_file_counters";
  OpenFile* file = library().files.find(fh);
  if (file == nullptr) return finish_bad_handle(kCall);
  const Recorder* recorder = file->file->recorder();
  if (counters == nullptr)
    return finish(kCall, fh, *file, failure(Errc::arg, "no place for the counters"));
  if (recorder == nullptr)
    return finish(kCall, fh, *file,
                  failure(Errc::unsupported_operation,
                          "nothing is counted: open the file with tamis_counters=enable"));
  const tamis_counters known = counters_of(recorder->total());
  std::memset(counters, 0, size);
  std::memcpy(counters, &known, std::min(size, sizeof known));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace tamis::abi

TAMIS_EXPORT int tamis_file_counters(MPI_File file, tamis_counters* counters, size_t size) {
  return tamis::abi::guard([&] { return tamis::abi::file_counters(file, counters, size); });
}
