// Messages, shared memory and sleeping over the host MPI, without the engine. Any number of ranks.
// With TAMIS_REPORT set, rank 0 prints what a round through the doorbells costs.

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "mpi/host.hpp"
#include "mpi/mpi_comm.hpp"

namespace tamis {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::unique_ptr<Comm> on(MPI_Comm user) {
  Result<std::unique_ptr<Comm>> comm = make_comm(user);
  if (!comm.ok()) {
    ADD_FAILURE() << comm.status().to_string();
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return *std::move(comm);
}

std::unique_ptr<Comm> world() { return on(MPI_COMM_WORLD); }

void finish(Comm& comm, Ticket ticket) {
  while (!comm.done(ticket)) comm.idle(comm.doorbell_value());
}

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// All ranks of a node see one segment, with a word and a doorbell for each of them.
struct Board {
  struct Place {
    std::atomic<std::uint32_t> word;
    Doorbell doorbell;
    char padding[56];
  };
  std::unique_ptr<Segment> segment;
  Place& place(int local) { return reinterpret_cast<Place*>(segment->data())[local]; }
};

Board make_board(Comm& comm) {
  const auto& beside = comm.topology().ranks_beside(comm.rank());
  Board board;
  if (comm.rank() == beside.front()) {
    auto made =
        comm.create_segment(static_cast<std::int64_t>(beside.size() * sizeof(Board::Place)));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    board.segment = *std::move(made);
    EXPECT_TRUE(board.segment->reserve(0, board.segment->size()).ok());
    std::memset(board.segment->data(), 0, static_cast<std::size_t>(board.segment->size()));
    const SegmentName name = board.segment->name();
    for (const int rank : beside) {
      if (rank != comm.rank()) finish(comm, comm.send(rank, 1, bytes_of(name)));
    }
  } else {
    SegmentName name;
    finish(comm, comm.receive(beside.front(), 1, std::as_writable_bytes(std::span(&name, 1))));
    auto found = comm.attach_segment(name);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    board.segment = *std::move(found);
  }
  comm.set_doorbell(&board.place(comm.topology().local_index(comm.rank())).doorbell);
  return board;
}

/// Sleeps on the doorbell until a word holds a value.
void await(Comm& comm, const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (;;) {
    const std::uint32_t seen = comm.doorbell_value();
    if (word.load() == value) return;
    comm.idle(seen);
  }
}

TEST(MpiComm, numbers_ranks_as_the_communicator_does) {
  const auto comm = world();
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(comm->rank(), rank);
  EXPECT_EQ(comm->size(), size);
  EXPECT_EQ(comm->topology().node_count(), 1) << "all ranks of this test run on one machine";
}

TEST(MpiComm, delivers_messages_in_order_and_whole) {
  const auto comm = world();
  const int to = (comm->rank() + 1) % comm->size();
  const int from = (comm->rank() + comm->size() - 1) % comm->size();
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<std::vector<std::uint32_t>> in;
  std::vector<Ticket> tickets;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::size_t n = i % 7 == 0 ? 0 : std::size_t{i} * i * 40;
    out.emplace_back(n);
    std::iota(out.back().begin(), out.back().end(), i * 1000U);
    in.emplace_back(n);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    tickets.push_back(comm->receive(from, 3, std::as_writable_bytes(std::span(in[i]))));
    tickets.push_back(comm->send(to, 3, std::as_bytes(std::span(out[i]))));
  }
  for (Ticket& ticket : tickets) finish(*comm, ticket);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(comm->health().ok());
}

TEST(MpiComm, keeps_open_files_apart) {
  const auto first = world();
  const auto second = world();
  const int peer = first->size() - 1 - first->rank();
  int from_first = 0;
  int from_second = 0;
  const int one = 1;
  const int two = 2;
  Ticket b = second->receive(peer, 0, std::as_writable_bytes(std::span(&from_second, 1)));
  Ticket a = first->receive(peer, 0, std::as_writable_bytes(std::span(&from_first, 1)));
  finish(*first, first->send(peer, 0, bytes_of(one)));
  finish(*second, second->send(peer, 0, bytes_of(two)));
  finish(*first, a);
  finish(*second, b);
  EXPECT_EQ(from_first, 1);
  EXPECT_EQ(from_second, 2);
}

TEST(MpiComm, serves_many_files_one_after_the_other_and_at_once) {
  for (int i = 0; i < 2000; ++i) EXPECT_NE(world(), nullptr);
  std::vector<std::unique_ptr<Comm>> open;
  for (int i = 0; i < 400; ++i) open.push_back(world());
}

/// True once a value has come from the peer; false where none comes for a long time.
bool hears_peer(Comm& comm) {
  const int peer = comm.size() - 1 - comm.rank();
  const int sent = 1;
  int received = 0;
  Ticket in = comm.receive(peer, 0, std::as_writable_bytes(std::span(&received, 1)));
  finish(comm, comm.send(peer, 0, bytes_of(sent)));
  const auto deadline = Clock::now() + 20s;
  while (!comm.done(in) && Clock::now() < deadline) comm.idle(comm.doorbell_value());
  return received == sent;
}

// Files are closed over a group of their own, so their ends are in no order with later opens: one
// rank may be done with a file when another is not.
TEST(MpiComm, speaks_with_its_peers_though_they_end_files_in_another_order) {
  constexpr int kMoreThanChannels = (1 << 16) + 20;
  constexpr int kKept = 8;
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &user);
  std::vector<std::unique_ptr<Comm>> kept;
  for (int i = 0; i < kKept; ++i) kept.push_back(on(user));
  kept[static_cast<std::size_t>(kept.back()->rank() % kKept)].reset();
  for (int i = kKept; i < kMoreThanChannels; ++i) {
    const auto comm = on(user);
    // Numbers come up again after a power of two of opens.
    const bool may_meet_kept =
        i % static_cast<int>(std::bit_floor(static_cast<unsigned>(i))) <= kKept;
    if (may_meet_kept) {
      ASSERT_TRUE(hears_peer(*comm)) << "open " << i;
    }
  }
  MPI_Comm_free(&user);
}

