#include "abi/error_codes.hpp"

#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {

int ErrorCodes::code_for(Errc errc, const std::string& message) {
  const std::lock_guard lock(mutex_);
  const int plain = error_class(errc);
  // The class is part of the key because messages are shortened and may then be equal.
  const auto [place, is_new] = codes_.try_emplace(std::to_string(plain) + message, plain);
  if (!is_new) return place->second;
  if (codes_.size() > kMost) {
    codes_.erase(place);
    return plain;
  }
  return place->second = add(plain, message);
}

int ErrorCodes::add(int error_class, const std::string& message) {
  int code = error_class;
  if (host().Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  // MPICH does not find this string again for codes of predefined classes, so error_string() asks
  // message_of() first; for tools that reach the host itself it is added nevertheless.
  (void)host().Add_error_string(code, message.c_str());
  messages_.emplace(code, message);
  return code;
}

std::optional<std::string> ErrorCodes::message_of(int code) {
  const std::lock_guard lock(mutex_);
  const auto found = messages_.find(code);
  if (found == messages_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tamis::abi
