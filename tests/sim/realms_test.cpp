#include <gtest/gtest.h>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

const std::vector<std::int64_t> kFour = {0, 0, 1, 1};

void expect_all(const std::vector<Status>& statuses, Errc code) {
  for (std::size_t rank = 0; rank < statuses.size(); ++rank)
    EXPECT_EQ(statuses[rank].code, code) << "rank " << rank << ": " << statuses[rank].to_string();
}

/// `block` bytes of every `turn`, from `begin` on.
Layout in_turn(std::int64_t begin, std::int64_t block, std::int64_t turn) {
  return {*Dataloop::resized(0, turn, Dataloop::bytes(block)), begin, Layout::kEndless};
}

std::vector<Status> give(Crew& crew, const std::vector<Layout>& realms) {
  return crew.each([&](File& file, int) { return file.set_realms(realms, {}); });
}

/// Four ranks take turns with 16 bytes each, of every 64.
std::vector<Outcome> write_turns(Crew& crew, std::vector<std::vector<std::byte>>& bytes) {
  expect_all(
      crew.each([](File& f, int rank) { return f.set_view(strided_view(rank, 4, 16), {}, {}); }),
      Errc::ok);
  return crew.all<Outcome>([&](File& file, int rank) {
    return file.access_all(request_at(Direction::write, 0, bytes[static_cast<std::size_t>(rank)]));
  });
}

std::vector<std::vector<std::byte>> one_of_each() {
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(256, rank + 1));
  return bytes;
}

void expect_turns(const std::vector<std::byte>& stored) {
  ASSERT_EQ(stored.size(), 1024U);
  for (std::size_t i = 0; i < stored.size(); ++i)
    ASSERT_EQ(stored[i], static_cast<std::byte>(i / 16 % 4 + 1)) << "byte " << i;
}

TEST(Realms, given_say_who_writes_what) {
  Crew crew(kFour);
  expect_all(
      crew.open(kReadWrite | kCreate, {{"romio_cb_write", "enable"}, {"tamis_counters", "enable"}}),
      Errc::ok);
  expect_all(give(crew, {in_turn(0, 100, 400), in_turn(100, 290, 400), in_turn(390, 10, 400)}),
             Errc::ok);
  std::vector<std::vector<std::byte>> bytes = one_of_each();
  for (const Outcome& outcome : write_turns(crew, bytes)) EXPECT_EQ(outcome.bytes, 256);
  expect_turns(crew.stored());
  // Of 1024 bytes: 0-99, 400-499, 800-899; 100-389, 500-789, 900-1023; 390-399, 790-799.
  const std::int64_t expected[] = {300, 704, 20};
  int realm = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const auto ways = crew.file(rank).recorder()->ways();
    ASSERT_EQ(ways.size(), 1U);
    if (ways[0].second.windows == 0) continue;
    ASSERT_LT(realm, 3);
    EXPECT_EQ(ways[0].second.bytes_written, expected[realm]) << "rank " << rank;
    ++realm;
  }
  EXPECT_EQ(realm, 3);
}

TEST(Realms,
     that_leave_a_byte_out_or_hold_it_twice_are_an_error_everywhere_and_nothing_is_written) {
  const std::vector<std::vector<Layout>> wrong = {
      {in_turn(0, 100, 200), in_turn(100, 99, 200)},                        // 199 is nobody's
      {in_turn(0, 100, 200), in_turn(99, 101, 200)},                        // 99 is both's
      {in_turn(0, 100, 200), in_turn(300, 100, 200)},                       // 100 to 299
      {in_turn(0, 100, 200), in_turn(100, 100, 200), in_turn(1000, 1, 7)},  // 1000
      {in_turn(0, 0, 200)}};
  const std::int64_t places[] = {199, 99, 100, 1000, 0};
  for (const char* way : {"enable", "automatic", "disable"})
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      Crew crew(kFour);
      crew.store(filled(1024, 99));
      expect_all(crew.open(kReadWrite, {{"romio_cb_write", way}, {"romio_cb_read", way}}),
                 Errc::ok);
      expect_all(give(crew, wrong[i]), Errc::ok);
      std::vector<std::vector<std::byte>> bytes = one_of_each();
      for (const Outcome& outcome : write_turns(crew, bytes)) {
        EXPECT_EQ(outcome.status.code, Errc::arg);
        EXPECT_EQ(outcome.status.offset, places[i]);
        EXPECT_EQ(outcome.bytes, 0);
      }
      EXPECT_EQ(crew.stored(), filled(1024, 99));
      // They are wrong for reads, too; and once they are taken back all is well.
      for (const Outcome& outcome : crew.all<Outcome>([&](File&file, int rank) {
             return file.access_all(
                 request_at(Direction::read, 0, bytes[static_cast<std::size_t>(rank)]));
           }))
        EXPECT_EQ(outcome.status.code, Errc::arg);
      bytes = one_of_each();
      expect_all(give(crew, {}), Errc::ok);
      for (const Outcome& outcome : write_turns(crew, bytes)) EXPECT_TRUE(outcome.status.ok());
      expect_turns(crew.stored());
    }
}

