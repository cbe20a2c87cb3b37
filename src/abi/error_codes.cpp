#include "abi/error_codes.hpp"

#include <algorithm>
#include <iterator>

#include "mpi/error_class.hpp"
#include "mpi/host.hpp"

namespace tamis::abi {

int ErrorCodes::code_for(Errc errc, const std::string& message) {
  const std::lock_guard lock(mutex_);
  Entries& entries = classes_[static_cast<std::size_t>(errc)];
  auto place = std::ranges::find(entries, message, &Entry::message);
  if (place == entries.end()) {
    place = place_for_new(entries, error_class(errc));
    if (place == entries.end()) return error_class(errc);
    place->message = message;
    // MPICH does not find this string again for codes of predefined classes, so error_string() asks
    // message_of() first; for tools that reach the host itself it is added nevertheless.
    (void)host().Add_error_string(place->code, message.c_str());
  }
  entries.splice(entries.begin(), entries, place);
  return place->code;
}

/// A new code, or the oldest one where there are enough or the host gives no more; the end where it
/// has never given any.
ErrorCodes::Entries::iterator ErrorCodes::place_for_new(Entries& entries, int error_class) {
  int code = error_class;
  if (entries.size() < kMost && host().Add_error_code(error_class, &code) == MPI_SUCCESS) {
    return entries.insert(entries.end(), {.code = code, .message = {}});
  }
  return entries.empty() ? entries.end() : std::prev(entries.end());
}

std::optional<std::string> ErrorCodes::message_of(int code) {
  const std::lock_guard lock(mutex_);
  for (const Entries& entries : classes_) {
    const auto found = std::ranges::find(entries, code, &Entry::code);
    if (found != entries.end()) return found->message;
  }
  return std::nullopt;
}

}  // namespace tamis::abi
