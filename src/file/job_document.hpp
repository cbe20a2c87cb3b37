#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

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

/// The records of a job's first files. Of the others only their number is known.
class KeptRecords {
 public:
  explicit KeptRecords(std::size_t most) : most_(most) {}

  void keep(FileRecord record);
  std::span<const FileRecord> files() const { return files_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  std::size_t most_;
  std::vector<FileRecord> files_;
  std::int64_t left_out_ = 0;
};

// Documents are written file by file, a timeline event by event: beside the records they take
// memory for one of these.

/// The job document, format 1 (docs/seeing.md): one JSON object.
void write_job_document(const JobFacts& job, const KeptRecords& records, std::ostream& out);

/// The timelines as a Chrome trace (also read by Perfetto): one JSON object; processes are files,
/// threads are ranks, times are microseconds since the job began.
void write_trace_document(const JobFacts& job, const KeptRecords& records, std::ostream& out);

}  // namespace tamis
