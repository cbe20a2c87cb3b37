#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace tamis {

/// What went wrong, in the classes of the I/O chapter (MPI 4.1, table of section 14.7) and the few
/// others a file call can report. Ordered: of two errors the greater one is the worse one.
enum class Errc : std::uint8_t {
  ok = 0,
  arg,                    ///< MPI_ERR_ARG
  count,                  ///< MPI_ERR_COUNT
  type,                   ///< MPI_ERR_TYPE
  buffer,                 ///< MPI_ERR_BUFFER
  comm,                   ///< MPI_ERR_COMM
  info,                   ///< MPI_ERR_INFO
  amode,                  ///< MPI_ERR_AMODE
  bad_handle,             ///< MPI_ERR_FILE
  not_same,               ///< MPI_ERR_NOT_SAME
  unsupported_datarep,    ///< MPI_ERR_UNSUPPORTED_DATAREP
  unsupported_operation,  ///< MPI_ERR_UNSUPPORTED_OPERATION
  bad_file,               ///< MPI_ERR_BAD_FILE: an invalid file name
  no_such_file,           ///< MPI_ERR_NO_SUCH_FILE
  file_exists,            ///< MPI_ERR_FILE_EXISTS
  file_in_use,            ///< MPI_ERR_FILE_IN_USE
  read_only,              ///< MPI_ERR_READ_ONLY: a read-only file or file system
  access,                 ///< MPI_ERR_ACCESS: permission denied
  no_memory,              ///< MPI_ERR_NO_MEM
  quota,                  ///< MPI_ERR_QUOTA
  no_space,               ///< MPI_ERR_NO_SPACE
  io,                     ///< MPI_ERR_IO
  internal,               ///< MPI_ERR_INTERN: a broken promise of this library or of the host MPI
};

/// Name of the code as a user knows it: "NO_SPACE", "IO", ...
const char* name(Errc code);

/// Success, or an error with its place. A small value that can be sent to other ranks as it is
/// (apart from `note`, which points to a string literal and is dropped on the way).
struct [[nodiscard]] Status {
  Errc code = Errc::ok;
  int os_error = 0;            ///< errno where the operating system gave one
  std::int32_t rank = -1;      ///< rank that met the error; -1: this one
  std::int64_t offset = -1;    ///< byte of the file where it happened; -1: no such place
  const char* note = nullptr;  ///< string literal: what was wrong, in plain words

  bool ok() const { return code == Errc::ok; }

  /// Keeps the worse of the two; of equals the one of the lower rank, so that the result of many
  /// merges does not depend on their order.
  void merge(const Status& other) {
    if (other.code > code || (other.code == code && other.rank < rank)) *this = other;
  }

  /// Keeps the first error: the one that explains the others.
  void keep_first(const Status& other) {
    if (ok()) *this = other;
  }

  /// The error as other ranks may see it: says where it comes from; the note stays at home, since a
  /// pointer means nothing in another process.
  Status travelling(int from) const {
    Status copy = *this;
    if (!ok() && copy.rank < 0) copy.rank = from;
    copy.note = nullptr;
    return copy;
  }

  /// "NO_SPACE: No space left on device at byte 4096 (rank 3)".
  std::string to_string() const;
};
static_assert(std::is_trivially_copyable_v<Status>);

/// An error known by its sentence; `note` must be a string literal.
inline Status failure(Errc code, const char* note) { return {.code = code, .note = note}; }

/// What an access came to: the leading bytes of the access that were truly moved, and how it ended.
/// Fewer bytes than asked with an ok status: the end of the file was met (reads only).
struct Outcome {
  std::int64_t bytes = 0;
  Status status;
};

}  // namespace tamis
