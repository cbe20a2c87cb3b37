/// Random accesses by real ranks through the public MPI API, every byte compared with an oracle.
///
///   random_io [scenarios = 100] [seed = 1] [directory = .] [only = -1] [kinds = rwice]
///
/// From the seed all ranks derive the same scenarios: views of many datatypes that interleave,
/// memory layouts with gaps, independent and collective, explicit offsets and the individual
/// pointer, small buffers and other hints, file contents under the holes, ends of file in the
/// middle of an access. After a write rank 0 compares the file, read past the MPI, with what its
/// own lists say; after a read every rank compares its memory and the counts. `only` runs a single
/// scenario; `kinds` restricts to r(eads), w(rites), i(ndependent), c(ollective).
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "random_io_meet.hpp"
#include "random_io_memory.hpp"
#include "random_io_views.hpp"

namespace random_io {
namespace {

constexpr int scenarios_per_file = 4;
constexpr unsigned patience = 60;  // seconds for one scenario

struct Options {
  std::int64_t scenarios = 100;
  std::uint64_t seed = 1;
  std::string directory = ".";
  std::int64_t only = -1;
  std::string kinds = "rwice";
  bool allows(char kind) const { return kinds.find(kind) != std::string::npos; }
};

/// What all ranks do together: the same on each of them.
struct Step {
  bool write, collective, explicit_offset;
  int repeats;  ///< accesses one after the other, each rank on its own stretch of the stream
  int number;
};

char running[512];  // for the handler of SIGALRM

void on_alarm(int) {
  const char head[] = "random_io: no end in sight: ";
  if (write(2, head, sizeof head - 1) < 0 || write(2, running, std::strlen(running)) < 0) _exit(4);
  _exit(3);
}

/// Runs the scenarios of one seed on one rank.
class Player {
 public:
  Player(const Options& options, MeetingPage& page, int rank, int ranks, std::string path)
      : options_(options), page_(page), rank_(rank), ranks_(ranks), path_(std::move(path)) {}

  void play(std::int64_t scenario);
  void close_file();

 private:
  void open_file(std::int64_t session);
  void set_content(Rng rng);
  Part part_of(Builder& builder, const Rng& scenario, const View& view, const Step& step, int rank);
  void run(const Rng& scenario, const View& view, const Step& step);
  MPI_Status call(const Step& step, const View& view, const Part& part, int repeat, Memory& memory);
  void expect_written(const Rng& scenario, const Step& step);
  void check_read(const View& view, const Step& step, const Part& part, int repeat,
                  const Bytes& content, Memory& memory, const MPI_Status& status);
  void check_counts(const Part& part, std::int64_t bytes, const MPI_Status& status);
  void check_file();
  void check_position(const View& view, const Part& part, const Step& step);
  void fail(const std::string& what);
  std::uint64_t salt(const Step& step, int rank, int repeat) const {
    return mix(options_.seed * 7919 + static_cast<std::uint64_t>(scenario_)) ^
           mix(static_cast<std::uint64_t>(step.number * 1000000 + rank * 100 + repeat + 1));
  }