TEST(Realms, that_are_wrong_elsewhere_do_not_matter) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate, {{"romio_cb_write", "enable"}}), Errc::ok);
  // All of the first 2000 bytes, then two of every three.
  expect_all(give(crew, {in_turn(0, 1000, 3000), in_turn(1000, 1000, 3000)}), Errc::ok);
  std::vector<std::vector<std::byte>> bytes = one_of_each();
  for (const Outcome& outcome : write_turns(crew, bytes)) EXPECT_TRUE(outcome.status.ok());
  expect_turns(crew.stored());
}

TEST(Realms, are_refused_where_ranks_differ_and_the_old_ones_stay) {
  Crew crew(kFour);
  crew.store(filled(1024, 99));
  expect_all(crew.open(kReadWrite), Errc::ok);
  const std::vector<Layout> wrong = {in_turn(0, 100, 200)};
  expect_all(give(crew, wrong), Errc::ok);
  const auto differing = [](int rank) {
    return std::vector{in_turn(0, 100, 200), in_turn(100, 100 + (rank == 2), 200)};
  };
  expect_all(crew.each([&](File& file, int rank) { return file.set_realms(differing(rank), {}); }),
             Errc::not_same);
  expect_all(crew.each([](File& file, int rank) {
    return file.set_realms(std::vector<Layout>(rank == 1 ? 2 : 1, in_turn(0, 7, 7)), {});
  }),
             Errc::not_same);
  expect_all(crew.each([](File& file, int rank) {
    return file.set_realms({in_turn(rank == 3 ? 1 : 0, 7, 7)}, {});
  }),
             Errc::not_same);
  std::vector<std::vector<std::byte>> bytes = one_of_each();
  for (const Outcome& outcome : write_turns(crew, bytes))
    EXPECT_EQ(outcome.status.offset, 100) << outcome.status.to_string();
}

TEST(Realms, that_cannot_be_are_refused_at_once) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  const Layout good = in_turn(0, 10, 10);
  expect_all(give(crew, {good, good, good, good, good}), Errc::arg);  // more than ranks
  expect_all(give(crew, {in_turn(0, 10, 9)}), Errc::arg);
  expect_all(give(crew, {in_turn(-1, 10, 10)}), Errc::arg);
  const auto statuses = crew.each([&](File& file, int rank) {
    return file.set_realms({good}, rank == 1 ? failure(Errc::type, "simulated") : Status{});
  });
  expect_all(statuses, Errc::type);
}

TEST(Realms, given_outlive_changes_of_hints_and_views) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(give(crew, {in_turn(0, 512, 1025), in_turn(512, 512, 1025)}), Errc::ok);
  expect_all(crew.each([](File& f, int) {
    return f.set_info({{"cb_buffer_size", "4096"}, {"tamis_realms", "even"}, {"cb_nodes", "1"}},
                      {});
  }),
             Errc::ok);
  std::vector<std::vector<std::byte>> bytes = one_of_each();
  for (const Outcome& outcome : write_turns(crew, bytes)) EXPECT_TRUE(outcome.status.ok());
  for (std::vector<std::byte>& own : bytes) own.push_back(std::byte{9});  // to byte 1072
  for (const Outcome& outcome : write_turns(crew, bytes)) EXPECT_EQ(outcome.status.offset, 1024);
}

TEST(Realms, that_are_wrong_are_told_to_a_rank_that_is_alone) {
  Crew crew({0});
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(give(crew, {in_turn(0, 5, 9)}), Errc::ok);
  std::vector<std::byte> bytes = filled(10, 1);
  const auto write = [&](File& file, int) {
    return file.access_all(request_at(Direction::write, 0, bytes));
  };
  EXPECT_EQ(crew.all<Outcome>(write)[0].status.offset, 5);
  EXPECT_EQ(crew.stored().size(), 0U);
  expect_all(give(crew, {in_turn(0, 3, 3)}), Errc::ok);
  EXPECT_EQ(crew.all<Outcome>(write)[0].bytes, 10);
}

