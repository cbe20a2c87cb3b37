#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "json.hpp"
#include "mpi/shared_segment.hpp"
#include "probe.hpp"

namespace tamis::probe {
namespace {

constexpr std::int64_t kSegmentBytes =
    16 << 20;  // an aggregator's windows, unless hints say otherwise
constexpr std::byte kMark{0x5a};

/// The other process: opens the memory as a rank does, and leaves a mark in it. Its exit code is
/// the errno, or 255 for what has none.
int attach_and_mark(const SegmentName& name) {
  const Result<std::unique_ptr<Segment>> segment = attach_shared_segment(name);
  if (!segment.ok()) return segment.status().os_error != 0 ? segment.status().os_error : 255;
  (*segment)->data()[0] = kMark;
  return 0;
}

std::string let_another_attach(Segment& segment) {
  const pid_t child = fork();
  if (child == 0) _exit(attach_and_mark(segment.name()));
  int end = 0;
  if (child < 0) return "no second process can be started";
  while (waitpid(child, &end, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(end)) return "the second process was ended by a signal";
  if (WEXITSTATUS(end) == 255) return "the memory is not the one that was shared";
  if (WEXITSTATUS(end) != 0) return strerror(WEXITSTATUS(end));
  return segment.data()[0] == kMark ? "ok" : "what one process writes another does not see";
}

/// Bytes of the segment's mapping that lie in huge pages, from smaps (proc(5)).
std::int64_t bytes_in_huge_pages(const std::byte* address) {
  std::ifstream maps("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(address));
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) inside = line.starts_with(begin);
    if (!inside || !line.starts_with("ShmemPmdMapped:")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::int64_t kib = 0;
    words >> kib;
    return kib << 10;
  }
  return 0;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int print_memory() {
  std::string shared = "ok";
  std::int64_t huge = 0;
  const Result<std::unique_ptr<Segment>> segment = create_shared_segment(kSegmentBytes);
  Status status = segment.status();
  if (segment.ok()) status = (*segment)->reserve(0, kSegmentBytes);
  if (status.ok()) {
    shared = let_another_attach(**segment);
    huge = bytes_in_huge_pages((*segment)->data());
  } else {
    shared = status.to_string();
  }
  fmt::print("{{\"shared\":{},\"bytes\":{},\"huge_bytes\":{},\"huge_setting\":{}}}\n",
             json::quoted(shared), kSegmentBytes, huge,
             json::quoted(first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled")));
  return 0;
}

}  // namespace tamis::probe