  const Options& options_;
  MeetingPage& page_;
  int rank_, ranks_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  std::int64_t scenario_ = -1, session_ = -1;
  Pattern pattern_ = Pattern::bytes;
  Bytes expected_;  // rank 0: the file as it has to be
  std::string hints_text_, story_;
};

void Player::fail(const std::string& what) {
  page_.note_failure();
  if (page_.failures() > 20) return;
  std::fprintf(stderr,
               "random_io: FAILED seed %llu scenario %lld rank %d of %d: %s\n%s\n  hints:%s\n",
               static_cast<unsigned long long>(options_.seed), static_cast<long long>(scenario_),
               rank_, ranks_, what.c_str(), story_.c_str(), hints_text_.c_str());
}

void Player::open_file(std::int64_t session) {
  close_file();
  Rng rng = Rng(options_.seed).split(static_cast<std::uint64_t>(session)).split(99);
  MPI_Info info = random_hints(rng, hints_text_);
  const bool atomic = rng.percent(15);
  if (MPI_File_open(MPI_COMM_WORLD, path_.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file_) !=
      MPI_SUCCESS) {
    fail("MPI_File_open");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Info_free(&info);
  if (atomic) {
    hints_text_ += " (atomic)";
    if (MPI_File_set_atomicity(file_, 1) != MPI_SUCCESS) fail("MPI_File_set_atomicity");
  }
  session_ = session;
}

void Player::close_file() {
  if (file_ != MPI_FILE_NULL && MPI_File_close(&file_) != MPI_SUCCESS) fail("MPI_File_close");
}

void Player::set_content(Rng rng) {
  if (rank_ == 0) {
    std::int64_t size = rng.percent(15) ? 0 : rng.below(500 << 10);
    if (rng.percent(40)) size /= 8;
    expected_.resize(static_cast<std::size_t>(options_.allows('e') ? size : 1 << 20));
    const std::uint64_t noise = rng.next();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      expected_[i] = datum(noise, static_cast<std::int64_t>(i));
    }
    set_posix_content(path_, expected_);
  }
  page_.meet();
}

Part Player::part_of(Builder& builder, const Rng& scenario, const View& view, const Step& step,
                     int rank) {
  Rng rng = scenario.split(static_cast<std::uint64_t>(step.number * 1000 + rank + 5000));
  const Rules rules{.file = false, .depth = rng.percent(40) ? 0 : 3};
  Part part{.memory = random_type(builder, rng, view.etype, rules)};
  const std::int64_t unit = etypes_in(part.memory, view.etype);
  const std::int64_t want = rng.percent(12)   ? 0
                            : rng.percent(60) ? rng.below(200)
                                              : rng.below(16000);
  const std::int64_t room = view.limit / step.repeats;
  part.count = static_cast<int>(std::min(want, room) / unit);
  part.etypes = part.count * unit;
  part.first = rng.below(std::max<std::int64_t>(1, view.limit - part.etypes * step.repeats + 1));
  builder.commit(part.memory);
  return part;
}

MPI_Status Player::call(const Step& step, const View& view, const Part& part, int repeat,
                        Memory& memory) {
  const MPI_Offset at = part.first + repeat * part.etypes;
  void* data = memory.address();
  const MPI_Datatype type = part.memory.handle;
  const int n = part.count;
  MPI_Status status;
  int code;
  if (step.explicit_offset) {
    if (step.write) {
      code = step.collective ? MPI_File_write_at_all(file_, at, data, n, type, &status)
                             : MPI_File_write_at(file_, at, data, n, type, &status);
    } else {
      code = step.collective ? MPI_File_read_at_all(file_, at, data, n, type, &status)
                             : MPI_File_read_at(file_, at, data, n, type, &status);
    }
  } else {
    if (repeat == 0 && MPI_File_seek(file_, at, MPI_SEEK_SET) != MPI_SUCCESS) fail("seek");
    if (step.write) {
      code = step.collective ? MPI_File_write_all(file_, data, n, type, &status)
                             : MPI_File_write(file_, data, n, type, &status);
    } else {
      code = step.collective ? MPI_File_read_all(file_, data, n, type, &status)
                             : MPI_File_read(file_, data, n, type, &status);
    }
  }
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(std::string("the access: ") + text + "\n  memory " + part.memory.text + "\n  view " +
         view.filetype.text);
  }
  return status;
}

void Player::check_counts(const Part& part, std::int64_t bytes, const MPI_Status& status) {
  int count = -1, elements = -1;
  MPI_Get_count(&status, MPI_BYTE, &elements);
  if (elements != bytes) {
    fail("the status says " + std::to_string(elements) + " bytes, true are " +
         std::to_string(bytes));
  }
  if (part.count == 0) return;
  MPI_Get_count(&status, part.memory.handle, &count);
  const int whole =
      bytes % part.memory.size == 0 ? static_cast<int>(bytes / part.memory.size) : MPI_UNDEFINED;
  if (count != whole) {
    fail("MPI_Get_count says " + std::to_string(count) + ", true is " + std::to_string(whole));
  }
}

void Player::check_position(const View& view, const Part& part, const Step& step) {
  MPI_Offset position = -1;
  const MPI_Offset wanted = part.first + part.etypes * step.repeats;
  if (MPI_File_get_position(file_, &position) != MPI_SUCCESS || position != wanted) {
    fail("the individual pointer is at " + std::to_string(position) + ", not at " +
         std::to_string(wanted) + "\n  view " + view.filetype.text);
  }
}

void Player::check_read(const View& view, const Step&, const Part& part, int repeat,
                        const Bytes& content, Memory& memory, const MPI_Status& status) {
  Bytes stream;
  const std::int64_t etype = view.etype.size;
  walk(view, (part.first + repeat * part.etypes) * etype, part.etypes * etype,
       [&](std::int64_t at, std::int64_t length) {
         const auto size = static_cast<std::int64_t>(content.size());
         const std::int64_t there = std::clamp<std::int64_t>(size - at, 0, length);
         if (there > 0)
           stream.insert(stream.end(), &content[static_cast<std::size_t>(at)],
                         &content[static_cast<std::size_t>(at)] + there);
       });
  Memory wanted(part, 4711);
  wanted.each([&](std::int64_t position, unsigned char& byte) {
    if (position < static_cast<std::int64_t>(stream.size())) {
      byte = stream[static_cast<std::size_t>(position)];
    }
  });
  const auto miss =
      std::mismatch(memory.bytes().begin(), memory.bytes().end(), wanted.bytes().begin());
  if (miss.first != memory.bytes().end()) {
    fail("memory differs at byte " + std::to_string(miss.first - memory.bytes().begin()) + " of " +
         std::to_string(memory.bytes().size()) + "; in the file are " +
         std::to_string(stream.size()) + " of " + std::to_string(part.etypes * etype) +
         " bytes\n  memory " + std::to_string(part.count) + " x " + part.memory.text + "\n  view " +
         view.filetype.text);
  }
  check_counts(part, static_cast<std::int64_t>(stream.size()), status);
}

/// Rank 0: puts what every rank writes in this step into the expected file.
void Player::expect_written(const Rng& scenario, const Step& step) {
  Builder oracle(false);
  for (int r = 0; r < ranks_; ++r) {
    const View view = make_view(oracle, pattern_, scenario, r, ranks_);
    const Part part = part_of(oracle, scenario, view, step, r);
    const std::int64_t bytes = part.etypes * view.etype.size;
    for (int repeat = 0; repeat < step.repeats; ++repeat) {
      std::int64_t position = 0;
      walk(view, part.first * view.etype.size + repeat * bytes, bytes,
           [&](std::int64_t at, std::int64_t length) {
             const auto end = static_cast<std::size_t>(at + length);
             if (expected_.size() < end) expected_.resize(end);
             for (std::int64_t k = 0; k < length; ++k) {
               expected_[static_cast<std::size_t>(at + k)] =
                   datum(salt(step, r, repeat), position++);
             }
           });
    }
  }
}

void Player::check_file() {
  const Bytes content = posix_content(path_);
  std::int64_t wrong = 0, first = -1;
  for (std::size_t i = 0; i < std::min(content.size(), expected_.size()); ++i) {
    if (content[i] == expected_[i]) continue;
    if (wrong++ == 0) first = static_cast<std::int64_t>(i);
  }
  if (content.size() == expected_.size() && wrong == 0) return;
  fail("the file has " + std::to_string(content.size()) + " bytes, expected " +
       std::to_string(expected_.size()) + "; " + std::to_string(wrong) +
       " bytes differ, the first at " + std::to_string(first));
  expected_ = content;
}

void Player::run(const Rng& scenario, const View& view, const Step& step) {
  Builder builder(true);
  const Part part = part_of(builder, scenario, view, step, rank_);
  const Bytes content = step.write ? Bytes() : posix_content(path_);
  const std::int64_t bytes = part.etypes * view.etype.size;
  bool past_end = false;
  walk(view, part.first * view.etype.size, bytes * step.repeats,
       [&](std::int64_t at, std::int64_t n) {
         past_end |= at + n > static_cast<std::int64_t>(content.size());
       });
  page_.meet();
  for (int repeat = 0; repeat < step.repeats; ++repeat) {
    Memory memory(part, 4711);
    if (step.write) {
      memory.each(
          [&](std::int64_t i, unsigned char& byte) { byte = datum(salt(step, rank_, repeat), i); });
    }
    const Bytes before = memory.bytes();
    const MPI_Status status = call(step, view, part, repeat, memory);
    if (!step.write) {
      check_read(view, step, part, repeat, content, memory, status);
    } else {
      if (memory.bytes() != before) fail("a write changed the user's buffer");
      check_counts(part, bytes, status);
    }
  }
  // What is written behind is in the file after a sync.
  const bool behind = hints_text_.find("tamis_write_behind") != std::string::npos;
  if (step.write && behind && MPI_File_sync(file_) != MPI_SUCCESS) fail("MPI_File_sync");
  // Where a read met the end of the file the standard leaves two readings.
  if (!step.explicit_offset && (step.write || !past_end)) check_position(view, part, step);
  page_.meet();
  if (step.write && rank_ == 0) {
    expect_written(scenario, step);
    check_file();
  }
  page_.meet();
}

void Player::play(std::int64_t number) {
  scenario_ = number;
  const Rng scenario = Rng(options_.seed).split(static_cast<std::uint64_t>(number)).split(1);
  Rng rng = scenario.split(2);
  std::snprintf(running, sizeof running, "seed %llu scenario %lld rank %d of %d\n",
                static_cast<unsigned long long>(options_.seed), static_cast<long long>(number),
                rank_, ranks_);
  alarm(patience);
  if (session_ != number / scenarios_per_file) open_file(number / scenarios_per_file);
  const auto patterns = static_cast<int>(Pattern::overlapping);
  pattern_ = static_cast<Pattern>(rng.below(options_.allows('r') ? patterns + 1 : patterns));
  set_content(scenario.split(3));
  Builder builder(true);
  View view = make_view(builder, pattern_, scenario, rank_, ranks_);
  if (MPI_File_set_view(file_, view.disp, view.etype.handle, view.filetype.handle, "native",
                        MPI_INFO_NULL) != MPI_SUCCESS) {
    fail("MPI_File_set_view: " + view.filetype.text);
  }
  const int steps = static_cast<int>(rng.between(1, 3));
  for (int i = 0; i < steps; ++i) {
    Step step{.write = pattern_ != Pattern::overlapping && rng.percent(55),
              .collective = rng.percent(60),
              .explicit_offset = rng.percent(50),
              // Long series too: independent writes then meet others' sieves.
              .repeats = static_cast<int>(rng.between(1, rng.percent(15) ? 24 : 3)),
              .number = i};
    if (!options_.allows(step.write ? 'w' : 'r') || !options_.allows(step.collective ? 'c' : 'i')) {
      continue;
    }
    story_ = std::string("  step ") + std::to_string(i) + ": " + std::to_string(step.repeats) +
             " x " + (step.collective ? "collective " : "independent ") +
             (step.write ? "write" : "read") + (step.explicit_offset ? "_at" : "") + ", pattern " +
             std::to_string(static_cast<int>(pattern_)) + ", disp " + std::to_string(view.disp) +
             ", etype " + view.etype.text;
    run(scenario, view, step);
  }
  alarm(0);
}

Options parse(int argc, char** argv) {
  Options options;
  if (argc > 1) options.scenarios = std::strtoll(argv[1], nullptr, 10);
  if (argc > 2) options.seed = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) options.directory = argv[3];
  if (argc > 4) options.only = std::strtoll(argv[4], nullptr, 10);
  if (argc > 5) options.kinds = argv[5];
  return options;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

int run_all(const Options& options) {
  int rank = 0, ranks = 0;
  long run = getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Bcast(&run, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const std::string path = options.directory + "/random_io." + std::to_string(run);
  MeetingPage page(path + ".page", rank, ranks, barrier);
  signal(SIGALRM, on_alarm);
  Player player(options, page, rank, ranks, path);
  const bool single = options.only >= 0;
  const std::int64_t from = single ? options.only : 0;
  const std::int64_t until = single ? options.only + 1 : options.scenarios;
  for (std::int64_t i = from; i < until; ++i) player.play(i);
  player.close_file();
  page.meet();
  const int failures = page.failures();
  if (rank == 0) {
    unlink(path.c_str());
    std::printf("random_io: %lld scenarios, seed %llu, %d ranks: %d failures\n",
                static_cast<long long>(until - from), static_cast<unsigned long long>(options.seed),
                ranks, failures);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace random_io

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = random_io::run_all(random_io::parse(argc, argv));
  MPI_Finalize();
  return result;
}
