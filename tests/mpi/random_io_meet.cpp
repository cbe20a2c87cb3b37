#include "random_io_meet.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

namespace random_io {

MeetingPage::MeetingPage(const std::string& path, int rank, int ranks, void (*barrier)())
    : ranks_(ranks) {
  int fd = -1;
  if (rank == 0) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0 && ftruncate(fd, sizeof(Shared)) != 0) std::perror(path.c_str());
  }
  barrier();
  if (rank != 0) fd = open(path.c_str(), O_RDWR);
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    std::perror(path.c_str());
    std::exit(2);
  }
  close(fd);
  shared_ = static_cast<Shared*>(page);
  barrier();
  if (rank == 0) unlink(path.c_str());
}

MeetingPage::~MeetingPage() { munmap(shared_, sizeof(Shared)); }

void MeetingPage::meet() {
  auto* word = reinterpret_cast<int*>(&shared_->round);
  const int round = shared_->round.load();
  if (shared_->arrived.fetch_add(1) + 1 == ranks_) {
    shared_->arrived.store(0);
    shared_->round.fetch_add(1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return;
  }
  while (shared_->round.load() == round) {
    syscall(SYS_futex, word, FUTEX_WAIT, round, nullptr, nullptr, 0);
  }
}

}  // namespace random_io
