#include "abi/calls.hpp"
#include "abi/checks.hpp"
#include "abi/library.hpp"
#include "abi/raise.hpp"
#include "base/attempt.hpp"
#include "comm/task.hpp"
#include "mpi/host.hpp"
#include "mpi/mpi_status.hpp"

namespace tamis::abi {
namespace {

unsigned scope_of(TransferKind kind) {
  return (has(kind, kWriteBit) ? kWrites : kReads) |
         (has(kind, kExplicitBit) ? kExplicit : kPointer);
}

/// The call as the file understands it; with an error and no data where a check fails.
/// HOT PATH.
AccessRequest describe(const Call& call, OpenFile& file) {
  const Result<const Dataloop*> type = attempt([&] { return checked_type(file, call.datatype); });
  Status error = check(scope_of(call.kind), {.amode = file.file->amode(),
                                             .offset = call.offset,
                                             .count = call.count,
                                             .buffer = call.buffer,
                                             .type = type.ok() ? *type : nullptr});
  if (!type.ok()) error.keep_first(type.status());
  const bool fine = error.ok();
  return {.direction = has(call.kind, kWriteBit) ? Direction::write : Direction::read,
          .explicit_offset = has(call.kind, kExplicitBit),
          .offset = call.offset,
          .buffer = static_cast<std::byte*>(const_cast<void*>(call.buffer)),
          .memory = {.loop = fine ? **type : Dataloop(),
                     .displacement = 0,
                     .repeat = fine ? call.count : 0},
          .error = error};
}

Outcome carry_out(const Call& call, File& file, AccessRequest& request) {
  // A failed check must not keep the other ranks of a collective waiting.
  if (has(call.kind, kCollectiveBit)) {
    return complete(file.access_all(std::move(request)), file.comm());
  }
  return file.access(request);
}

}  // namespace

int transfer(const Call& call) {
  OpenFile* file = library().files.find(call.file);
  if (file == nullptr) [[unlikely]] {
    fill_status(call.status, 0);
    return finish_bad_handle(call.name);
  }
  AccessRequest request = describe(call, *file);
  const Outcome outcome = carry_out(call, *file->file, request);
  fill_status(call.status, outcome.bytes);
  return outcome.status.ok() ? MPI_SUCCESS : finish(call.name, call.file, *file, outcome.status);
}

int refuse(const Refusal& refusal) {
  if (refusal.status != nullptr) fill_status(refusal.status, 0);
  if (refusal.request != nullptr) *refusal.request = MPI_REQUEST_NULL;
  OpenFile* file = library().files.find(refusal.file);
  if (file == nullptr) return finish_bad_handle(refusal.name);
  return finish(refusal.name, refusal.file, *file,
                failure(Errc::unsupported_operation, "not supported by Tamis yet"));
}

int refuse_globally(const char* name) {
  return finish_globally(name, failure(Errc::unsupported_operation, "not supported by Tamis yet"));
}

}  // namespace tamis::abi
