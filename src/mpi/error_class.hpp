#pragma once

#include "base/status.hpp"

namespace tamis {

/// The host's number of an error class: MPI_SUCCESS, MPI_ERR_NO_SPACE, ...
int error_class(Errc code);

/// The Errc for an error code of the host (of any class); `internal` for classes it has no word
/// for. REQUIRES: find_host() has succeeded.
Errc errc_of(int host_code);

/// A Status for the answer of a host function; `note` must be a string literal.
Status host_status(int host_code, const char* note);

}  // namespace tamis