TEST(Realms, are_not_read_where_nobody_wants_anything) {
  for (const std::vector<std::int64_t>& nodes : {kFour, {0, 0, 0, 0}}) {
    Crew crew(nodes);
    std::vector<std::byte> there(64 << 10, std::byte{99});
    for (std::size_t i = 0; i < 4; ++i) there[10000 * (i + 1)] = static_cast<std::byte>(i + 1);
    crew.store(there);
    expect_all(crew.open(kReadWrite, {{"romio_cb_read", "enable"},
                                      {"cb_buffer_size", "8192"},
                                      {"tamis_counters", "enable"}}),
               Errc::ok);
    // A rank wants a byte and the fifth one after it, each in a window of its own.
    std::vector<std::vector<std::byte>> bytes(4, filled(2, 0));
    const auto wanted = [](int rank) {
      View view;
      view.layout = in_turn(10000 * (rank + 1), 1, 5);
      return view;
    };
    expect_all(crew.each([&](File& f, int rank) { return f.set_view(wanted(rank), {}, {}); }),
               Errc::ok);
    const auto outcomes = crew.all<Outcome>([&](File& file, int rank) {
      return file.access_all(request_at(Direction::read, 0, bytes[static_cast<std::size_t>(rank)]));
    });
    std::int64_t read = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const auto& own = bytes[static_cast<std::size_t>(rank)];
      EXPECT_EQ(outcomes[static_cast<std::size_t>(rank)].bytes, 2);
      EXPECT_EQ(own[0], static_cast<std::byte>(rank + 1));
      EXPECT_EQ(own[1], std::byte{99});
      for (const auto& [way, tally] : crew.file(rank).recorder()->ways()) {
        EXPECT_EQ(way.route, Route::two_phase);
        read += tally.bytes_read;
      }
    }
    EXPECT_EQ(read, 4 * 6);
  }
}

/// Who writes which bytes, as the storage sees it: per rank the sum.
std::vector<std::int64_t> written_by(Crew& crew) {
  std::vector<std::int64_t> sums;
  for (int rank = 0; rank < crew.size(); ++rank) {
    std::int64_t sum = 0;
    for (const auto& [way, tally] : crew.file(rank).recorder()->ways()) sum += tally.bytes_written;
    sums.push_back(sum);
  }
  return sums;
}

TEST(Realms, persistent_are_anchored_at_byte_zero_and_stay_whatever_hints_and_views_come) {
  Crew crew({0, 0});
  expect_all(crew.open(kReadWrite | kCreate, {{"romio_cb_write", "enable"},
                                              {"romio_cb_pfr", "enable"},
                                              {"romio_cb_fr_alignment", "64"},
                                              {"cb_buffer_size", "128"},
                                              {"cb_nodes", "2"},
                                              {"tamis_counters", "enable"}}),
             Errc::ok);
  std::vector<std::vector<std::byte>> bytes(2);
  const auto write = [&](std::int64_t begin, std::size_t each) {
    bytes = {filled(each, 1), filled(each, 2)};
    for (const Outcome& outcome : crew.all<Outcome>([&](File&file, int rank) {
           const std::int64_t offset = begin + rank * static_cast<std::int64_t>(each);
           return file.access_all(
               request_at(Direction::write, offset, bytes[static_cast<std::size_t>(rank)]));
         }))
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    return written_by(crew);
  };
  // The first access, of 200 bytes from 100 on, cut in two at multiples of 64 from 64 on: blocks of
  // 128, which lie from 0 on all the same. 100 to 127 and 256 to 299 are the first rank's.
  EXPECT_EQ(write(100, 100), (std::vector<std::int64_t>{28 + 44, 128}));
  const std::vector<HintText> others = {{"romio_cb_fr_alignment", "1"},
                                        {"cb_buffer_size", "4096"},
                                        {"cb_nodes", "1"},
                                        {"romio_min_fdomain_size", "1000"}};
  expect_all(crew.each([&](File& f, int) { return f.set_info(others, {}); }), Errc::ok);
  EXPECT_EQ(write(0, 128), (std::vector<std::int64_t>{72 + 128, 128 + 128}));
  expect_all(crew.each([&](File& f, int) {
    return f.set_view({}, {{"cb_nodes", "2"}}, {});
  }),
             Errc::ok);
  EXPECT_EQ(write(256, 64), (std::vector<std::int64_t>{200 + 128, 256}));
  // Other kinds come and go; these are the same when they are wanted again.
  expect_all(crew.each([](File& f, int) {
    return f.set_info({{"tamis_realms", "even"}, {"cb_nodes", "1"}}, {});
  }),
             Errc::ok);
  EXPECT_EQ(write(0, 128), (std::vector<std::int64_t>{328 + 256, 256}));
  expect_all(crew.each([](File& f, int) {
    return f.set_info({{"tamis_realms", "automatic"}}, {});
  }),
             Errc::ok);
  EXPECT_EQ(write(0, 128), (std::vector<std::int64_t>{584 + 128, 256 + 128}));
}

}  // namespace
}  // namespace tamis::sim
