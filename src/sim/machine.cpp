#include "sim/machine.hpp"

namespace tamis::sim {

Machine cluster() {
  return {.name = "cluster",
          .ranks_per_node = 64,
          .network = {.end_ns = 300,
                      .latency_ns = 1500,
                      .byte_ns = 0.04,
                      .copy_byte_ns = 0.1,
                      .signal_ns = 200},
          .disks = {.servers = 128,
                    .stripe_bytes = 1 << 20,
                    .trip_ns = 20'000,
                    .read_ns = 100'000,
                    .write_ns = 100'000,
                    .partial_write_ns = 100'000,
                    .byte_ns = 0.5,
                    .lock_ns = 50'000},
          .pair_ns = 5};
}

Machine paragon() {
  return {.name = "paragon",
          .ranks_per_node = 1,
          .network = {.end_ns = 40'000,
                      .latency_ns = 10'000,
                      .byte_ns = 12,
                      .copy_byte_ns = 20,
                      .signal_ns = 1000},
          .disks = {.servers = 64,
                    .stripe_bytes = 64 << 10,
                    .trip_ns = 1'000'000,
                    .read_ns = 8'700'000,
                    .write_ns = 18'000'000,
                    .partial_write_ns = 23'000'000,
                    .byte_ns = 65,
                    .first_read_byte_ns = 200,
                    .lock_ns = 2'000'000},
          .pair_ns = 10'000};
}

}  // namespace tamis::sim
