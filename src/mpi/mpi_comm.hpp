#pragma once

#include <memory>

#include "base/result.hpp"
#include "comm/comm.hpp"
#include "mpi/mpi.hpp"

namespace tamis {

/// The messages of one open file over the host MPI. Collective over `user`, an intracommunicator;
/// either every rank gets one or every rank an error.
/// The first call for a communicator duplicates it and learns which ranks share a node; that stays
/// with the communicator, so later calls talk to nobody. The duplicate lives until the last Comm
/// made from it is gone and the user has freed the communicator (or MPI is finalized).
/// Comms of one communicator must be made and destroyed in the same order on all ranks, as
/// opening and closing files collectively does by itself.
/// REQUIRES: find_host() has succeeded.
Result<std::unique_ptr<Comm>> make_comm(MPI_Comm user);

/// The duplicate that a Comm made here talks through: for its group, never for messages.
/// REQUIRES: `comm` came from make_comm.
MPI_Comm host_handle(const Comm& comm);

}  // namespace tamis
