#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/direction.hpp"
#include "base/result.hpp"
#include "layout/extent.hpp"

namespace tamis {

/// How a file is opened: the access modes of MPI 4.1, section 14.2.1, that storage must know of.
struct OpenMode {
  bool read = true;
  bool write = false;
  bool create = false;     ///< create where it does not exist
  bool exclusive = false;  ///< with create: fail with file_exists where it does
  /// Storages ignore it: the File removes the name once, on one rank, after all have closed.
  bool delete_on_close = false;
  int permissions = 0666;  ///< of a created file, before the umask
};

/// One contiguous piece: file bytes `file` to or from `memory`.
struct Transfer {
  Extent file;
  std::byte* memory = nullptr;
};

enum class LockKind : std::uint8_t { none, shared, exclusive };

/// What a driver is good at, as values planning reads; never what to do.
struct Capabilities {
  std::string name;                 ///< "posix", "memory", ...
  bool locks = false;               ///< byte-range locks between processes work on this file
  bool can_read_back = true;        ///< bytes of the file can be read (false: opened write-only and
                                    ///< refused for reading), so read-modify-write is possible
  bool may_rewrite = true;          ///< this open may read, change and write back: plain writes
                                    ///< of other opens take locks (set by the file)
  bool guarded = true;              ///< plain writes of all ranks that share this open file
                                    ///< notice a read-modify-write (set by the engine)
  bool resizable = true;            ///< has a size that can be set (false: devices)
  std::int64_t block_bytes = 4096;  ///< transfers aligned to this are cheapest
  std::int64_t stripe_bytes = 0;    ///< 0: not striped
  double read_ns = 400;             ///< fixed cost of one contiguous read
  double write_ns = 700;            ///< and of one contiguous write
  double byte_ns = 0.15;            ///< cost per byte of a large transfer
  double lock_ns = 1500;            ///< cost of taking and giving back an uncontended lock
  std::string costs_source = "built-in";  ///< or the path of the profile they were read from

  double operation_ns(Direction direction) const {
    return direction == Direction::write ? write_ns : read_ns;
  }
};

/// The byte whose lock says which open of a file may read, change and write back; beyond all data.
inline constexpr Extent kRewriteToken{std::numeric_limits<std::int64_t>::max() - 1, 1};

/// Whom to tell that a transfer has finished. Called by any thread, within start() or long after
/// it: what it does must be safe there (atomics, a futex), and `context` must outlive the queue.
struct Bell {
  void (*ring)(void* context) = nullptr;  ///< null: nobody wants to hear
  void* context = nullptr;

  void operator()() const {
    if (ring != nullptr) ring(context);
  }
};

/// Transfers of one driver that go on while the caller does something else; at most depth() at a
/// time, in slots the caller numbers 0 .. depth() - 1. They may be carried out in any order and at
/// the same time: whoever cares for the order waits in between. Batch, memory and driver stay
/// untouched by the caller until the slot has finished. Not to be called by two threads at once.
/// Only making a queue allocates.
class TransferQueue {
 public:
  /// Waits for what is under way. Nothing may be when the driver is closed.
  virtual ~TransferQueue() = default;

  virtual std::size_t depth() const = 0;
  virtual const char* name() const = 0;  ///< "threads", "io_uring", ...

  /// Begins what Driver::transfer does. REQUIRES: nothing is under way in `slot`. When it has
  /// finished the bell is rung, once.
  virtual void start(std::size_t slot, Direction direction, std::span<const Transfer> batch) = 0;
  /// What Driver::transfer would have returned, and the slot is free again; nothing as long as the
  /// transfer is under way. Never waits. REQUIRES: started, and not yet answered.
  virtual std::optional<Outcome> finished(std::size_t slot) = 0;
  /// The same, but waits.
  virtual Outcome wait(std::size_t slot) = 0;
};

/// Who carries the transfers of a queue out. `ring`: the kernel's own queue (io_uring), where the
/// driver has one and the system allows it; else threads.
enum class QueueKind : std::uint8_t { threads, ring };

struct QueueOptions {
  std::size_t depth = 1;  ///< at least 1
  Bell bell = {};
  QueueKind kind = QueueKind::threads;
};

/// An open file on some storage. Calls block; every rank has its own Driver object.
/// A driver reports errors as Status with errno and, for transfers, the file offset.
/// It may be called by several threads at once.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual const Capabilities& capabilities() const = 0;

  /// The type of the file system that holds the file, as the system's mount table calls it ("ext4",
  /// "lustre"); empty where none does or it cannot be told. For people to read, not for plans; asks
  /// anew each time. Throws std::bad_alloc.
  virtual std::string filesystem() const { return {}; }

  /// Carries the batch out in order. Outcome::bytes counts the leading bytes of the batch that were
  /// moved. An ok status with fewer bytes than asked: the end of the file (reads only); what lies
  /// beyond is untouched in memory. A write is complete or has an error. Interrupted and short
  /// system calls are continued inside.
  virtual Outcome transfer(Direction direction, std::span<const Transfer> batch) = 0;

  /// A queue of transfers of this driver, which must outlive it. Unless a driver knows better:
  /// threads that call transfer(), so decorators hear of every one. Errc::no_memory.
  virtual Result<std::unique_ptr<TransferQueue>> queue(const QueueOptions& options);

  virtual Status sync() = 0;                      ///< data to stable storage
  virtual Result<std::int64_t> size() = 0;        ///< bytes
  virtual Status resize(std::int64_t bytes) = 0;  ///< truncates or extends with zeros
  virtual Status preallocate(
      std::int64_t bytes) = 0;  ///< space for [0, bytes), grows the size to it

  /// Byte-range lock against every other open of the file (other processes, other Driver objects;
  /// threads on this object too); waits. Errc::unsupported_operation where the storage refuses
  /// locks, with a note that says so.
  virtual Status lock(const Extent& range, LockKind kind) = 0;
  /// The same without waiting; false: another open of the file holds it.
  virtual Result<bool> try_lock(const Extent& range, LockKind kind) = 0;
  virtual Status unlock(const Extent& range) = 0;

  /// Ends the open file; errors of delayed writes come out here. The object is unusable afterwards.
  virtual Status close() = 0;
};

/// A lock held while this lives.
class RangeLock {
 public:
  RangeLock(Driver& driver, const Extent& range, LockKind kind)
      : driver_(driver), range_(range), held_(kind != LockKind::none) {
    if (!held_) return;
    status_ = driver_.lock(range_, kind);
    held_ = status_.ok();
  }
  ~RangeLock() { release(); }
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;

  const Status& status() const { return status_; }
  void release() {
    if (held_) status_.keep_first(driver_.unlock(range_));
    held_ = false;
  }

 private:
  Driver& driver_;
  Extent range_;
  bool held_;
  Status status_;
};

/// A kind of storage: opens and removes files by path (without prefix). Stateless or thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual Result<std::unique_ptr<Driver>> open(const std::string& path, const OpenMode& mode) = 0;
  virtual Status remove(const std::string& path) = 0;
};

/// Finds the storage for a file name: "ufs:/tmp/x" -> posix, "memory:x" -> memory, no prefix: by
/// the path. `path` gets the name without the prefix.
class StorageTable {
 public:
  virtual ~StorageTable() = default;
  virtual Result<Storage*> find(const std::string& name, std::string& path) = 0;
};

}  // namespace tamis
