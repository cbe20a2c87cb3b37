#include "drivers/posix/errors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace tamis {
namespace {

struct Meaning {
  int error;
  Errc of_name;
  Errc of_data;
};

// Whatever is missing here is Errc::io; os_error still says what it was. EFBIG is no_space: the
// file has no room for the byte (limit of the process or of the file system), and what a caller
// can do about it is the same.
constexpr std::array kMeanings = {
    Meaning{ENOSPC, Errc::no_space, Errc::no_space},
    Meaning{EFBIG, Errc::no_space, Errc::no_space},
    Meaning{EDQUOT, Errc::quota, Errc::quota},
    Meaning{EACCES, Errc::access, Errc::access},
    Meaning{EPERM, Errc::access, Errc::access},
    Meaning{ENOENT, Errc::no_such_file, Errc::no_such_file},
    Meaning{EEXIST, Errc::file_exists, Errc::file_exists},
    Meaning{EROFS, Errc::read_only, Errc::read_only},
    Meaning{EIO, Errc::io, Errc::io},
    Meaning{ESTALE, Errc::io, Errc::io},
    Meaning{EISDIR, Errc::bad_file, Errc::bad_file},
    Meaning{ENOTDIR, Errc::bad_file, Errc::bad_file},
    Meaning{ENAMETOOLONG, Errc::bad_file, Errc::bad_file},
    Meaning{ELOOP, Errc::bad_file, Errc::bad_file},
    Meaning{EINVAL, Errc::bad_file, Errc::io},
    Meaning{ENXIO, Errc::bad_file, Errc::io},
    Meaning{ENODEV, Errc::bad_file, Errc::io},
    Meaning{ESPIPE, Errc::bad_file, Errc::bad_file},
    Meaning{ENOMEM, Errc::no_memory, Errc::no_memory},
    Meaning{EFAULT, Errc::internal, Errc::buffer},
    Meaning{ETXTBSY, Errc::file_in_use, Errc::file_in_use},
    Meaning{EBUSY, Errc::file_in_use, Errc::file_in_use},
    Meaning{EDEADLK, Errc::file_in_use, Errc::file_in_use},
    Meaning{EBADF, Errc::internal, Errc::internal},
    Meaning{ENOLCK, Errc::unsupported_operation, Errc::unsupported_operation},
    Meaning{ENOSYS, Errc::unsupported_operation, Errc::unsupported_operation},
    Meaning{ENOTSUP, Errc::unsupported_operation, Errc::unsupported_operation},
};
static_assert(EOPNOTSUPP == ENOTSUP);

}  // namespace

Status from_errno(int error, Subject subject, std::int64_t offset) {
  const auto* found = std::ranges::find(kMeanings, error, &Meaning::error);
  Errc code = Errc::io;
  if (found != kMeanings.end()) code = subject == Subject::name ? found->of_name : found->of_data;
  return {.code = code, .os_error = error, .offset = offset};
}

}  // namespace tamis
