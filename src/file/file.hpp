#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/direction.hpp"
#include "comm/task.hpp"
#include "drivers/driver.hpp"
#include "engine/engine.hpp"
#include "file/record.hpp"
#include "layout/layout.hpp"
#include "plan/hints.hpp"

namespace tamis {

/// Access mode bits (MPI 4.1, section 14.2.1), independent of any MPI's numbers.
enum AccessMode : unsigned {
  kReadOnly = 1,
  kWriteOnly = 2,
  kReadWrite = 4,
  kCreate = 8,
  kExclusive = 16,
  kDeleteOnClose = 32,
  kUniqueOpen = 64,
  kSequential = 128,
  kAppend = 256,
};

struct OpenRequest {
  std::string name;                ///< as the user gave it, prefix included
  unsigned amode = 0;              ///< AccessMode bits
  std::vector<HintText> hints;     ///< from the info object and the environment, weakest first
  Status error;                    ///< a check that failed on this rank before: it still takes part
  RecordKeeper* keeper = nullptr;  ///< who wants to know what is done with the file; null: nobody
};

/// What a file view is, in bytes (section 14.3).
struct View {
  Layout layout = Layout::contiguous(Layout::kEndless);  ///< displacement, filetype, endless
  std::int64_t etype_bytes = 1;                          ///< data of an etype; at least 1
  std::int64_t etype_extent = 1;                         ///< must be the same on every rank
  std::string datarep = "native";
};

/// One data access as the caller states it.
struct AccessRequest {
  Direction direction = Direction::read;
  bool explicit_offset = false;  ///< else the individual file pointer
  std::int64_t offset = 0;       ///< in etypes, with explicit_offset
  std::byte* buffer = nullptr;   ///< what memory offset 0 means
  Layout memory;                 ///< the user's datatype, repeat = count
  Status error;  ///< a failed check: in a collective the rank takes part, with no data
};

enum class Whence : std::uint8_t { set, current, end };

/// An open file: communicator, driver, view, positions, hints, atomicity. Nothing of any one
/// operation. Methods returning a Task are collective over the file's communicator; where ranks
/// disagree or one fails, every rank gets an error. Others concern the calling rank only.
class File {
 public:
  /// Collective. Agrees on hints (rank 0's are taken) and access mode, opens the storage on every
  /// rank; either all ranks get a file or all an error and nothing stays open.
  static Task<Result<std::unique_ptr<File>>> open(std::unique_ptr<Comm> comm, OpenRequest request,
                                                  StorageTable& storages);
  ~File();

  Task<Status> close();
  Task<Status> set_size(std::int64_t bytes, Status error);
  Task<Status> preallocate(std::int64_t bytes, Status error);
  Task<Status> sync(Status error);
  Task<Status> set_atomicity(bool atomic, Status error);
  /// New view and hints; resets the individual pointer.
  Task<Status> set_view(View view, std::vector<HintText> hints, Status error);
  Task<Status> set_info(std::vector<HintText> hints, Status error);

  /// Realms for the collective accesses to come, endless, the same on every rank and at most as
  /// many as ranks; empty: as hints say again. They stay whatever hints are set.
  Task<Status> set_realms(std::vector<Layout> realms, Status error);

  Result<std::int64_t> size();                      ///< bytes
  Outcome access(const AccessRequest& request);     ///< independent
  Task<Outcome> access_all(AccessRequest request);  ///< collective

  /// New value of the individual pointer, in etypes.
  Result<std::int64_t> seek(std::int64_t offset, Whence whence);
  std::int64_t position() const { return position_; }  ///< etypes
  /// Absolute byte offset of an etype position of the view (MPI_File_get_byte_offset).
  Result<std::int64_t> byte_offset(std::int64_t etypes) const;

  unsigned amode() const { return amode_; }
  bool writable() const { return (amode_ & (kWriteOnly | kReadWrite)) != 0; }
  bool atomic() const { return engine_->plan().atomic; }
  const View& view() const { return view_; }
  const Hints& hints() const { return hints_; }
  const std::string& name() const { return name_; }
  Comm& comm() { return *comm_; }
  /// This rank's books; null where nothing is recorded.
  const Recorder* recorder() const { return recorder_.get(); }

 private:
  File(std::unique_ptr<Comm> comm, OpenRequest request);
  Task<Status> finish_opening(Status status, StorageTable& storages);
  Task<Status> open_storage(StorageTable& storages);
  Status find_storage(StorageTable& storages);
  Status open_driver(bool creates);
  Task<Status> go_to_end();
  Task<Status> start_engine(Hints hints, GivenRealmsPtr realms);
  Circumstances plan_for(const Hints& hints, const GivenRealmsPtr& realms, Capabilities storage,
                         int cores) const;
  void start_recorder(RecordWishes wishes);
  Task<bool> keep_record();
  Task<Status> change_size(std::int64_t bytes, Status error,
                           Status (Driver::*change)(std::int64_t));
  Task<Status> renew_hints(std::vector<HintText> texts);
  void note_sources(std::span<const HintText> texts);
  Access access_of(const AccessRequest& request) const;
  Task<Status> claim_rewriting();
  Status place(const AccessRequest& request, Access& access);
  Status place_at(std::int64_t start, Access& access) const;
  Outcome refuse(const Status& error, Access& access);

  std::unique_ptr<Comm> comm_;
  std::string name_;
  std::string path_;
  unsigned amode_;
  Storage* storage_ = nullptr;
  std::unique_ptr<Team> team_;
  std::unique_ptr<Driver> driver_;
  RecordKeeper* keeper_;
  std::unique_ptr<Recorder> recorder_;  // null: nothing is recorded
  std::unique_ptr<Engine> engine_;
  Hints hints_;
  std::map<std::string, std::string> hint_sources_;  // rank 0's: who said a hint last
  bool gives_locks_ = true;                          // byte-range locks, when asked for one
  GivenRealmsPtr realms_;                            // by set_realms; null: none
  std::vector<std::int32_t> persistent_;  // who serves persistent realms, once they are fixed
  bool may_rewrite_ = false;              // this open holds the token: see claim_rewriting
  View view_;
  Layout first_copy_;            // the view's filetype once
  bool copies_in_order_ = true;  // its copies follow each other in the file
  std::atomic<std::int64_t> position_ = 0;
};

}  // namespace tamis
