/// Independent read-modify-writes of all ranks at once into the same stretch of a file: nobody puts
/// old bytes back over what another rank has written meanwhile.
///
///   random_io_sieves [rounds = 500] [directory = .]
///
/// The last rank writes every second double of a stretch of many sieve windows. The others write
/// single doubles between them, further apart than a window: for them each is a window without
/// holes.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "random_io_meet.hpp"
#include "random_io_types.hpp"

namespace random_io {
namespace {

constexpr int window_slots = 2048;
constexpr int windows = 32;
constexpr int slots = window_slots * windows;
constexpr unsigned patience = 100;  // seconds

struct Ranks {
  int rank = 0, ranks = 0;
  /// Where `rank`'s doubles are in the file, in doubles.
  std::vector<int> places(int of) const {
    std::vector<int> found;
    const bool comb = of == ranks - 1;
    for (int at = comb ? 0 : 2 * of + 1; at < slots; at += comb ? 2 : window_slots + 2) {
      found.push_back(at);
    }
    return found;
  }
};

double value(int round, int slot) { return round * 1000.0 + slot + 0.5; }

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

MPI_File open_with_view(const std::string& path, const Ranks& who) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ind_wr_buffer_size", std::to_string(8 * window_slots).c_str());
  MPI_Info_set(info, "romio_ds_write", "enable");
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file) !=
      MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Info_free(&info);
  MPI_Datatype filetype;
  const std::vector<int> places = who.places(who.rank);
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_DOUBLE,
                                &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL);
  MPI_Type_free(&filetype);
  return file;
}

bool write_round(MPI_File file, const Ranks& who, int round) {
  std::vector<double> data;
  for (const int slot : who.places(who.rank)) data.push_back(value(round, slot));
  MPI_Status status;
  return MPI_File_write_at(file, 0, data.data(), static_cast<int>(data.size()), MPI_DOUBLE,
                           &status) == MPI_SUCCESS;
}

/// Number of doubles that are not what their rank wrote in this round.
int lost(int fd, const Ranks& who, int round) {
  std::vector<double> found(slots);
  const ssize_t bytes = pread(fd, found.data(), 8 * found.size(), 0);
  found.resize(static_cast<std::size_t>(bytes < 0 ? 0 : bytes / 8));
  found.resize(slots);
  int count = 0;
  for (int rank = 0; rank < who.ranks; ++rank) {
    for (const int slot : who.places(rank)) {
      count += found[static_cast<std::size_t>(slot)] != value(round, slot);
    }
  }
  return count;
}

int run(int rounds, const std::string& directory) {
  Ranks who;
  long id = getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &who.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &who.ranks);
  MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const std::string path = directory + "/random_io_sieves." + std::to_string(id);
  MeetingPage page(path + ".page", who.rank, who.ranks, barrier);
  alarm(patience);
  MPI_File file = open_with_view(path, who);
  const int fd = open(path.c_str(), O_RDONLY);
  int lost_slots = 0;
  for (int round = 1; round <= rounds; ++round) {
    page.meet();
    if (!write_round(file, who, round)) page.note_failure();
    page.meet();
    if (who.rank == 0) lost_slots += lost(fd, who, round);
  }
  MPI_File_close(&file);
  close(fd);
  if (who.rank != 0) return page.failures() == 0 ? 0 : 1;
  unlink(path.c_str());
  std::printf("random_io_sieves: %d rounds, %d ranks: %d writes failed, %d values lost\n", rounds,
              who.ranks, page.failures(), lost_slots);
  return page.failures() == 0 && lost_slots == 0 ? 0 : 1;
}

}  // namespace
}  // namespace random_io

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = random_io::run(argc > 1 ? std::atoi(argv[1]) : 500, argc > 2 ? argv[2] : ".");
  MPI_Finalize();
  return result;
}
