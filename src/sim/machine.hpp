#pragma once

#include <cstdint>
#include <string>

#include "base/direction.hpp"

namespace tamis::sim {

/// What messages cost, as in the LogGP model (Alexandrov et al. 1995), and a node's shared memory.
struct Network {
  double end_ns = 0;        ///< a processor's time for one message, at each end
  double latency_ns = 0;    ///< between two nodes
  double byte_ns = 0;       ///< of a node's link, in each direction
  double copy_byte_ns = 0;  ///< packing or unpacking
  double signal_ns = 0;     ///< until a rank of the same node sees what was changed
};

/// What the servers of a striped file cost. Each does one request at a time, and has a cache that
/// holds what was read of the file before.
struct Disks {
  int servers = 1;
  std::int64_t stripe_bytes = 1 << 20;
  double trip_ns = 0;  ///< from a rank to a server and back
  double read_ns = 0;  ///< fixed cost of a request at its server
  double write_ns = 0;
  double partial_write_ns = 0;    ///< the same where it does not write whole stripes
  double byte_ns = 0;             ///< cost per byte of any request
  double first_read_byte_ns = 0;  ///< and of what was not read before, from the disk
  double lock_ns = 0;             ///< of taking a byte-range lock and giving it back
};

struct Machine {
  std::string name;
  int ranks_per_node = 1;
  Network network;
  Disks disks;
  double pair_ns = 0;  ///< handling one offset-length pair, for the models of other algorithms
};

/// A cluster of today: nodes of 64 cores, 25 GB/s links, 128 servers of 2 GB/s.
Machine cluster();
/// The Intel Paragon of Thakur, Gropp, Lusk 1999: 256 nodes of one rank, 64 I/O nodes.
Machine paragon();

}  // namespace tamis::sim
