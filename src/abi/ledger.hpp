#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "file/job_document.hpp"
#include "file/record.hpp"

namespace tamis::abi {

/// What the user wants to see of the job, by the environment (docs/seeing.md): TAMIS_STATS=1,
/// TAMIS_EXPLAIN=1, TAMIS_REPORT=FILE, TAMIS_TRACE=FILE.
struct SeeingWishes {
  bool stats = false;
  bool explain = false;
  std::string report;
  std::string trace;

  static SeeingWishes from_environment();
};

/// Keeps the records of this process's files: prints what is to be printed, and writes the job's
/// documents at the end of MPI. The process of rank 0 in MPI_COMM_WORLD writes FILE; another one
/// that was rank 0 of some file writes FILE.rank-N beside it.
class Ledger final : public RecordKeeper {
 public:
  RecordWishes wishes(const std::string& name) override;
  void keep(FileRecord record) override;

 private:
  void start();
  static void finish();
  void write_documents();

  // What a job may fill memory and documents with. A rank gets its share of the events, but at
  // least so many.
  static constexpr std::size_t kMostFiles = 1000;
  static constexpr std::int64_t kMostEvents = 400'000;
  static constexpr std::int64_t kLeastEvents = 1000;

  std::mutex mutex_;
  bool started_ = false;
  SeeingWishes wishes_;
  JobFacts job_;
  std::optional<StretchBudget> stretches_;
  KeptRecords records_{kMostFiles};
};

}  // namespace tamis::abi
