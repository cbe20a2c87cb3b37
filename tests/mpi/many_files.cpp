// Many files at once whose openings no two ranks see in the same number: on MPI_COMM_WORLD, on
// halves of it, on ranks alone, by two threads on communicators of their own. Collective calls on
// all of them take turns; what each file holds is read back by the system's means.
//
// many_files [rounds = 20] [directory = .]

#include <cstdlib>
#include <thread>

#include "mpi/file_checks.hpp"

namespace {

using namespace file_checks;

constexpr int kPiece = 64;
constexpr int kPieces = 50;

char datum(int file, int rank, int round, int at) {
  return static_cast<char>(1 + (file * 31 + rank * 17 + round * 7 + at) % 127);
}

/// A file of one group of ranks, each of which writes its pieces in turns with the others.
class SharedFile {
 public:
  SharedFile(MPI_Comm comm, std::string name, int number)
      : name_(std::move(name)), number_(number), rank_(rank_in(comm)), ranks_(size_of(comm)) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");  // the ranks have to exchange
    MPI_Info_set(info, "tamis_pretend_nodes", number % 2 == 0 ? "2" : "0");  // by messages, too
    file_ = open_file(comm, name_, info);
    MPI_Info_free(&info);
    MPI_Datatype comb = MPI_DATATYPE_NULL;
    MPI_Type_vector(kPieces, kPiece, kPiece * ranks_, MPI_BYTE, &comb);
    MPI_Type_commit(&comb);
    must(MPI_File_set_view(file_, MPI_Offset{rank_} * kPiece, MPI_BYTE, comb, "native",
                           MPI_INFO_NULL),
         "set_view");
    MPI_Type_free(&comb);
  }

  void write(int round) {
    std::vector<char> data(std::size_t{kPieces} * kPiece);
    for (int i = 0; i < kPieces * kPiece; ++i)
      data[static_cast<std::size_t>(i)] = datum(number_, rank_, round, i);
    must(
        MPI_File_write_at_all(file_, 0, data.data(), kPieces * kPiece, MPI_BYTE, MPI_STATUS_IGNORE),
        "write_at_all");
  }

  void close() { must(MPI_File_close(&file_), "close"); }

  /// Bytes that are not those of the round. REQUIRES: all ranks have written.
  long wrong(int round) const {
    std::vector<char> bytes = bytes_of_file(name_);
    const auto size = std::size_t{kPieces} * kPiece * static_cast<std::size_t>(ranks_);
    long found = bytes.size() == size ? 0 : 1;
    bytes.resize(size);
    for (int i = 0; i < static_cast<int>(size); ++i) {
      const int piece = i / kPiece;
      const int at = piece / ranks_ * kPiece + i % kPiece;
      found += bytes[static_cast<std::size_t>(i)] != datum(number_, piece % ranks_, round, at);
    }
    if (found != 0) std::fprintf(stderr, "%s: %ld bytes are wrong\n", name_.c_str(), found);
    return found;
  }

 private:
  std::string name_;
  int number_;
  int rank_;
  int ranks_;
  MPI_File file_ = MPI_FILE_NULL;
};

/// Opens and closes files of this rank alone, another number of times on every rank.
void open_some_alone(const std::string& name, int rank, int round) {
  for (int i = 0; i < (rank * 5 + round * 3) % 7; ++i) {
    const std::string own = name + ".alone." + std::to_string(rank);
    MPI_File file = open_file(MPI_COMM_SELF, own);
    must(MPI_File_close(&file), "close");
    unlink(own.c_str());
  }
}

/// Everything open at once, calls in turns. `half`: half of the ranks, which opens more files in
/// one half than in the other.
long in_turns(const std::string& name, MPI_Comm half, bool odd, int rounds) {
  const int rank = rank_in(MPI_COMM_WORLD);
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    open_some_alone(name, rank, round);
    std::vector<SharedFile> of_world, of_half;
    of_world.emplace_back(MPI_COMM_WORLD, name + ".world.0", 0);
    const std::string half_name = name + (odd ? ".odd." : ".even.");
    for (int i = 0; i < (odd ? 3 : 1); ++i)
      of_half.emplace_back(half, half_name + std::to_string(i), 10 + i);
    SharedFile alone(MPI_COMM_SELF, name + ".self." + std::to_string(rank), 20);
    open_some_alone(name, rank, round + 1);
    of_world.emplace_back(MPI_COMM_WORLD, name + ".world.1", 1);
    for (const bool again : {false, true}) {
      of_world[again ? 0 : 1].write(round);
      for (SharedFile& file : of_half) file.write(round);
      alone.write(round);
      of_world[again ? 1 : 0].write(round);
    }
    for (SharedFile& file : of_world) file.close();
    for (SharedFile& file : of_half) file.close();
    alone.close();
    MPI_Barrier(MPI_COMM_WORLD);
    for (const SharedFile& file : of_world) wrong += file.wrong(round);
    for (const SharedFile& file : of_half) wrong += file.wrong(round);
    wrong += alone.wrong(round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return wrong;
}

/// One thread's loop on a communicator nobody else uses; now and then on a fresh one.
long on_own_communicator(MPI_Comm comm, const std::string& name, int number, int rounds) {
  const int rank = rank_in(comm);
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm used = comm;
    if (round % 8 == 7) MPI_Comm_dup(comm, &used);
    open_some_alone(name, rank, round);
    SharedFile file(used, name, number);
    file.write(round);
    file.close();
    if (used != comm) MPI_Comm_free(&used);
    MPI_Barrier(comm);
    if (rank == round % size_of(comm)) wrong += file.wrong(round);
    MPI_Barrier(comm);
  }
  return wrong;
}

long by_two_threads(const std::string& name, int rounds) {
  MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  long wrong[2] = {0, 0};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      wrong[i] =
          on_own_communicator(comms[i], name + ".thread." + std::to_string(i), 30 + i, rounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return wrong[0] + wrong[1];
}

void remove_files(const std::string& name, int rank) {
  unlink((name + ".self." + std::to_string(rank)).c_str());
  if (rank != 0) return;
  for (const char* kind : {".world.", ".odd.", ".even.", ".thread."})
    for (int i = 0; i < 3; ++i) unlink((name + kind + std::to_string(i)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  start_with_threads(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::string name = scratch_name(argc > 2 ? argv[2] : ".", "many_files");
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool odd = rank % 2 != 0;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, odd ? 1 : 0, 0, &half);
  long wrong = in_turns(name, half, odd, rounds);
  wrong += by_two_threads(name, rounds * 4);
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
  remove_files(name, rank);
  return verdict("many_files", wrong);
}
