// Several threads of every rank on one file, without any lock of their own (MPI 4.1, section 14.6:
// the file pointer and the file belong to all of them).
//
// - With the individual pointer each call gets a range of its own: every record is in the file
// once.
// - Through two opens of the file, one writing pieces with holes by reading, changing and writing
//   back, the other values into the holes: neither loses a byte of the other's.
//
// threads [rounds = 200] [directory = .]

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <tuple>

#include "mpi/file_checks.hpp"

namespace {

using namespace file_checks;

constexpr int kThreads = 4;

template <typename Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

struct Record {
  std::int32_t rank, thread, number, check;
  std::array<std::int32_t, 12> rest;

  static Record of(int rank, int thread, int number) {
    Record record{rank, thread, number, rank * 7919 + thread * 104729 + number, {}};
    record.rest.fill(record.check);
    return record;
  }
  bool whole() const {
    const Record wanted = of(rank, thread, number);
    return std::memcmp(this, &wanted, sizeof *this) == 0;
  }
  auto key() const { return std::tuple(rank, thread, number); }
};
static_assert(sizeof(Record) == 64);

/// Every rank's records in turns, so that the view has holes, or one rank after the other.
void set_record_view(MPI_File file, bool in_turns, int records) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Datatype view = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Record), MPI_BYTE, &record);
  MPI_Type_create_resized(record, 0, static_cast<MPI_Aint>(sizeof(Record)) * (in_turns ? ranks : 1),
                          &view);
  MPI_Type_commit(&view);
  const MPI_Offset first =
      static_cast<MPI_Offset>(sizeof(Record)) * rank * (in_turns ? 1 : records);
  must(MPI_File_set_view(file, first, MPI_BYTE, view, "native", MPI_INFO_NULL), "set_view");
  MPI_Type_free(&record);
  MPI_Type_free(&view);
}

long wrong_records(const std::string& name, int records_in_all) {
  const std::vector<char> bytes = bytes_of_file(name);
  std::set<std::tuple<int, int, int>> seen;
  long wrong = 0;
  for (std::size_t at = 0; at + sizeof(Record) <= bytes.size(); at += sizeof(Record)) {
    Record record{};
    std::memcpy(&record, bytes.data() + at, sizeof record);
    if (!record.whole() || !seen.insert(record.key()).second) ++wrong;
  }
  const auto found = static_cast<long>(seen.size());
  if (found != records_in_all || wrong != 0)
    std::fprintf(stderr, "%ld of %d records, %ld broken or twice\n", found, records_in_all, wrong);
  return wrong + records_in_all - found;
}

long one_pointer(const std::string& name, bool in_turns, int rounds) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_COMM_WORLD, name);
  set_record_view(file, in_turns, kThreads * rounds);
  in_threads([&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      const Record record = Record::of(rank, thread, i);
      must(MPI_File_write(file, &record, sizeof record, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    }
  });
  MPI_Offset position = -1;
  must(MPI_File_get_position(file, &position), "get_position");
  long wrong = position == static_cast<MPI_Offset>(sizeof(Record)) * kThreads * rounds ? 0 : 1;
  must(MPI_File_close(&file), "close");
  if (rank == 0) wrong += wrong_records(name, kThreads * rounds * size_of(MPI_COMM_WORLD));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name.c_str());
  return wrong;
}

/// The file is cells of 128 bytes: 8 for each rank's pieces, then 8 for each rank's values.
constexpr int kCell = 128;
constexpr int kValue = 8;
constexpr int kMostRanks = kCell / kValue / 2;
constexpr int kCells = 256;

std::int64_t value_of(int rank, int cell, int round, bool piece) {
  return (((std::int64_t{round} * kMostRanks + rank) * kCells + cell) * 2 + (piece ? 1 : 0)) + 1;
}

/// Writes the pieces of a stretch of cells at once; they lie apart in the file.
void write_pieces(MPI_File sieving, int stretch, int stretches, int round) {
  std::array<std::int64_t, kCells> values{};
  const int cells = kCells / stretches;
  const int first = stretch * cells;
  for (int i = 0; i < cells; ++i)
    values[static_cast<std::size_t>(i)] = value_of(rank_in(MPI_COMM_WORLD), first + i, round, true);
  must(MPI_File_write_at(sieving, MPI_Offset{first} * kValue, values.data(), cells * kValue,
                         MPI_BYTE, MPI_STATUS_IGNORE),
       "pieces");
}

/// Puts values into the holes and sees whether they stay; the number of those that do not.
long write_values(MPI_File plain, int first, int step, int round) {
  const int rank = rank_in(MPI_COMM_WORLD);
  long lost = 0;
  for (int cell = first; cell < kCells; cell += step) {
    const MPI_Offset at = MPI_Offset{cell} * kCell + kCell / 2 + MPI_Offset{rank} * kValue;
    const std::int64_t value = value_of(rank, cell, round, false);
    std::int64_t there = 0;
    must(MPI_File_write_at(plain, at, &value, kValue, MPI_BYTE, MPI_STATUS_IGNORE), "value");
    must(MPI_File_read_at(plain, at, &there, kValue, MPI_BYTE, MPI_STATUS_IGNORE), "look");
    if (there != value) ++lost;
  }
  return lost;
}

long wrong_cells(const std::string& name, int ranks, int round) {
  std::vector<char> bytes = bytes_of_file(name);
  bytes.resize(std::size_t{kCells} * kCell);
  long wrong = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (const bool piece : {true, false}) {
        std::int64_t there = 0;
        const int at = cell * kCell + (piece ? 0 : kCell / 2) + rank * kValue;
        std::memcpy(&there, bytes.data() + at, kValue);
        if (there != value_of(rank, cell, round, piece)) ++wrong;
      }
    }
  }
  return wrong;
}

long two_opens(const std::string& name, int rounds) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_ds_write", "enable");
  MPI_File sieving = open_file(MPI_COMM_WORLD, name, info);
  MPI_File plain = open_file(MPI_COMM_WORLD, name);
  MPI_Info_free(&info);
  MPI_Datatype comb = MPI_DATATYPE_NULL;
  MPI_Type_vector(kCells, kValue, kCell, MPI_BYTE, &comb);
  MPI_Type_commit(&comb);
  must(MPI_File_set_view(sieving, MPI_Offset{rank} * kValue, MPI_BYTE, comb, "native",
                         MPI_INFO_NULL),
       "set_view");
  MPI_Type_free(&comb);

  std::atomic<long> wrong = 0;
  in_threads([&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      if (thread % 2 == 0)
        write_pieces(sieving, thread / 2, kThreads / 2, round);
      else
        wrong += write_values(plain, thread / 2, kThreads / 2, round);
    }
  });
  must(MPI_File_close(&plain), "close");
  must(MPI_File_close(&sieving), "close");
  if (rank == 0) wrong += wrong_cells(name, size_of(MPI_COMM_WORLD), rounds - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name.c_str());
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  start_with_threads(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string name = scratch_name(argc > 2 ? argv[2] : ".", "threads");
  if (size_of(MPI_COMM_WORLD) > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  long wrong = one_pointer(name, false, rounds);
  wrong += one_pointer(name, true, rounds);
  wrong += two_opens(name, std::max(1, rounds / 10));
  return verdict("threads", wrong);
}
