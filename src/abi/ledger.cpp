#include "abi/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "abi/library.hpp"
#include "abi/say.hpp"
#include "base/attempt.hpp"
#include "file/record_text.hpp"
#include "mpi/comm_state.hpp"
#include "mpi/host.hpp"
#include "tamis/version.h"

namespace tamis::abi {
namespace {

bool is_on(const char* value) {
  const std::string_view text = value == nullptr ? "" : value;
  return !text.empty() && text != "0" && text != "off" && text != "no";
}

std::string text_of(const char* value) { return value == nullptr ? "" : value; }

/// The command line, words apart by spaces.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text)
    if (c == '\0') c = ' ';
  return text;
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  if (host().Get_processor_name(name.data(), &length) != MPI_SUCCESS) return {};
  return name.data();
}

using Document = void(const JobFacts&, const KeptRecords&, std::ostream&);

void write(const std::string& path, Document document, const JobFacts& job,
           const KeptRecords& records) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const Status written = attempt([&] {
    document(job, records, file);
    return Status{};
  });
  file.close();
  if (!written.ok() || !file) say(fmt::format("{} could not be written", path).c_str());
}

}  // namespace

SeeingWishes SeeingWishes::from_environment() {
  return {.stats = is_on(std::getenv("TAMIS_STATS")),
          .explain = is_on(std::getenv("TAMIS_EXPLAIN")),
          .report = text_of(std::getenv("TAMIS_REPORT")),
          .trace = text_of(std::getenv("TAMIS_TRACE"))};
}

/// At the first file. REQUIRES: mutex_ is held.
void Ledger::start() {
  started_ = true;
  wishes_ = SeeingWishes::from_environment();
  if (wishes_.report.empty() && wishes_.trace.empty()) return;
  job_.tamis = TAMIS_VERSION;
  job_.mpi = TAMIS_HOST_NAME;
  job_.program = command_line();
  job_.host = host_name();
  host().Comm_rank(MPI_COMM_WORLD, &job_.rank);
  host().Comm_size(MPI_COMM_WORLD, &job_.ranks);
  stretches_.emplace(std::max(kMostEvents / job_.ranks, kLeastEvents));
  job_.began_ns = clock_ns();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  job_.began = std::chrono::duration<double>(now).count();
  at_finalize(&Ledger::finish);
}

RecordWishes Ledger::wishes(const std::string& name) {
  const std::lock_guard held(mutex_);
  if (!started_) start();
  RecordWishes wishes;
  wishes.counters = wishes_.stats || !wishes_.report.empty();
  wishes.decisions = wishes_.explain;
  wishes.timeline = !wishes_.trace.empty();
  wishes.stretches = stretches_ ? &*stretches_ : nullptr;
  if (wishes.decisions)
    wishes.say = [name](const std::string& text) {
      say(fmt::format("{}: {}", name, text).c_str());
    };
  return wishes;
}

void Ledger::keep(FileRecord record) {
  const std::lock_guard held(mutex_);
  if (wishes_.stats) {
    std::string text = counters_text(record);
    text.pop_back();  // the sink ends the line
    say(text.c_str());
  }
  const bool documents = !wishes_.report.empty() || !wishes_.trace.empty();
  if (documents) records_.keep(std::move(record));
}

void Ledger::finish() {
  static_cast<void>(attempt([] {
    library().ledger.write_documents();
    return Status{};
  }));
}

void Ledger::write_documents() {
  const std::lock_guard held(mutex_);
  if (records_.files().empty() && job_.rank != 0) return;
  job_.ended_ns = clock_ns();
  if (records_.left_out() > 0)
    say(fmt::format("{} files are not in the documents of this job: its first {} are kept",
                    records_.left_out(), kMostFiles)
            .c_str());
  const std::string part = job_.rank == 0 ? "" : fmt::format(".rank-{}", job_.rank);
  if (!wishes_.report.empty()) write(wishes_.report + part, write_job_document, job_, records_);
  if (!wishes_.trace.empty()) write(wishes_.trace + part, write_trace_document, job_, records_);
}

}  // namespace tamis::abi
