#include "sim/papers.hpp"

#include <algorithm>
#include <cmath>

namespace tamis::sim {
namespace {

constexpr double kPairBytes = 16;    // offset and length
constexpr double kCountBytes = 4;    // an int per rank, as MPI_Alltoall takes it
constexpr double kBoundsBytes = 16;  // first and last offset

double real(std::int64_t n) { return static_cast<double>(n); }
double log2_of(double n) { return std::max(1.0, std::ceil(std::log2(n))); }

double message_ns(const Network& network, double bytes) {
  return 2 * network.end_ns + network.latency_ns + bytes * network.byte_ns;
}

/// Every rank gets `bytes` from every other one: recursive doubling.
double allgather_ns(const Network& network, double ranks, double bytes) {
  return log2_of(ranks) * message_ns(network, 0) + ranks * bytes * network.byte_ns;
}

/// The same with different bytes for each, few of them: Bruck's algorithm, half of all in each
/// step.
double alltoall_ns(const Network& network, double ranks, double bytes) {
  return log2_of(ranks) * message_ns(network, ranks / 2 * bytes);
}

struct Rounds {
  double count;
  double bytes;  // of an aggregator in one of them, wanted
  double span;   // and moved to or from the file
};

Rounds rounds_of(const Job& job) {
  const double realm = real(job.region) / job.aggregators;
  const double count = std::max(1.0, std::ceil(realm / real(job.window_bytes)));
  const double wanted = real(job.bytes) * job.ranks / job.aggregators / count;
  return {count, wanted, realm / count};
}

/// All aggregators move a window each, one request to every server that has some of it.
double window_io_ns(const Job& job, const Disks& disks, double bytes) {
  const auto move = [&](Direction direction) {
    const double stripes = std::ceil(bytes / real(disks.stripe_bytes));
    const double requests = std::min(stripes, real(disks.servers)) * job.aggregators;
    const double busiest = std::ceil(requests / disks.servers);
    const double share = bytes * job.aggregators / std::min(requests, real(disks.servers));
    const bool write = direction == Direction::write;
    const double byte_ns = disks.byte_ns + (write ? 0 : disks.first_read_byte_ns);
    return disks.trip_ns + busiest * (write ? disks.write_ns : disks.read_ns) + share * byte_ns;
  };
  const bool reads_first = job.holes && job.direction == Direction::write;
  return move(job.direction) + (reads_first ? move(Direction::read) : 0);
}

/// The data of one round: an aggregator's messages, and their bytes copied and through its link.
double window_data_ns(const Job& job, const Network& network, const Rounds& rounds) {
  const double messages = real(job.shares) * job.ranks / job.aggregators / rounds.count;
  return network.latency_ns + messages * network.end_ns +
         rounds.bytes * std::max(network.byte_ns, 2 * network.copy_byte_ns);
}

double own_data_messages(const Job& job) { return real(job.shares); }
double served_data_messages(const Job& job) {
  return real(job.shares) * job.ranks / job.aggregators;
}

}  // namespace

Estimate original_two_phase(const Job& job, const Machine& machine) {
  const Network& network = machine.network;
  const double ranks = job.ranks;
  const Rounds rounds = rounds_of(job);
  const double collective = 2 * log2_of(ranks);  // messages a rank sends and receives
  const double lists_in = real(job.pieces) * ranks / job.aggregators;
  Estimate e;
  // Bounds to all, counts of lists to all, lists to owners; then counts and data, round by round.
  e.rank_messages = collective * (2 + rounds.count) + real(job.owners) + own_data_messages(job);
  e.aggregator_messages =
      e.rank_messages + real(job.owners) * ranks / job.aggregators + served_data_messages(job);
  e.description_bytes =
      kBoundsBytes + kCountBytes * ranks * (1 + rounds.count) + kPairBytes * real(job.pieces);
  e.rank_memory = kBoundsBytes * ranks + 4 * kCountBytes * ranks + kPairBytes * real(job.pieces);
  e.aggregator_memory = e.rank_memory + kPairBytes * lists_in + real(job.window_bytes);
  e.pairs = 2 * real(job.pieces) + lists_in;
  e.ns = allgather_ns(network, ranks, kBoundsBytes) + alltoall_ns(network, ranks, kCountBytes) +
         real(job.owners) * ranks / job.aggregators * network.end_ns +
         lists_in * kPairBytes * network.byte_ns + e.pairs * machine.pair_ns +
         rounds.count *
             (alltoall_ns(network, ranks, kCountBytes) + window_data_ns(job, network, rounds) +
              window_io_ns(job, machine.disks, rounds.span));
  return e;
}

Estimate flexible_realms(const Job& job, const Machine& machine) {
  const Network& network = machine.network;
  const double ranks = job.ranks;
  const double aggregators = job.aggregators;
  const Rounds rounds = rounds_of(job);
  const double own_pairs = real(job.pieces) * aggregators * log2_of(aggregators);
  const double served_pairs = real(job.pieces) * ranks;
  Estimate e;
  e.rank_messages = 2 * log2_of(ranks) + aggregators + own_data_messages(job);
  e.aggregator_messages = e.rank_messages + ranks + served_data_messages(job);
  e.description_bytes = kBoundsBytes + aggregators * kPairBytes * real(job.described);
  e.rank_memory = kPairBytes * real(job.described);
  e.aggregator_memory = e.rank_memory + ranks * kPairBytes * real(job.described) +
                        2 * real(job.window_bytes);  // and the sieve's buffer
  e.pairs = std::max(own_pairs, served_pairs);
  e.ns = allgather_ns(network, ranks, 0) +
         ranks * (network.end_ns + kPairBytes * real(job.described) * network.byte_ns) +
         e.pairs * machine.pair_ns +
         rounds.count * (window_data_ns(job, network, rounds) + rounds.span * network.copy_byte_ns +
                         window_io_ns(job, machine.disks, rounds.span));
  return e;
}

}  // namespace tamis::sim
