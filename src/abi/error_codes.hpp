#pragma once

#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.hpp"

namespace tamis::abi {

/// Error codes that carry a message: of the right class, and MPI_Error_string tells the message.
/// A host never takes a code back, so equal messages share one and the codes of a class are
/// bounded: once all are in use, the one that has not come up for longest gets the new message.
/// Thus the latest errors are always explained, and an old code keeps its class. Any thread may
/// call.
class ErrorCodes {
 public:
  /// Codes of one class; hosts have room for a few thousand in all.
  static constexpr std::size_t kMost = 128;

  /// REQUIRES: errc is not ok.
  int code_for(Errc errc, const std::string& message);
  /// The message of a code made here, the latest where it was used again.
  std::optional<std::string> message_of(int code);

 private:
  struct Entry {
    int code;
    std::string message;
  };
  using Entries = std::list<Entry>;  // the latest first

  static Entries::iterator place_for_new(Entries& entries, int error_class);

  std::mutex mutex_;
  std::array<Entries, static_cast<std::size_t>(Errc::internal) + 1> classes_;
};

}  // namespace tamis::abi
