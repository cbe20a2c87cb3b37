#pragma once

#include <memory>

#include "base/result.hpp"
#include "comm/comm.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// The messages of one open file over the host MPI. Collective over `user`; either every rank gets
/// one or every rank an error: Errc::comm for anything but an intracommunicator.
/// The first call for a communicator duplicates it and learns which ranks share a node; that stays
/// with the communicator, so later calls hardly talk. The duplicate lives until the last Comm
/// made from it is gone and the user has freed the communicator (or MPI is finalized).
/// Comms of one communicator must be made in the same order on all ranks, as opening files
/// collectively does by itself; destroyed they may be in any.
/// REQUIRES: find_host() has succeeded.
Result<std::unique_ptr<Comm>> make_comm(MPI_Comm user);

/// The duplicate that a Comm made here talks through: for its group, never for messages.
/// REQUIRES: `comm` came from make_comm.
MPI_Comm host_handle(const Comm& comm);

}  // namespace tamis
