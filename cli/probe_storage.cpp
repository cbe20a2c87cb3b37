#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cstring>
#include <string>
#include <string_view>

#include "drivers/posix/profile_store.hpp"
#include "drivers/posix/small_file.hpp"
#include "json.hpp"
#include "probe.hpp"

namespace tamis::probe {
namespace {

using json::quoted;

/// "ok", or what went wrong; null where it was not tried.
std::string said(const Status& status) { return quoted(status.ok() ? "ok" : status.to_string()); }

/// Whether a lock of one open keeps another one out.
Status try_locks(ScratchFile& file) {
  constexpr Extent kRange{0, 1};
  Result<bool> first = file.plain().try_lock(kRange, LockKind::exclusive);
  if (!first.ok()) return first.status();
  Status status;
  if (file.second() != nullptr) {
    const Result<bool> second = file.second()->try_lock(kRange, LockKind::exclusive);
    status = second.status();
    if (second.ok() && *second)
      status = failure(Errc::io, "two opens of one file hold the same lock at once");
  }
  status.keep_first(file.plain().unlock(kRange));
  return status;
}

Status try_direct(ScratchFile& file) {
  if (file.direct() == nullptr) return file.direct_status();
  Buffer buffer(kAlignment);
  const Transfer transfer{{0, kAlignment}, buffer.data()};
  const Outcome written = file.direct()->transfer(Direction::write, {&transfer, 1});
  if (!written.status.ok()) return written.status;
  return file.direct()->transfer(Direction::read, {&transfer, 1}).status;
}

/// The first write is what a file-size limit or a full disk refuses.
Status try_write(ScratchFile& file) {
  Buffer buffer(kAlignment);
  const Transfer transfer{{0, kAlignment}, buffer.data()};
  return file.plain().transfer(Direction::write, {&transfer, 1}).status;
}

std::string trials_json(ScratchFile& file) {
  if (!file.status().ok()) return fmt::format(R"("create":{})", said(file.status()));
  constexpr std::int64_t kSomeBytes = 1 << 20;
  const Capabilities& storage = file.plain().capabilities();
  const Status written = try_write(file);
  const Status locked = try_locks(file);
  const Status direct = try_direct(file);
  const Status preallocated =
      file.second() != nullptr ? file.second()->preallocate(kSomeBytes) : Status{};
  return fmt::format(
      R"("create":"ok","write":{},"locks":{},"direct":{},"preallocate":{},)"
      R"("block_bytes":{},"stripe_bytes":{},)"
      R"("costs":{{"read_ns":{},"write_ns":{},"byte_ns":{},"lock_ns":{},"source":{}}})",
      said(written), said(locked), said(direct), said(preallocated), storage.block_bytes,
      storage.stripe_bytes, storage.read_ns, storage.write_ns, storage.byte_ns, storage.lock_ns,
      quoted(storage.costs_source));
}

std::string space_json(const std::string& directory) {
  struct statvfs space = {};
  if (statvfs(directory.c_str(), &space) != 0) return R"("space":null)";
  const auto unit = static_cast<std::uint64_t>(space.f_frsize);
  return fmt::format(R"("space":{{"bytes":{},"free_bytes":{},"files":{},"free_files":{}}})",
                     unit * space.f_blocks, unit * space.f_bavail, space.f_files, space.f_favail);
}

std::string profile_json(const std::string& file, const Profile* profile, std::string_view defect) {
  if (profile == nullptr)
    return fmt::format(R"({{"file":{},"defect":{}}})", quoted(file),
                       defect.empty() ? "null" : quoted(defect));
  return fmt::format(
      R"({{"file":{},"defect":null,"mount":{},"filesystem":{},"date":{},"read_ns":{},)"
      R"("write_ns":{},"read_byte_ns":{},"write_byte_ns":{},"lock_ns":{}}})",
      quoted(file), quoted(profile->mount), quoted(profile->filesystem), quoted(profile->date),
      profile->read_ns, profile->write_ns, profile->read_byte_ns, profile->write_byte_ns,
      profile->lock_ns);
}

}  // namespace

int print_storage(const std::string& name) {
  const Place place = place_of(name);
  const std::string head =
      fmt::format(R"("name":{},"driver":{},"directory":{})", quoted(place.name),
                  quoted(place.process_local ? "memory" : "posix"), quoted(place.directory));
  if (place.directory.empty()) {
    const char* error = place.process_local ? "" : strerror(place.error);
    fmt::print("{{{},\"error\":{}}}\n", head, quoted(error));
    return 0;
  }
  const FoundProfile found = find_profile(profile_directory(), place.directory);
  ScratchFile file(place.directory);
  fmt::print(
      "{{{},\"error\":null,\"mount\":{},\"filesystem\":{},\"options\":{},\n {},\n {},\n "
      "\"profile\":{}}}\n",
      head, quoted(place.mount.point), quoted(place.mount.type), quoted(place.mount.options),
      space_json(place.directory), trials_json(file),
      profile_json(found.file, found.profile ? &*found.profile : nullptr, found.defect));
  return 0;
}

int print_profile_directory() {
  fmt::print("{{\"directory\":{}}}\n", quoted(profile_directory()));
  return 0;
}

int print_profile(const std::string& file) {
  constexpr std::size_t kLongest = 64 << 10;
  std::string text;
  Profile profile;
  const int error = read_small_file(file, kLongest, text);
  const std::string defect = error != 0 ? strerror(error) : parse_profile(text, profile);
  fmt::print("{}\n", profile_json(file, defect.empty() ? &profile : nullptr, defect));
  return 0;
}

}  // namespace tamis::probe
