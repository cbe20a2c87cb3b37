#pragma once

#include <atomic>
#include <string>

/// A page that the ranks of one machine share: they meet on it without messages (a barrier of the
/// MPI polls, and with more ranks than cores would cost more than the tests), and note failures on
/// it.
namespace random_io {

class MeetingPage {
 public:
  /// Collective over `ranks` ranks on one machine. `path`: a file name none uses, the same on all
  /// ranks and new for each run; rank 0 makes the file, and removes it at once.
  /// `barrier` is called once or twice.
  MeetingPage(const std::string& path, int rank, int ranks, void (*barrier)());
  ~MeetingPage();
  MeetingPage(const MeetingPage&) = delete;
  MeetingPage& operator=(const MeetingPage&) = delete;

  /// Returns once all ranks have called it.
  void meet();
  void note_failure() { shared_->failures.fetch_add(1); }
  int failures() const { return shared_->failures.load(); }

 private:
  struct Shared {
    std::atomic<int> arrived, round, failures;
  };
  Shared* shared_;
  int ranks_;
};

}  // namespace random_io
