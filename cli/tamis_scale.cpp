// Simulates the library's own engine at many ranks and writes what it costs, beside models of the
// papers' algorithms, as tables in Markdown.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "patterns.hpp"
#include "scale_memory.hpp"
#include "scale_paragon.hpp"
#include "sim/fleet.hpp"
#include "sim/papers.hpp"

namespace tamis::scale {
namespace {

using sim::Cost;
using sim::Estimate;
using sim::Fleet;
using sim::Job;
using sim::Machine;
using sim::Part;
using sim::ScaledWorkload;
using sim::Traffic;

struct Options {
  std::vector<int> ranks = {1024, 16384, 131072};
  std::vector<std::string> workloads;
  std::int64_t aggregators = 0;  // 0: one per node, at most 64
  Direction direction = Direction::write;
  bool paragon = false;
};

constexpr int kMostAggregators = 64;
constexpr std::size_t kAgreeTag = 1;
constexpr std::size_t kAnnounceTag = 3;
constexpr std::size_t kLoopTag = 4;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The numbers by which the papers' algorithms are told, of ranks taken here and there.
Job job_of(const ScaledWorkload& workload, int ranks, int aggregators, Direction direction) {
  Job job{.direction = direction, .ranks = ranks, .aggregators = aggregators};
  const auto whole = [&](int rank) {
    const Part part = workload.part(rank, ranks, 0);
    return part.view.span_of(0, part.bytes);
  };
  std::int64_t end = 0;
  std::int64_t begin = whole(0).offset;
  std::int64_t bytes = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    begin = std::min(begin, whole(rank).offset);
    end = std::max(end, whole(rank).end());
    bytes += workload.part(rank, ranks, 0).bytes;
  }
  job.region = end - begin;
  job.holes = bytes < job.region;

  const Part part = workload.part(ranks / 2, ranks, 0);
  job.bytes = part.bytes;
  job.pieces = part.view.blocks_in(0, part.bytes);
  job.described = part.view.loop.blocks();
  const auto parts_with_data = [&](std::int64_t length) {
    std::int64_t parts = 0;
    for (std::int64_t at = begin; at < end; at += length) {
      const std::int64_t first = std::min(part.view.position_of(at), part.bytes);
      const std::int64_t last = std::min(part.view.position_of(at + length), part.bytes);
      if (last > first) ++parts;
    }
    return parts;
  };
  const std::int64_t realm = (job.region + aggregators - 1) / aggregators;
  job.owners = parts_with_data(realm);
  job.shares = parts_with_data(std::min(realm, job.window_bytes));
  return job;
}

/// What one workload came to at one number of ranks: its last call, and what led there.
struct Measured {
  int ranks = 0;
  int aggregators = 0;
  Cost first;             // call: descriptions travel
  Cost last;              // equal to the first where there is one
  double mean_bytes = 0;  // memory a rank holds at most, beside its node's windows
  double most_bytes = 0;
  double open_bytes = 0;    // of it after open, on average
  double shared_bytes = 0;  // of the node with the most
  double wall_s = 0;
  bool ok = true;
};

void measure_memory(const Fleet& fleet, sim::ClockedWorld& world, Measured& m) {
  for (int rank = 0; rank < fleet.size(); ++rank) {
    const auto most = static_cast<double>(most_held(rank));
    m.mean_bytes += most / fleet.size();
    m.most_bytes = std::max(m.most_bytes, most);
    m.shared_bytes = std::max(m.shared_bytes, static_cast<double>(world.shared_bytes(rank)));
  }
}

Measured measure(const ScaledWorkload& workload, int ranks, int aggregators, const Machine& machine,
                 Direction direction) {
  Measured m{.ranks = ranks, .aggregators = aggregators, .first = {}, .last = {}};
  const double begun = seconds_now();
  count_memory(ranks);
  Fleet fleet(machine, ranks);
  m.ok = fleet
             .open({{"romio_cb_write", "enable"},
                    {"romio_cb_read", "enable"},
                    {"cb_nodes", std::to_string(aggregators)}})
             .ok;
  for (int rank = 0; rank < ranks; ++rank) m.open_bytes += static_cast<double>(held(rank)) / ranks;
  forget_peaks();
  fleet.storage().set_size(std::int64_t{1} << 42);
  std::int64_t done = 0;
  for (int call = 0; m.ok && call < workload.calls; ++call) {
    const auto parts = [&](int rank) {
      return workload.part(rank, ranks, workload.moves_view ? call : 0);
    };
    if (call == 0 || workload.moves_view) m.ok = fleet.set_view(parts).ok;
    m.last = fleet.move(direction, parts, done, true);
    m.ok = m.ok && m.last.ok;
    if (call == 0) m.first = m.last;
    if (!workload.moves_view) done += parts(0).bytes;
  }
  measure_memory(fleet, fleet.world(), m);
  m.ok = m.ok && fleet.close().ok && fleet.world().messages_left() == 0;
  m.wall_s = seconds_now() - begun;
  return m;
}

std::string bytes_text(double bytes) {
  if (bytes < 9999.5) return fmt::format("{:.0f} B", bytes);
  if (bytes < 9999.5 * 1024) return fmt::format("{:.0f} KiB", bytes / 1024);
  return fmt::format("{:.0f} MiB", bytes / (1 << 20));
}
std::string ms_text(double ns) {
  return ns < 1e8 ? fmt::format("{:.2f}", ns / 1e6) : fmt::format("{:.0f}", ns / 1e6);
}
double described_bytes(const Traffic& t) {
  return static_cast<double>(t.sent[kAnnounceTag].bytes + t.sent[kLoopTag].bytes);
}
std::int64_t messages(const Traffic& t) {
  return t.all_sent().messages + t.all_received().messages;
}

void print_simulated(const Measured& m, const Cost& cost, std::string_view what) {
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n", m.ranks, what, messages(cost.mean),
             messages(cost.most), bytes_text(described_bytes(cost.mean)), bytes_text(m.mean_bytes),
             bytes_text(m.most_bytes), ms_text(cost.ns));
}

