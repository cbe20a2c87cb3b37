#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

constexpr std::int64_t kWindow = 4096;
constexpr std::int64_t kWindows = 5;
constexpr std::size_t kRanks = 4;

using Places = std::vector<std::int64_t>;

/// Where the ranks' bytes are: eight at a time, the ranks in turn.
class Deal {
 public:
  void give(std::int64_t offset) { pieces_[next_++ % kRanks].push_back(offset); }
  const Places& of(int rank) const { return pieces_[static_cast<std::size_t>(rank)]; }
  View view(int rank) const {
    View view;
    const Places lengths(of(rank).size(), 8);
    view.layout = {*Dataloop::indexed(lengths, of(rank), Dataloop::bytes(1)), 0, 1};
    return view;
  }

 private:
  std::array<Places, kRanks> pieces_;
  std::size_t next_ = 0;
};

/// In one file: a window that is full, one that is half full in small pieces, one with few pieces,
/// one with nothing, and one with few again.
Deal clustered() {
  Deal deal;
  for (std::int64_t at = 0; at < kWindow; at += 8) deal.give(at);
  for (std::int64_t at = kWindow; at < 2 * kWindow; at += 16) deal.give(at);
  for (const std::int64_t window : {2, 4}) {
    deal.give(window * kWindow);
    deal.give((window + 1) * kWindow - 8);
  }
  return deal;
}

std::vector<HintText> hints_of(const char* sieving, const char* nodes) {
  return {{"romio_cb_write", "enable"},
          {"romio_cb_read", "enable"},
          {"romio_ds_write", sieving},
          {"romio_ds_read", sieving},
          {"cb_nodes", "1"},
          {"cb_buffer_size", nodes[0] == '1' ? "8192" : "24576"},
          {"tamis_pretend_nodes", nodes},
          {"tamis_counters", "enable"}};
}

/// All that ranks did in this direction.
Tally done(Crew& crew, Direction direction) {
  Tally sum;
  for (int rank = 0; rank < crew.size(); ++rank)
    for (const auto& [way, tally] : crew.file(rank).recorder()->ways())
      if (way.direction == direction) {
        EXPECT_EQ(way.route, Route::two_phase);
        sum.add(tally);
      }
  return sum;
}

std::byte value_at(std::int64_t offset) {
  return static_cast<std::byte>(offset * 7 + offset / 251);
}

/// Views over the deal; every rank's bytes, in stream order, of a file of value_at.
std::vector<std::vector<std::byte>> ready(Crew& crew, const Deal& deal) {
  std::vector<std::vector<std::byte>> bytes(kRanks);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    for (const std::int64_t at : deal.of(static_cast<int>(rank)))
      for (std::int64_t i = 0; i < 8; ++i) bytes[rank].push_back(value_at(at + i));
  for (const Status& status :
       crew.each([&](File&file, int rank) { return file.set_view(deal.view(rank), {}, {}); }))
    EXPECT_TRUE(status.ok()) << status.to_string();
  return bytes;
}

std::vector<Outcome> move(Crew& crew, Direction direction,
                          std::vector<std::vector<std::byte>>& bytes) {
  return crew.all<Outcome>([&](File& file, int rank) {
    return file.access_all(request_at(direction, 0, bytes[static_cast<std::size_t>(rank)]));
  });
}

void open_with(Crew& crew, const std::vector<HintText>& hints) {
  for (const Status& status : crew.open(kReadWrite | kCreate, hints))
    ASSERT_TRUE(status.ok()) << status.to_string();
}

struct Expected {
  const char* sieving;
  std::int64_t listed;
  std::int64_t rewrites;
};
constexpr Expected kExpected[] = {{"automatic", 2, 1}, {"disable", 3, 0}, {"enable", 0, 3}};

TEST(WindowMethods, of_one_call_differ) {
  for (const char* nodes : {"1", "2", "4"})
    for (const auto& [sieving, listed, rewrites] : kExpected) {
      const std::string what = std::string(nodes) + " nodes, sieving " + sieving;
      Crew crew({0, 0, 0, 0});
      std::vector<std::byte> file = filled(kWindow * kWindows, 99);
      crew.store(file);
      open_with(crew, hints_of(sieving, nodes));
      const Deal deal = clustered();
      auto bytes = ready(crew, deal);
      for (std::size_t rank = 0; rank < kRanks; ++rank)
        for (const std::int64_t at : deal.of(static_cast<int>(rank)))
          for (std::int64_t i = at; i < at + 8; ++i)
            file[static_cast<std::size_t>(i)] = value_at(i);

      for (const Outcome& outcome : move(crew, Direction::write, bytes))
        EXPECT_TRUE(outcome.status.ok()) << what << outcome.status.to_string();
      EXPECT_EQ(crew.stored(), file) << what;
      const Tally written = done(crew, Direction::write);
      EXPECT_EQ(written.windows, kWindows) << what;
      EXPECT_EQ(written.windows_listed, listed) << what;
      EXPECT_EQ(written.rewrites, rewrites) << what;
      EXPECT_EQ(written.locks, rewrites > 0 || sieving == std::string("automatic") ? 1 : 0) << what;

      const auto original = bytes;
      for (auto& own : bytes) own.assign(own.size(), std::byte{0});
      for (const Outcome& outcome : move(crew, Direction::read, bytes))
        EXPECT_EQ(outcome.bytes, std::ssize(bytes[0])) << what;
      EXPECT_EQ(bytes, original) << what;
      EXPECT_EQ(done(crew, Direction::read).windows_listed, listed) << what;
    }
}

