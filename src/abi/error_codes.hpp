#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/status.hpp"

namespace tamis::abi {

/// Error codes that carry a message: of the right class, and MPI_Error_string tells the message.
/// A host never takes a code back, so equal messages share one and their number is bounded; beyond
/// it errors have the plain code of their class. Any thread may call.
class ErrorCodes {
 public:
  static constexpr std::size_t kMost = 256;

  /// REQUIRES: errc is not ok.
  int code_for(Errc errc, const std::string& message);
  /// The message of a code made here.
  std::optional<std::string> message_of(int code);

 private:
  int add(int error_class, const std::string& message);

  std::mutex mutex_;
  std::unordered_map<std::string, int> codes_;
  std::unordered_map<int, std::string> messages_;
};

}  // namespace tamis::abi