void print_estimate(int ranks, const Estimate& e, std::string_view what) {
  fmt::print("| {} | {} | {:.0f} | {:.0f} | {} | {} | {} | {} |\n", ranks, what, e.rank_messages,
             e.aggregator_messages, bytes_text(e.description_bytes), bytes_text(e.rank_memory),
             bytes_text(e.aggregator_memory), ms_text(e.ns));
}

void print_inside(const Measured& m, const Cost& cost, std::string_view call) {
  const auto nodes = static_cast<double>((m.ranks + 63) / 64);
  const Traffic& most = cost.most;
  fmt::print("| {} | {} | {} | {} | {:.2f} | {} | {} | {} | {} | {} | {} | {} | {:.0f} s |\n",
             m.ranks, call, m.aggregators, most.sent[kAgreeTag].messages,
             static_cast<double>(most.received[kAnnounceTag].messages) / nodes, most.longest_queue,
             bytes_text(m.open_bytes), bytes_text(m.shared_bytes), cost.requests,
             cost.steps / m.ranks, ms_text(cost.cpu_mean_ns), ms_text(cost.cpu_busiest_ns),
             m.wall_s);
}

void print_workload(const ScaledWorkload& workload, const Options& options) {
  const Machine machine = sim::cluster();
  std::vector<Measured> all;
  fmt::print(
      "\n### {} ({})\n\n| ranks | algorithm | messages of a rank | of the busiest | description a "
      "rank sends | memory of a rank | of the largest | time, ms |\n"
      "|---:|---|---:|---:|---:|---:|---:|---:|\n",
      workload.name, workload.paper);
  for (const int wanted : options.ranks) {
    const int ranks = workload.ranks_up_to(wanted);
    const int nodes = (ranks + machine.ranks_per_node - 1) / machine.ranks_per_node;
    const int aggregators = options.aggregators > 0 ? static_cast<int>(options.aggregators)
                                                    : std::min(nodes, kMostAggregators);
    const Measured& m =
        all.emplace_back(measure(workload, ranks, aggregators, machine, options.direction));
    if (!m.ok) fmt::print("| {} | **failed** | | | | | | |\n", ranks);
    print_simulated(m, m.first, "Tamis, simulated");
    if (workload.calls > 1) print_simulated(m, m.last, "the same, last call");
    const Job job = job_of(workload, ranks, aggregators, options.direction);
    print_estimate(ranks, sim::original_two_phase(job, machine), "two-phase, model");
    print_estimate(ranks, sim::flexible_realms(job, machine), "flexible realms, model");
    std::fflush(stdout);
  }
  fmt::print(
      "\n| ranks | call | aggregators | survey and agreement: most messages sent | announcements "
      "per (node, aggregator) | longest queue | memory after open | shared memory of a node | "
      "requests | steps of a rank | CPU of a rank, ms | "
      "of the busiest, ms | simulation |\n"
      "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const Measured& m : all) {
    print_inside(m, m.first, "first");
    if (workload.calls > 1) print_inside(m, m.last, "last");
  }
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) items.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return items;
}

void run(const Options& options) {
  if (options.paragon) return print_paragon();
  for (const ScaledWorkload& workload : sim::scaled_workloads()) {
    const auto& wanted = options.workloads;
    if (wanted.empty() || std::ranges::find(wanted, workload.name) != wanted.end())
      print_workload(workload, options);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i == argc) throw patterns::Unfit(fmt::format("{} wants a value", word));
      return argv[i];
    };
    if (word == "--ranks") {
      options.ranks.clear();
      for (const std::string& item : listed(value()))
        options.ranks.push_back(static_cast<int>(patterns::parse_size(item)));
    } else if (word == "--workloads") {
      options.workloads = listed(value());
    } else if (word == "--aggregators") {
      options.aggregators = patterns::parse_size(value());
    } else if (word == "--read") {
      options.direction = Direction::read;
    } else if (word == "--paragon") {
      options.paragon = true;
    } else {
      throw patterns::Unfit(fmt::format("{} is not known here", word));
    }
  }
  return options;
}

}  // namespace
}  // namespace tamis::scale

int main(int argc, char** argv) {
  try {
    tamis::scale::run(tamis::scale::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tamis-scale: {}\n", error.what());
    return 2;
  }
}