TEST(MpiComm, outlives_the_users_communicator) {
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &user);
  auto made = make_comm(user);
  ASSERT_TRUE(made.ok());
  MPI_Comm_free(&user);
  Comm& comm = **made;
  int received = -1;
  const int sent = comm.rank();
  Ticket in = comm.receive(comm.size() - 1 - comm.rank(), 5,
                           std::as_writable_bytes(std::span(&received, 1)));
  finish(comm, comm.send(comm.size() - 1 - comm.rank(), 5, bytes_of(sent)));
  finish(comm, in);
  EXPECT_EQ(received, comm.size() - 1 - comm.rank());
}

TEST(MpiComm, refuses_what_cannot_open_a_file) {
  const auto null = make_comm(MPI_COMM_NULL);
  ASSERT_FALSE(null.ok());
  EXPECT_EQ(null.status().code, Errc::comm);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm joined = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 1, &joined);
  const auto inter = make_comm(joined);
  ASSERT_FALSE(inter.ok());
  EXPECT_EQ(inter.status().code, Errc::comm);
  MPI_Comm_free(&joined);
  MPI_Comm_free(&half);
}

TEST(MpiComm, shares_memory_inside_the_node) {
  const auto comm = world();
  Board board = make_board(*comm);
  board.place(comm->rank()).word.store(static_cast<std::uint32_t>(comm->rank()) + 1);
  for (int rank = 0; rank < comm->size(); ++rank) {
    if (rank != comm->rank()) comm->ring(board.place(rank).doorbell);
  }
  for (int rank = 0; rank < comm->size(); ++rank) {
    await(*comm, board.place(rank).word, static_cast<std::uint32_t>(rank) + 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);  // the maker's memory must stay until all have found it
}

// A closed file's windows serve the next file of the communicator: the same memory, still mapped.
TEST(MpiComm, maps_shared_memory_once_for_files_that_follow_each_other) {
  const std::byte* first = nullptr;
  for (int file = 0; file < 3; ++file) {
    const auto comm = world();
    Board board = make_board(*comm);
    if (file == 0) first = board.segment->data();
    EXPECT_EQ(board.segment->data(), first);
    board.place(comm->topology().local_index(comm->rank())).word.store(1);
    for (const int rank : comm->topology().ranks_beside(comm->rank()))
      await(*comm, board.place(comm->topology().local_index(rank)).word, 1);
    MPI_Barrier(MPI_COMM_WORLD);  // the next board is cleared
  }
}

TEST(MpiComm, maps_other_memory_for_files_that_are_open_at_once) {
  const auto comm = world();
  const Board one = make_board(*comm);
  const Board other = make_board(*comm);
  EXPECT_NE(one.segment->data(), other.segment->data());
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(MpiComm, refuses_memory_that_is_not_what_its_name_says) {
  const auto comm = world();
  auto made = comm->create_segment(4096);
  ASSERT_TRUE(made.ok());
  SegmentName name = (*made)->name();
  name.words[2] += 1;  // the inode's number: the descriptor now means something else
  const auto found = comm->attach_segment(name);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code, Errc::unsupported_operation);
}

TEST(MpiComm, a_sleeper_is_woken_by_every_ring) {
  const auto comm = world();
  Board board = make_board(*comm);
  const int next = (comm->rank() + 1) % comm->size();
  constexpr std::uint32_t kRounds = 3000;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = Clock::now();
  // A token goes round the ring: each rank waits for its word and hands on.
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    if (comm->rank() != 0) await(*comm, board.place(comm->rank()).word, round);
    board.place(next).word.store(round);
    comm->ring(board.place(next).doorbell);
    if (comm->rank() == 0) await(*comm, board.place(0).word, round);
  }
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  const double per_hop = spent.count() / (kRounds * static_cast<double>(comm->size()));
  EXPECT_LT(per_hop, 2000.0) << "rings are lost: only the time limit of a sleep ends it";
  if (std::getenv("TAMIS_REPORT") != nullptr && comm->rank() == 0) {
    std::printf("%d ranks: %.2f us per hop\n", comm->size(), per_hop);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(MpiComm, idling_lets_the_users_large_sends_go_on) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "needs a peer";
  Board board = make_board(*comm);
  // Rank 1 comes to the "collective" only after it has received what rank 0 started to send
  // before: a rank that idles without a look into the host would wait for ever.
  std::vector<char> large(std::size_t{8} << 20, 'x');
  MPI_Request request = MPI_REQUEST_NULL;
  if (comm->rank() == 0) {
    MPI_Isend(large.data(), static_cast<int>(large.size()), MPI_CHAR, 1, 9, MPI_COMM_WORLD,
              &request);
    await(*comm, board.place(0).word, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (comm->rank() == 1) {
    MPI_Recv(large.data(), static_cast<int>(large.size()), MPI_CHAR, 0, 9, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    board.place(0).word.store(1);
    comm->ring(board.place(0).doorbell);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  int provided = 0;
  const char* level = std::getenv("TAMIS_THREAD_MULTIPLE");
  MPI_Init_thread(&argc, &argv, level != nullptr ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  ::testing::InitGoogleTest(&argc, argv);
  if (tamis::find_host() == nullptr) return std::puts(tamis::host_problem()), 1;
  int failures = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures;
}
