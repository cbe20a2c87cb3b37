#pragma once

#include <span>
#include <string>

#include "file/record.hpp"

namespace tamis {

/// What a job document says of the process that writes it.
struct JobFacts {
  std::string tamis;    ///< version
  std::string mpi;      ///< "mpich", "openmpi"
  std::string program;  ///< command line
  std::string host;
  int rank = 0;               ///< of the writer, in MPI_COMM_WORLD
  int ranks = 1;              ///< of MPI_COMM_WORLD
  double began = 0;           ///< of the first record wish, seconds since 1970
  std::int64_t began_ns = 0;  ///< the same by clock_ns()
  std::int64_t ended_ns = 0;
};

/// The job document, format 1 (docs/seeing.md): one JSON object.
std::string job_document(const JobFacts& job, std::span<const FileRecord> files);

/// The timelines as a Chrome trace (also read by Perfetto): one JSON object; processes are files,
/// threads are ranks, times are microseconds since the job began.
std::string trace_document(const JobFacts& job, std::span<const FileRecord> files);

}  // namespace tamis