TEST(WindowMethods, without_rewriting_no_byte_is_touched_that_nobody_wrote) {
  Crew crew({0, 0, 0, 0});
  open_with(crew, hints_of("disable", "1"));
  auto bytes = ready(crew, clustered());
  std::int64_t sum = 0;
  for (const auto& own : bytes) sum += std::ssize(own);
  move(crew, Direction::write, bytes);
  const Tally written = done(crew, Direction::write);
  EXPECT_EQ(written.bytes_written, sum);
  EXPECT_EQ(written.bytes_read, 0);
}

// Where one rank could not put holes back nobody sieves; windows go all the same.
TEST(WindowMethods, of_a_file_that_a_rank_cannot_read_are_whole_or_lists) {
  Crew::Plans plans(kRanks);
  plans[2].refuse_read_back = true;
  Crew crew({0, 0, 0, 0}, plans);
  open_with(crew, hints_of("automatic", "1"));
  auto bytes = ready(crew, clustered());
  for (const Outcome& outcome : move(crew, Direction::write, bytes))
    EXPECT_TRUE(outcome.status.ok());
  const Tally written = done(crew, Direction::write);
  EXPECT_EQ(written.rewrites, 0);
  EXPECT_EQ(written.windows_listed, 3);
}

// Every transfer that one rank makes fails, at its first, second, ... byte: what ranks count is
// there, and all of them hear of it.
TEST(WindowMethods, count_what_was_moved_where_one_ranks_list_fails) {
  for (const char* nodes : {"1", "2"})
    for (int failing = 0; failing < static_cast<int>(kRanks); ++failing)
      for (const std::int64_t after : {0, 3, 8, 11}) {
        Crew::Plans plans(kRanks);
        plans[static_cast<std::size_t>(failing)].faults = {{.verb = Verb::transfer,
                                                            .direction = Direction::write,
                                                            .probability = 1,
                                                            .code = Errc::no_space,
                                                            .after_bytes = after}};
        Crew crew({0, 0, 0, 0}, plans);
        crew.store(filled(kWindow * kWindows, 99));
        open_with(crew, hints_of("disable", nodes));
        const Deal deal = clustered();
        auto bytes = ready(crew, deal);
        const std::vector<Outcome> outcomes = move(crew, Direction::write, bytes);
        const std::vector<std::byte> stored = crew.stored();
        const bool any =
            std::ranges::any_of(outcomes, [](const Outcome& o) { return !o.status.ok(); });
        for (int rank = 0; rank < static_cast<int>(kRanks); ++rank) {
          const Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
          EXPECT_EQ(outcome.status.code, any ? Errc::no_space : Errc::ok);
          const Places& places = deal.of(rank);
          for (std::int64_t i = 0; i < outcome.bytes; ++i) {
            const std::int64_t at = places[static_cast<std::size_t>(i / 8)] + i % 8;
            ASSERT_EQ(stored[static_cast<std::size_t>(at)], value_at(at)) << rank << ' ' << i;
          }
        }
        if (nodes[0] == '1') {
          EXPECT_TRUE(any) << failing;
        }
      }
}

// Windows of lists beyond the end of the file: what is there is counted, byte by byte.
TEST(WindowMethods, of_lists_end_where_the_file_does) {
  for (const char* nodes : {"1", "2"})
    for (const std::int64_t size : {0, 5, 4096, 4099, 8192, 8195, 12284, 12290, 20484}) {
      Crew crew({0, 0, 0, 0});
      std::vector<std::byte> file(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i) file[static_cast<std::size_t>(i)] = value_at(i);
      crew.store(file);
      open_with(crew, hints_of("disable", nodes));
      const Deal deal = clustered();
      const auto whole = ready(crew, deal);
      auto bytes = whole;
      for (auto& own : bytes) own.assign(own.size(), std::byte{1});
      const std::vector<Outcome> outcomes = move(crew, Direction::read, bytes);
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        std::int64_t there = 0;
        for (const std::int64_t at : deal.of(static_cast<int>(rank)))
          there += std::clamp<std::int64_t>(size - at, 0, 8);
        EXPECT_EQ(outcomes[rank].bytes, there) << nodes << " nodes, size " << size;
        for (std::int64_t i = 0; i < std::ssize(bytes[rank]); ++i) {
          const auto place = static_cast<std::size_t>(i);
          EXPECT_EQ(bytes[rank][place], i < there ? whole[rank][place] : std::byte{1});
        }
      }
    }
}

}  // namespace
}  // namespace tamis::sim
