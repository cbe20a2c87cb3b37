#include "file/record.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <type_traits>

#include "base/attempt.hpp"

namespace tamis {
namespace {

/// Books as bytes, between processes of one kind.
class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  T get() {
    T value{};
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  template <typename T>
  void get_all(std::vector<T>& values) {
    values.resize(get<std::size_t>());
    for (T& value : values) value = get<T>();
  }

 private:
  std::span<const std::byte> bytes_;
};

struct WayTally {
  Way way;
  Tally tally;
};

// The texts of decisions stay at home: rank 0's own are the ones shown.
std::vector<std::byte> encode(const Recorder::Books& books) {
  Writer out;
  out.put(Moment::now());
  out.put(books.ways.size());
  for (const auto& [way, tally] : books.ways) out.put(WayTally{way, tally});
  out.put_all(books.stretches);
  out.put(books.stretches_lost);
  for (const Bins& bins : books.offsets) out.put(bins);
  for (const Bins& bins : books.times) out.put(bins);
  return out.take();
}

struct Parcel {
  Moment sent;
  Recorder::Books books;
};

Parcel decode(std::span<const std::byte> bytes) {
  Reader in(bytes);
  Parcel parcel;
  parcel.sent = in.get<Moment>();
  Recorder::Books& books = parcel.books;
  for (auto ways = in.get<std::size_t>(); ways > 0; --ways) {
    const auto [way, tally] = in.get<WayTally>();
    books.ways.emplace_back(way, tally);
  }
  in.get_all(books.stretches);
  books.stretches_lost = in.get<std::int64_t>();
  for (Bins& bins : books.offsets) bins = in.get<Bins>();
  for (Bins& bins : books.times) bins = in.get<Bins>();
  return parcel;
}

constexpr std::size_t kPiece = 16 << 10;

Task<bool> send_parcel(Comm& comm, int to, std::span<const std::byte> bytes) {
  std::int64_t length = std::ssize(bytes);
  Ticket ticket = comm.send(to, kTagRecord, bytes_of(length));
  co_await until([&] { return comm.done(ticket); });
  for (std::size_t done = 0; done < bytes.size(); done += kPiece) {
    const auto piece = bytes.subspan(done, std::min(kPiece, bytes.size() - done));
    ticket = comm.send(to, kTagRecord, piece);
    co_await until([&] { return comm.done(ticket); });
  }
  co_return true;
}

/// Without memory for it a parcel is received all the same, and let go.
Task<Result<std::vector<std::byte>>> receive_parcel(Comm& comm, int from) {
  std::int64_t length = 0;
  Ticket ticket = comm.receive(from, kTagRecord, bytes_of(length));
  co_await until([&] { return comm.done(ticket); });
  if (!comm.health().ok()) co_return comm.health();
  std::vector<std::byte> bytes;
  const auto size = static_cast<std::size_t>(length);
  const Status status = attempt([&] {
    bytes.resize(size);
    return Status{};
  });
  std::array<std::byte, kPiece> let_go;
  for (std::size_t done = 0; done < size; done += kPiece) {
    const std::size_t part = std::min(kPiece, size - done);
    const auto piece =
        status.ok() ? std::span(bytes).subspan(done, part) : std::span(let_go).first(part);
    ticket = comm.receive(from, kTagRecord, piece);
    co_await until([&] { return comm.done(ticket); });
  }
  if (!comm.health().ok()) co_return comm.health();
  if (!status.ok()) co_return status;
  co_return std::move(bytes);
}

void join(Bins& into, const Bins& from) {
  Bins other = from;
  const std::int64_t width = std::max(into.width(), other.width());
  into.widen(width);
  other.widen(width);
  for (std::size_t i = 0; i < Bins::kCount; ++i)
    if (other.sums()[i] > 0)
      into.add(static_cast<std::int64_t>(i) * width, static_cast<std::int64_t>(i + 1) * width,
               other.sums()[i]);
}

}  // namespace

Moment Moment::now() {
  using std::chrono::nanoseconds;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {clock_ns(), std::chrono::duration_cast<nanoseconds>(wall).count()};
}

void FileRecord::add(int rank, Recorder::Books books, std::int64_t shift_ns) {
  for (const auto& [way, sums] : books.ways) {
    Tally tally = sums;
    tally.slowest_ns = tally.total_ns;
    tally.aggregators = has_aggregated(way, sums) ? 1 : 0;
    const auto known = std::ranges::find(ways, way, &std::pair<Way, Tally>::first);
    if (known == ways.end())
      ways.emplace_back(way, tally);
    else
      known->second.add(tally);
  }
  for (const std::size_t direction : {0, 1}) {
    pattern[direction].resize(static_cast<std::size_t>(rows()));
    join(pattern[direction][static_cast<std::size_t>(row_of(rank))], books.offsets[direction]);
    join(times[direction], books.times[direction]);
  }
  if (books.stretches.empty() && books.stretches_lost == 0) return;
  for (Stretch& stretch : books.stretches) stretch.begin_ns += shift_ns;
  timelines.push_back({rank, books.stretches_lost, std::move(books.stretches)});
}

namespace {

// Ranks of one node share its steady clock.
void add_parcel(Team& team, int rank, std::span<const std::byte> bytes, FileRecord& record) {
  Parcel parcel = decode(bytes);
  const std::int64_t shift_ns = team.beside_me(rank) ? 0 : Moment::now().shift_of(parcel.sent);
  record.add(rank, std::move(parcel.books), shift_ns);
}

}  // namespace

Task<Status> gather_books(Team& team, const Recorder& recorder, FileRecord& record) {
  Comm& comm = team.comm();
  std::vector<std::byte> mine;
  const Status own = attempt([&] {
    Recorder::Books books = recorder.books();
    if (team.rank() == 0) {
      record.accesses = std::move(books.accesses);
      record.accesses_left_out = books.accesses_left_out;
      record.add(0, std::move(books), 0);
    } else {
      mine = encode(books);
    }
    return Status{};
  });
  if (team.rank() != 0) {
    co_await send_parcel(comm, 0, mine);
    co_return own;
  }
  record.incomplete = !own.ok();
  for (int rank = 1; rank < team.size(); ++rank) {
    const Result<std::vector<std::byte>> parcel = co_await receive_parcel(comm, rank);
    const bool there = parcel.ok() && !parcel->empty();
    const Status added = attempt([&] {
      if (there) add_parcel(team, rank, *parcel, record);
      return Status{};
    });
    record.incomplete |= !there || !added.ok();
  }
  co_return Status{};
}

}  // namespace tamis
