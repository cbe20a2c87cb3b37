#pragma once

#include <memory>
#include <mutex>

#include "base/result.hpp"
#include "plan/access.hpp"

namespace tamis {

/// Bytes of a view's stream that were read before they were asked for, by a rank that walks along
/// its view in small reads. Thread-safe.
class ReadAhead {
 public:
  /// `bytes`: most that is held; their memory is taken with the first of them.
  explicit ReadAhead(std::int64_t bytes) : bytes_(bytes) {}

  /// Gives a read its bytes where all of them are held. Otherwise, and where it goes on where the
  /// last one ended, `read` first gets what comes from there on: a read of as many bytes as are
  /// held, into contiguous memory. False: nothing was moved, the read has to be carried out.
  template <typename Read>
  bool serve(const Access& access, Read read) {
    const std::lock_guard guard(mutex_);
    const bool goes_on = access.first == next_;
    next_ = access.first + access.bytes;
    if (!holds(access) && goes_on) fill(access, read);
    if (!holds(access)) return false;
    give(access);
    return true;
  }
  /// What is held may be no longer what the file has.
  void drop() {
    const std::lock_guard guard(mutex_);
    held_ = 0;
    next_ = -1;
  }

 private:
  bool holds(const Access& access) const {
    return access.first >= first_ && access.first + access.bytes <= first_ + held_;
  }
  /// The read that gets what is held next; no bytes where there is none.
  Access wide(const Access& access, const Layout& flat) const;
  void give(const Access& access) const;
  bool take_memory();

  template <typename Read>
  void fill(const Access& access, Read read) {
    held_ = 0;
    const Layout flat = Layout::contiguous(bytes_);
    if (!take_memory()) return;
    const Access ahead = wide(access, flat);
    if (ahead.bytes == 0) return;
    first_ = access.first;
    held_ = read(ahead).bytes;
  }

  std::int64_t bytes_;
  std::mutex mutex_;
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t first_ = 0;  // position in the view's stream of what is held
  std::int64_t held_ = 0;
  std::int64_t next_ = -1;  // where the last read ended
};

}  // namespace tamis
