// Transfers that come short, are interrupted or fail, and locks that are refused, on one rank or on
// all, by libfault_shim.so: what the call says afterwards must be the truth, on every rank.
//
// - Short and interrupted calls: success, and every byte is right.
// - A byte the device cannot move: MPI_ERR_IO on the ranks concerned, in a collective on all, with
//   file and cause in the message; as many leading bytes as the status counts are there.
// - Refused locks: right bytes or an error that says so; bytes in holes stay what they were.
//
// faults [directory = .]; rank 0 must have libfault_shim.so before all other preloads.

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "mpi/file_checks.hpp"

namespace {

using namespace file_checks;

constexpr int kBytes = 16 << 10;  // of one rank
constexpr int kPiece = 512;
constexpr char kOld = '\x7e';  // never a datum
constexpr const char* kEnding = ".faulty";

enum class Shape { blocks, tiled, holes };
constexpr std::array kShapeNames = {"blocks", "tiled", "with holes"};

/// One call and how the library is told to go about it.
struct Access {
  bool write, all, explicit_offset;
  Shape shape;
  bool by_windows;  ///< sieving and two-phase are demanded by hints
};

struct Fault {
  std::string text;
  int rank = -1;                    ///< who meets it; -1: all
  const char* locks = "automatic";  ///< the hint tamis_locks
};

struct Answer {
  int error_class, count;
  std::string message;
};

struct World {
  int rank, ranks;
  std::string path;
};

char datum(int rank, int position) {
  return static_cast<char>((position * 7 + position / kPiece * 13 + rank * 29) % 120);
}

/// Where the byte at `position` of a rank's stream lies in the file.
int place(const World& world, Shape shape, int rank, int position) {
  if (shape == Shape::blocks) return rank * kBytes + position;
  const int columns = shape == Shape::tiled ? world.ranks : 2 * world.ranks;
  return (position / kPiece * columns + rank) * kPiece + position % kPiece;
}

int file_bytes(const World& world, Shape shape) {
  return kBytes * world.ranks * (shape == Shape::holes ? 2 : 1);
}

/// Leading bytes of a rank's stream that lie before a byte of the file.
int reach(const World& world, Shape shape, int rank, int byte) {
  int position = 0;
  while (position < kBytes && place(world, shape, rank, position) < byte) ++position;
  return position;
}

/// Old bytes to be written over, or the data to be read.
void prepare_file(const World& world, const Access& access) {
  if (world.rank == 0) {
    std::vector<char> bytes(static_cast<std::size_t>(file_bytes(world, access.shape)), kOld);
    for (int rank = 0; !access.write && rank < world.ranks; ++rank)
      for (int i = 0; i < kBytes; ++i)
        bytes[static_cast<std::size_t>(place(world, access.shape, rank, i))] = datum(rank, i);
    std::ofstream(world.path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

MPI_File open_for(const World& world, const Access& access, const Fault& fault) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tamis_locks", fault.locks);
  MPI_Info_set(info, "cb_buffer_size", "8192");  // several windows
  if (access.by_windows) {
    for (const char* hint : {"romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write"})
      MPI_Info_set(info, hint, "enable");
  }
  MPI_File file = open_file(MPI_COMM_WORLD, world.path, info);
  MPI_Info_free(&info);
  MPI_Datatype view = MPI_DATATYPE_NULL;
  const int stride = place(world, access.shape, 0, kPiece);
  MPI_Type_vector(kBytes / kPiece, kPiece, stride, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  must(MPI_File_set_view(file, place(world, access.shape, world.rank, 0), MPI_BYTE, view, "native",
                         MPI_INFO_NULL),
       "set_view");
  MPI_Type_free(&view);
  return file;
}

int call(MPI_File file, const Access& access, char* data, MPI_Status* status) {
  if (access.explicit_offset) {
    constexpr std::array at = {MPI_File_read_at, MPI_File_read_at_all};
    constexpr std::array put = {MPI_File_write_at, MPI_File_write_at_all};
    return access.write ? put[access.all](file, 0, data, kBytes, MPI_BYTE, status)
                        : at[access.all](file, 0, data, kBytes, MPI_BYTE, status);
  }
  constexpr std::array get = {MPI_File_read, MPI_File_read_all};
  constexpr std::array put = {MPI_File_write, MPI_File_write_all};
  return access.write ? put[access.all](file, data, kBytes, MPI_BYTE, status)
                      : get[access.all](file, data, kBytes, MPI_BYTE, status);
}

Answer answer_of(int code, MPI_Status& status) {
  Answer answer{MPI_SUCCESS, 0, {}};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_class(code, &answer.error_class);
  MPI_Get_count(&status, MPI_BYTE, &answer.count);
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  answer.message = text;
  return answer;
}

void set_fault(const World& world, const Fault& fault) {
  if (fault.rank < 0 || fault.rank == world.rank) setenv("TAMIS_FAULT", fault.text.c_str(), 1);
}

void clear_fault() { unsetenv("TAMIS_FAULT"); }

/// What a case came to on this rank.
struct Result {
  Answer answer;
  int present = 0;  ///< leading bytes that are where they belong
  bool holes_kept = true;
};

Result inspect(const World& world, const Access& access, const Answer& answer,
               const std::vector<char>& data) {
  Result result{answer};
  const std::vector<char> file = bytes_of_file(world.path);
  const auto in_file = [&](int at) { return file.at(static_cast<std::size_t>(at)); };
  while (result.present < kBytes) {
    const int i = result.present;
    const char there = access.write ? in_file(place(world, access.shape, world.rank, i))
                                    : data[static_cast<std::size_t>(i)];
    if (there != datum(world.rank, i)) break;
    ++result.present;
  }
  if (access.write && access.shape == Shape::holes) {
    const int hole = world.ranks * kPiece;
    for (int i = 0; i < kBytes; ++i)
      if (in_file(place(world, access.shape, world.rank, i) + hole) != kOld)
        result.holes_kept = false;
  }
  return result;
}

/// Runs one call under a fault. The call after it, without fault, must go well.
Result run(const World& world, const Access& access, const Fault& fault, bool from_open) {
  prepare_file(world, access);
  if (from_open) set_fault(world, fault);
  MPI_File file = open_for(world, access, fault);
  MPI_Barrier(MPI_COMM_WORLD);
  set_fault(world, fault);
  std::vector<char> data(kBytes, kOld);
  for (int i = 0; access.write && i < kBytes; ++i)
    data[static_cast<std::size_t>(i)] = datum(world.rank, i);
  MPI_Status status{};
  const int code = call(file, access, data.data(), &status);
  const Answer answer = answer_of(code, status);
  clear_fault();
  MPI_Barrier(MPI_COMM_WORLD);
  const Result result = inspect(world, access, answer, data);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!from_open) {
    must(MPI_File_seek(file, 0, MPI_SEEK_SET), "seek");
    must(call(file, access, data.data(), &status), "the call after the fault");
  }
  must(MPI_File_close(&file), "close");
  return result;
}

bool is_whole(const Result& r) {
  return r.answer.error_class == MPI_SUCCESS && r.answer.count == kBytes && r.present == kBytes;
}

bool is_true_error(const World& world, const Result& r, int error_class, const char* cause) {
  const std::string name = world.path.substr(world.path.rfind('/'));
  return r.answer.error_class == error_class && r.answer.count >= 0 &&
         r.answer.count <= r.present && r.answer.message.find(cause) != std::string::npos &&
         r.answer.message.find(name) != std::string::npos;
}

long report(const World& world, const Access& a, const Fault& fault, const Result& r, bool good) {
  if (good && r.holes_kept) return 0;
  std::fprintf(
      stderr,
      "rank %d: %s%s%s %s%s, locks %s, %s on rank %d: class %d, count %d, there %d, holes %s: %s\n",
      world.rank, a.write ? "write" : "read", a.explicit_offset ? "_at" : "", a.all ? "_all" : "",
      kShapeNames.at(static_cast<std::size_t>(a.shape)), a.by_windows ? " by windows" : "",
      fault.locks, fault.text.c_str(), fault.rank, r.answer.error_class, r.answer.count, r.present,
      r.holes_kept ? "kept" : "LOST", r.answer.message.c_str());
  return 1;
}

long obstacles(const World& world, const Access& access) {
  long wrong = 0;
  for (const char* text : {"short", "interrupt"}) {
    for (const int rank : {-1, world.ranks - 1}) {
      const Fault fault{.text = text, .rank = rank};
      const Result r = run(world, access, fault, false);
      wrong += report(world, access, fault, r, is_whole(r));
    }
  }
  return wrong;
}

/// Whether the bytes of any rank that is hit by a bad byte reach up to it.
bool anyone_hit(const World& world, const Access& access, int byte) {
  for (int rank = 0; rank < world.ranks; ++rank)
    if (reach(world, access.shape, rank, byte) < kBytes) return true;
  return false;
}

long bad_byte(const World& world, const Access& access) {
  long wrong = 0;
  for (const int byte : {0, file_bytes(world, access.shape) / 3 + 77}) {
    const Fault fault{.text = "eio_from:" + std::to_string(byte)};
    const Result r = run(world, access, fault, false);
    const int before = reach(world, access.shape, world.rank, byte);
    const bool hit = access.all ? anyone_hit(world, access, byte) : before < kBytes;
    bool good = hit ? is_true_error(world, r, MPI_ERR_IO, std::strerror(EIO)) : is_whole(r);
    // A window that is sieved is read first, so nothing of it may get there; single transfers are
    // counted to the byte.
    const bool exact = !access.all && (!access.write || access.shape == Shape::blocks);
    if (exact) good = good && r.answer.count == before;
    wrong += report(world, access, fault, r, good && r.answer.count <= before);
  }
  return wrong;
}

/// Other causes of EIO: all of one rank's transfers, a single one. Whoever is told of success has
/// all bytes; in a collective all are told the same.
long bad_rank_or_call(const World& world, const Access& access) {
  long wrong = 0;
  for (const Fault& fault : {Fault{.text = "eio_from:0", .rank = 0},
                             Fault{.text = "eio_from:0", .rank = world.ranks - 1},
                             Fault{.text = "eio_call:1"}, Fault{.text = "eio_call:2", .rank = 0}}) {
    const Result r = run(world, access, fault, false);
    bool good = is_whole(r) || is_true_error(world, r, MPI_ERR_IO, std::strerror(EIO));
    const int failed = r.answer.error_class == MPI_SUCCESS ? 0 : 1;
    int failures = 0;
    MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (access.all) good = good && (failures == 0 || failures == world.ranks);
    const bool must_fail =
        fault.text == "eio_from:0" && (access.all ? fault.rank == 0 : fault.rank == world.rank);
    if (must_fail) good = good && failed == 1;
    wrong += report(world, access, fault, r, good);
  }
  return wrong;
}

long no_locks(const World& world, const Access& access) {
  if (!access.write) return 0;
  long wrong = 0;
  for (const int error : {ENOLCK, EOPNOTSUPP}) {
    for (const char* kind : {"no_lock:", "no_locks:"}) {
      const Fault fault{.text = kind + std::to_string(error)};
      const Result r = run(world, access, fault, true);
      // Found out at open, whether the storage says so or fails: nothing that needs locks is done.
      wrong += report(world, access, fault, r, is_whole(r));
      const Fault promised{.text = fault.text, .locks = "disable"};
      const Result without = run(world, access, promised, true);
      wrong += report(world, access, promised, without, is_whole(without));
    }
  }
  return wrong;
}

void on_alarm(int) {
  constexpr char text[] = "faults: hangs\n";
  _exit(::write(2, text, sizeof text - 1) < 0 ? 101 : 100);
}

/// Every call and every shape, both ways; not every one of the products.
template <typename Judge>
long all_accesses(const World& world, Judge judge) {
  long wrong = 0;
  for (int bits = 0; bits < 8; ++bits) {
    for (int shape = 0; shape < static_cast<int>(kShapeNames.size()); ++shape) {
      const bool by_windows = (bits & 4) != 0;
      const bool explicit_offset = (shape % 2 != 0) != by_windows;
      const Access access{(bits & 1) != 0, (bits & 2) != 0, explicit_offset,
                          static_cast<Shape>(shape), by_windows};
      wrong += judge(world, access);
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::signal(SIGALRM, on_alarm);
  World world{rank_in(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD),
              scratch_name(argc > 1 ? argv[1] : ".", "faults") + kEnding};
  setenv("TAMIS_FAULT_FILE", kEnding, 1);
  long wrong = 0;
  for (const auto judge : {obstacles, bad_byte, bad_rank_or_call, no_locks}) {
    alarm(100);
    wrong += all_accesses(world, judge);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world.rank == 0) unlink(world.path.c_str());
  return verdict("faults", wrong);
}
