#include "file/file.hpp"

#include <functional>
#include <limits>

#include "base/attempt.hpp"
#include "base/checked.hpp"
#include "base/fingerprint.hpp"
#include "file/agreements.hpp"
#include "file/shared_hints.hpp"

namespace tamis {
namespace {

/// True where every byte of the stream up to `end` has an offset that fits into 64 bits
/// (offset_of saturates). REQUIRES: the layout holds data.
bool offsets_fit(const Layout& layout, std::int64_t end) {
  return end == 0 || layout.offset_of(end - 1) < std::numeric_limits<std::int64_t>::max();
}

}  // namespace

Task<Status> File::close() {
  // Nobody gives up what protects the others' writes, deletes or reopens the file before all ranks
  // are done with it.
  Status status = co_await agree_status(*team_, {});
  if (engine_->keeps()) status.keep_first(co_await engine_->store_kept());
  if (recorder_ != nullptr) co_await keep_record();
  status.keep_first(driver_->close());
  status = co_await agree_status(*team_, status);
  if ((amode_ & kDeleteOnClose) != 0) {
    Status removed;
    if (team_->rank() == 0) removed = attempt([&] { return storage_->remove(path_); });
    removed = co_await agree_status(*team_, removed);
    status.keep_first(removed);
  }
  co_return status;
}

// What cannot be recorded is no error of the program's.
Task<bool> File::keep_record() {
  FileRecord record;
  const Circumstances& plan = engine_->plan();
  static_cast<void>(attempt([&] {
    record.name = name_;
    record.path = path_;
    record.hints = hints_;
    record.hint_sources = hint_sources_;
    record.storage = plan.storage;
    record.aggregators = plan.aggregators;
    if (team_->rank() == 0) record.filesystem = driver_->filesystem();
    return Status{};
  }));
  record.amode = amode_;
  record.ranks = team_->size();
  record.nodes = team_->topology().node_count();
  record.cores = plan.cores;
  record.window_bytes = plan.window_bytes;
  record.opened_ns = recorder_->opened_ns();
  record.closed_ns = clock_ns();
  static_cast<void>(co_await gather_books(*team_, *recorder_, record));
  static_cast<void>(attempt([&] {
    if (team_->rank() == 0 && keeper_ != nullptr) keeper_->keep(std::move(record));
    return Status{};
  }));
  co_return true;
}

Task<Status> File::change_size(std::int64_t bytes, Status error,
                               Status (Driver::*change)(std::int64_t)) {
  if (error.ok() && !writable())
    error = failure(Errc::read_only, "the file is open for reading only");
  Status status = co_await agree_status(*team_, error, bytes);
  if (status.code == Errc::not_same) status.note = "ranks give different sizes";
  if (status.ok() && engine_->keeps()) status = co_await engine_->store_kept();
  if (!status.ok()) co_return status;
  engine_->forget_ahead();
  if (team_->rank() == 0) status = (driver_.get()->*change)(bytes);
  co_return co_await agree_status(*team_, status);
}

Task<Status> File::set_size(std::int64_t bytes, Status error) {
  return change_size(bytes, error, &Driver::resize);
}

Task<Status> File::preallocate(std::int64_t bytes, Status error) {
  return change_size(bytes, error, &Driver::preallocate);
}

Task<Status> File::sync(Status error) {
  Status status = error;
  engine_->forget_ahead();
  if (engine_->keeps()) status.keep_first(co_await engine_->store_kept());
  if (status.ok() && writable()) status = driver_->sync();
  co_return co_await agree_status(*team_, status);
}

Task<Status> File::set_atomicity(bool atomic, Status error) {
  if (error.ok() && atomic && !engine_->plan().storage.locks)
    error = failure(Errc::unsupported_operation,
                    "atomic mode needs byte-range locks, which this storage refuses");
  Status status = co_await agree_status(*team_, error, atomic ? 1 : 0);
  if (status.code == Errc::not_same) status.note = "ranks give different atomicity flags";
  if (!status.ok() || atomic == engine_->plan().atomic) co_return status;
  if (engine_->keeps()) status = co_await engine_->store_kept();
  if (!status.ok()) co_return status;
  engine_->set_atomic(atomic);
  if (recorder_ != nullptr) recorder_->forget_decisions();
  co_return status;
}

Task<Status> File::set_view(View view, std::vector<HintText> hints, Status error) {
  const auto datarep = static_cast<std::int64_t>(std::hash<std::string>{}(view.datarep));
  Status status = co_await agree_status(*team_, error, view.etype_extent, datarep);
  if (status.code == Errc::not_same)
    status.note = "ranks give etypes of different extents or different data representations";
  if (!status.ok()) co_return status;
  status = co_await renew_hints(std::move(hints));
  if (!status.ok()) co_return status;
  view_ = std::move(view);
  first_copy_ = view_.layout;
  first_copy_.repeat = 1;
  copies_in_order_ = view_.layout.is_ordered();
  position_ = 0;
  engine_->renew_view();
  co_return status;
}

Task<Status> File::set_info(std::vector<HintText> hints, Status error) {
  Status status = co_await agree_status(*team_, error);
  if (status.ok()) status = co_await renew_hints(std::move(hints));
  co_return status;
}

namespace {

/// Realms that a user proposes, checked but for those of other ranks.
struct ProposedRealms {
  GivenRealmsPtr realms;         ///< null: none
  std::int64_t fingerprint = 0;  ///< the same where they are
};

Result<ProposedRealms> checked_realms(std::vector<Layout> layouts, int ranks) {
  if (layouts.size() > static_cast<std::size_t>(ranks))
    return failure(Errc::arg, "there are more realms than ranks");
  std::vector<std::byte> text;
  for (const Layout& layout : layouts) {
    const Status status = check_realm(layout);
    if (!status.ok()) return status;
    layout.loop.encode(text);
    for (const std::byte byte : std::as_bytes(std::span(&layout.displacement, 1)))
      text.push_back(byte);
  }
  ProposedRealms proposed{nullptr, fingerprint(text)};
  if (!layouts.empty())
    proposed.realms = std::make_shared<const GivenRealms>(GivenRealms::of(std::move(layouts)));
  return proposed;
}

}  // namespace

Task<Status> File::set_realms(std::vector<Layout> realms, Status error) {
  const auto count = static_cast<std::int64_t>(realms.size());
  Hints hints;
  ProposedRealms proposed;
  error.keep_first(attempt([&]() -> Status {
    if (!error.ok()) return error;
    hints = hints_;
    Result<ProposedRealms> checked = checked_realms(std::move(realms), team_->size());
    if (checked.ok()) proposed = std::move(*checked);
    return checked.status();
  }));
  Status status = co_await agree_status(*team_, error, count, proposed.fingerprint);
  if (status.code == Errc::not_same) status.note = "ranks give different realms";
  if (!status.ok()) co_return status;
  GivenRealmsPtr wanted = std::move(proposed.realms);
  co_return co_await start_engine(std::move(hints), std::move(wanted));
}

namespace {

struct AnyHints {
  std::int32_t any = 0;
  void merge(const AnyHints& other) { any |= other.any; }
};

}  // namespace

// As at open, rank 0's hints are taken.
Task<Status> File::renew_hints(std::vector<HintText> texts) {
  AnyHints given{texts.empty() ? 0 : 1};
  given = co_await team_->agree(given);
  if (given.any == 0) co_return Status{};
  Hints wanted;
  Status status = attempt([&] {
    wanted = hints_;
    return Status{};
  });
  status.keep_first(co_await share_hints(*comm_, texts, wanted));
  status = co_await agree_status(*team_, status);
  if (!status.ok()) co_return status;
  // The team is formed once: its split into nodes cannot change any more.
  wanted.tamis_pretend_nodes = hints_.tamis_pretend_nodes;
  wanted.tamis_shared_memory = hints_.tamis_shared_memory;
  note_sources(texts);
  if (wanted == hints_) co_return Status{};
  GivenRealmsPtr realms = realms_;
  co_return co_await start_engine(std::move(wanted), std::move(realms));
}

// For the record only: what there is no memory for is left out.
void File::note_sources(std::span<const HintText> texts) {
  static_cast<void>(attempt([&] {
    for (const HintText& text : texts) {
      Hints trial;
      if (apply_hints({&text, 1}, trial).empty()) hint_sources_[text.key] = text.source;
    }
    return Status{};
  }));
}

// What waits to be written counts as written.
Result<std::int64_t> File::size() {
  Result<std::int64_t> stored = driver_->size();
  if (!stored.ok()) return stored;
  return std::max(*stored, engine_->kept_end());
}

/// The access's range, from etype `start` of the view on.
Status File::place_at(std::int64_t start, Access& access) const {
  const auto first = checked_mul(start, view_.etype_bytes);
  if (!first) return failure(Errc::arg, "the offset leaves the range of 64 bits");
  const auto end = checked_add(*first, access.bytes);
  if (access.bytes > 0 && view_.layout.loop.size() == 0)
    return failure(Errc::io, "the filetype of the view holds no data");
  if (!end || (access.bytes > 0 && !offsets_fit(view_.layout, *end)))
    return failure(Errc::arg, "the access leaves the range of 64-bit offsets");
  access.first = *first;
  access.file = !copies_in_order_ && *end <= first_copy_.size() ? &first_copy_ : &view_.layout;
  return {};
}

/// Finds the range of the view's stream that a request names and reserves it. Several threads may
/// use the individual pointer at once: each gets a range of its own.
Status File::place(const AccessRequest& request, Access& access) {
  if (!request.error.ok()) return request.error;
  // Views of bytes are the usual ones, and a division costs more than all else here.
  const bool bytes = view_.etype_bytes == 1;
  const std::int64_t etypes = bytes ? access.bytes : access.bytes / view_.etype_bytes;
  if (!bytes && etypes * view_.etype_bytes != access.bytes)
    return failure(Errc::io, "the access is not a whole number of etypes");
  if (request.explicit_offset) return place_at(request.offset, access);
  std::int64_t start = position_.load();
  Status placed;
  do {
    placed = place_at(start, access);
  } while (placed.ok() && !position_.compare_exchange_weak(start, start + etypes));
  return placed;
}

Access File::access_of(const AccessRequest& request) const {
  return {.direction = request.direction,
          .buffer = request.buffer,
          .memory = &request.memory,
          .file = &view_.layout,
          .first = 0,
          .bytes = request.memory.size(),
          .error = {}};
}

Outcome File::access(const AccessRequest& request) {
  Access access = access_of(request);
  const Status placed = place(request, access);
  if (!placed.ok()) [[unlikely]]
    return refuse(placed, access);
  return engine_->independent(access);
}

/// An access that cannot be carried out is heard of all the same: it counts as a call and an error.
Outcome File::refuse(const Status& error, Access& access) {
  access.error = error;
  access.bytes = 0;
  return engine_->independent(access);
}

Task<Outcome> File::access_all(AccessRequest request) {
  Access access = access_of(request);
  access.error = place(request, access);
  co_return co_await engine_->collective(access);
}

Result<std::int64_t> File::seek(std::int64_t offset, Whence whence) {
  std::int64_t base = 0;
  if (whence == Whence::current) base = position_;
  if (whence == Whence::end) {
    if (!view_.layout.is_ordered())
      return failure(Errc::unsupported_operation,
                     "the view's end cannot be told: it overlaps itself");
    const Result<std::int64_t> bytes = size();
    if (!bytes.ok()) return bytes.status();
    const std::int64_t before = view_.layout.position_of(*bytes);
    const std::int64_t etype = std::max<std::int64_t>(view_.etype_bytes, 1);
    base = (before + etype - 1) / etype;
  }
  const auto target = checked_add(base, offset);
  if (!target || *target < 0) return failure(Errc::arg, "the pointer would leave the file");
  position_ = *target;
  return *target;
}

Result<std::int64_t> File::byte_offset(std::int64_t etypes) const {
  const auto position = checked_mul(etypes, view_.etype_bytes);
  const bool empty = view_.layout.loop.size() == 0;
  if (!position || etypes < 0 || (!empty && !offsets_fit(view_.layout, *position)))
    return failure(Errc::arg, "the offset lies outside the view");
  if (empty) return view_.layout.displacement;
  return view_.layout.offset_of(*position);
}

}  // namespace tamis
