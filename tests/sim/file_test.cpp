#include "file/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/crew.hpp"

namespace tamis::sim {
namespace {

const std::vector<std::int64_t> kFour = {0, 0, 1, 1};

FaultPlan failing(Verb verb, Errc code = Errc::io, std::uint64_t nth = 1) {
  return {.faults = {{.verb = verb, .nth = nth, .code = code}}};
}

/// Plans for four ranks, of which rank `rank` has this one.
Crew::Plans only(std::size_t rank, FaultPlan plan) {
  Crew::Plans plans(4);
  plans[rank] = std::move(plan);
  return plans;
}

void expect_all(const std::vector<Status>& statuses, Errc code) {
  for (std::size_t rank = 0; rank < statuses.size(); ++rank)
    EXPECT_EQ(statuses[rank].code, code) << "rank " << rank << ": " << statuses[rank].to_string();
}

TEST(Open, that_fails_on_one_rank_fails_on_all_and_leaves_nothing_open) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    Crew crew(kFour, only(rank, failing(Verb::open, Errc::access)));
    expect_all(crew.open(kReadWrite | kCreate), Errc::access);
    EXPECT_EQ(crew.open_drivers(), 0);
    EXPECT_EQ(crew.world().segments_alive(), 0);
  }
}

TEST(Open, that_cannot_tell_the_end_to_append_at_leaves_nothing_open) {
  Crew crew(kFour, only(2, failing(Verb::size)));
  expect_all(crew.open(kReadWrite | kCreate | kAppend), Errc::io);
  EXPECT_EQ(crew.open_drivers(), 0);
}

TEST(Open, a_wrong_argument_on_some_ranks_reaches_all_each_told_of_its_own) {
  Crew crew(kFour);
  const auto statuses = crew.open([](int rank) {
    OpenRequest request{.name = "crewed", .amode = kReadWrite | kCreate, .hints = {}, .error = {}};
    if (rank == 1) request.error = failure(Errc::amode, "simulated");
    if (rank == 3) request.error = failure(Errc::info, "simulated");
    return request;
  });
  EXPECT_EQ(statuses[1].code, Errc::amode);
  EXPECT_EQ(statuses[3].code, Errc::info);
  EXPECT_EQ(statuses[0].code, Errc::amode);  // the worse one
  EXPECT_EQ(statuses[0].rank, 1);
  EXPECT_FALSE(crew.exists());
}

TEST(Open, with_different_access_modes_is_refused_before_anything_is_created) {
  Crew crew(kFour);
  expect_all(crew.open([](int rank) {
    return OpenRequest{
        .name = "crewed",
        .amode = static_cast<unsigned>(kCreate | (rank == 2 ? kWriteOnly : kReadWrite)),
        .hints = {},
        .error = {}};
  }),
             Errc::not_same);
  EXPECT_FALSE(crew.exists());
}

TEST(Open, exclusive_creation_succeeds_once) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate | kExclusive), Errc::ok);
  expect_all(crew.close(), Errc::ok);
  expect_all(crew.open(kReadWrite | kCreate | kExclusive), Errc::file_exists);
  EXPECT_EQ(crew.open_drivers(), 0);
}

TEST(Open, takes_the_hints_of_rank_0_everywhere) {
  Crew crew(kFour);
  expect_all(crew.open([](int rank) {
    return OpenRequest{.name = "crewed",
                       .amode = kReadWrite | kCreate,
                       .hints = {{"cb_buffer_size", std::to_string(5000 + rank)}},
                       .error = {}};
  }),
             Errc::ok);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(crew.file(rank).hints().cb_buffer_size, 5000);
}

TEST(Open, append_points_to_the_end) {
  Crew crew(kFour);
  crew.store(filled(123, 7));
  expect_all(crew.open(kReadWrite | kAppend), Errc::ok);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(crew.file(rank).position(), 123);
}

TEST(Close, deletes_the_file_where_asked) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate | kDeleteOnClose), Errc::ok);
  EXPECT_TRUE(crew.exists());
  expect_all(crew.close(), Errc::ok);
  EXPECT_FALSE(crew.exists());
}

TEST(Close, an_error_on_one_rank_reaches_all_and_everything_is_closed) {
  for (const Verb verb : {Verb::close, Verb::remove}) {
    Crew crew(kFour, only(0, failing(verb, Errc::quota)));
    expect_all(crew.open(kReadWrite | kCreate | kDeleteOnClose), Errc::ok);
    expect_all(crew.close(), Errc::quota);
    EXPECT_EQ(crew.open_drivers(), 0);
    EXPECT_EQ(crew.world().segments_alive(), 0);
  }
}

TEST(Size, is_set_only_where_all_ranks_agree) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& file, int) { return file.set_size(100, {}); }), Errc::ok);
  expect_all(crew.each([](File& file, int rank) { return file.set_size(200 + rank, {}); }),
             Errc::not_same);
  expect_all(crew.each([](File& file, int rank) { return file.preallocate(300 - rank, {}); }),
             Errc::not_same);
  EXPECT_EQ(crew.stored().size(), 100U);
}

TEST(Size, an_error_of_the_storage_reaches_every_rank) {
  Crew crew(kFour,
            only(0, {.faults = {{.verb = Verb::resize, .nth = 1, .code = Errc::quota},
                                {.verb = Verb::preallocate, .nth = 1, .code = Errc::no_space},
                                {.verb = Verb::sync, .nth = 1, .code = Errc::io}}}));
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& file, int) { return file.set_size(10, {}); }), Errc::quota);
  expect_all(crew.each([](File& file, int) { return file.preallocate(10, {}); }), Errc::no_space);
  expect_all(crew.each([](File& file, int) { return file.sync({}); }), Errc::io);
  expect_all(crew.each([](File& file, int) { return file.sync({}); }), Errc::ok);
  EXPECT_EQ(crew.stored().size(), 0U);
}

TEST(Size, of_a_file_open_for_reading_cannot_be_set) {
  Crew crew(kFour);
  crew.store(filled(10, 1));
  expect_all(crew.open(kReadOnly), Errc::ok);
  expect_all(crew.each([](File& file, int) { return file.set_size(5, {}); }), Errc::read_only);
  EXPECT_EQ(crew.stored().size(), 10U);
}

TEST(Atomicity, is_refused_where_ranks_differ_or_locks_are_refused) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& f, int rank) { return f.set_atomicity(rank != 1, {}); }),
             Errc::not_same);
  EXPECT_FALSE(crew.file(0).atomic());
  expect_all(crew.each([](File& f, int) { return f.set_atomicity(true, {}); }), Errc::ok);
  EXPECT_TRUE(crew.file(0).atomic());

  Crew lockless(kFour, only(3, {.refuse_locks = true}));
  expect_all(lockless.open(kReadWrite | kCreate), Errc::ok);
  expect_all(lockless.each([](File& f, int) { return f.set_atomicity(true, {}); }),
             Errc::unsupported_operation);
}

TEST(Atomicity, outlives_a_change_of_hints) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& f, int) { return f.set_atomicity(true, {}); }), Errc::ok);
  expect_all(crew.each([](File& f, int) {
    return f.set_info({{"cb_buffer_size", "4096"}}, {});
  }),
             Errc::ok);
  EXPECT_TRUE(crew.file(2).atomic());
}

TEST(View, that_ranks_disagree_on_is_not_set) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& file, int rank) {
    View view = strided_view(rank, 4, 8);
    view.etype_extent = rank == 2 ? 4 : 8;
    return file.set_view(view, {}, {});
  }),
             Errc::not_same);
  expect_all(crew.each([](File& file, int rank) {
    View view = strided_view(rank, 4, 8);
    if (rank == 3) view.datarep = "external32";
    return file.set_view(view, {}, {});
  }),
             Errc::not_same);
  EXPECT_EQ(crew.file(1).view().layout.displacement, 0);
}

TEST(View, resets_the_pointer) {
  Crew crew({0});
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  EXPECT_EQ(*crew.file(0).seek(40, Whence::set), 40);
  expect_all(crew.each([](File& f, int) { return f.set_view(strided_view(0, 2, 8), {}, {}); }),
             Errc::ok);
  EXPECT_EQ(crew.file(0).position(), 0);
}

TEST(View, without_bytes_moves_nothing_and_says_so) {
  Crew crew(kFour);
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  expect_all(crew.each([](File& file, int rank) {
    View view = strided_view(rank, 4, 8);
    if (rank == 1) view.layout.loop = *Dataloop::resized(0, 32, Dataloop::bytes(0));
    return file.set_view(view, {}, {});
  }),
             Errc::ok);
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(rank == 1 ? 0 : 64, rank + 1));
  const auto write = [&](File& file, int rank) {
    return file.access_all(request_at(Direction::write, 0, bytes[static_cast<std::size_t>(rank)]));
  };
  for (const Outcome& outcome : crew.all<Outcome>(write)) EXPECT_TRUE(outcome.status.ok());
  bytes[1] = filled(8, 9);
  for (const Outcome& outcome : crew.all<Outcome>(write)) EXPECT_EQ(outcome.status.code, Errc::io);
}

/// Ranks whose storage is as weak as `plan` write interleaved blocks with holes.
void expect_holes_are_written(const FaultPlan& plan) {
  Crew crew(kFour, only(1, plan));
  crew.store(filled(4 * 5 * 64, 99));
  expect_all(crew.open(kReadWrite, {{"romio_cb_write", "enable"}}), Errc::ok);
  expect_all(
      crew.each([](File& f, int rank) { return f.set_view(strided_view(rank, 5, 16), {}, {}); }),
      Errc::ok);
  std::vector<std::vector<std::byte>> bytes;
  for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(256, rank));
  for (const Outcome& outcome : crew.all<Outcome>([&](File&file, int rank) {
         return file.access_all(
             request_at(Direction::write, 0, bytes[static_cast<std::size_t>(rank)]));
       })) {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    EXPECT_EQ(outcome.bytes, 256);
  }
  const std::vector<std::byte> stored = crew.stored();
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t part = i / 16 % 5;
    ASSERT_EQ(stored[i], static_cast<std::byte>(part < 4 ? part : 99)) << "byte " << i;
  }
}

// As many bytes as the region is long, and yet a hole: two ranks write the same bytes.
TEST(Holes, are_kept_where_pieces_overlap) {
  Crew crew({0, 0, 1});
  crew.store(filled(32, 99));
  expect_all(crew.open(kReadWrite, {{"romio_cb_write", "enable"}}), Errc::ok);
  const std::int64_t begins[] = {0, 8, 24};
  expect_all(crew.each([&](File& f, int rank) {
    View view;
    view.layout.displacement = begins[rank];
    return f.set_view(view, {}, {});
  }),
             Errc::ok);
  std::vector<std::vector<std::byte>> bytes = {filled(16, 1), filled(8, 1), filled(8, 1)};
  const auto write = [&](File& file, int rank) {
    return file.access_all(request_at(Direction::write, 0, bytes[static_cast<std::size_t>(rank)]));
  };
  for (const Outcome& outcome : crew.all<Outcome>(write)) EXPECT_TRUE(outcome.status.ok());
  std::vector<std::byte> expected = filled(32, 1);
  std::fill(expected.begin() + 16, expected.begin() + 24, std::byte{99});
  EXPECT_EQ(crew.stored(), expected);
}

TEST(Holes, are_kept_where_a_rank_cannot_lock) { expect_holes_are_written({.refuse_locks = true}); }
TEST(Holes, are_kept_where_a_rank_cannot_read_back) {
  expect_holes_are_written({.refuse_read_back = true});
}

TEST(Pointer, seeks_from_all_three_places) {
  Crew crew({0});
  crew.store(filled(100, 1));
  expect_all(crew.open(kReadWrite), Errc::ok);
  File& file = crew.file(0);
  View view = strided_view(1, 2, 8);  // bytes 8..15, 24..31, ...
  view.etype_bytes = 4;
  expect_all(crew.each([&](File& f, int) { return f.set_view(view, {}, {}); }), Errc::ok);
  EXPECT_EQ(*file.seek(3, Whence::set), 3);
  EXPECT_EQ(*file.seek(-1, Whence::current), 2);
  // 100 bytes hold blocks 8, 24, 40, 56, 72, 88 of the view whole but for the last: 88..95 is
  // whole.
  EXPECT_EQ(*file.seek(0, Whence::end), 12);
  EXPECT_EQ(*file.seek(-12, Whence::end), 0);
  EXPECT_EQ(file.seek(-13, Whence::end).status().code, Errc::arg);
  EXPECT_EQ(file.seek(-1, Whence::set).status().code, Errc::arg);
  EXPECT_EQ(file.seek(std::numeric_limits<std::int64_t>::max(), Whence::end).status().code,
            Errc::arg);
  EXPECT_EQ(file.position(), 0);
}

TEST(Pointer, counts_an_etype_that_the_end_of_the_file_cuts) {
  Crew crew({0});
  crew.store(filled(10, 1));  // bytes 8 and 9 are half an etype
  expect_all(crew.open(kReadWrite), Errc::ok);
  View view = strided_view(0, 1, 4);
  view.etype_bytes = 4;
  expect_all(crew.each([&](File& f, int) { return f.set_view(view, {}, {}); }), Errc::ok);
  EXPECT_EQ(*crew.file(0).seek(0, Whence::end), 3);
}

TEST(Pointer, byte_offsets_follow_the_view) {
  Crew crew({0});
  expect_all(crew.open(kReadWrite | kCreate), Errc::ok);
  View view = strided_view(1, 4, 8);
  view.etype_bytes = 2;
  expect_all(crew.each([&](File& f, int) { return f.set_view(view, {}, {}); }), Errc::ok);
  const File& file = crew.file(0);
  EXPECT_EQ(*file.byte_offset(0), 8);
  EXPECT_EQ(*file.byte_offset(3), 14);
  EXPECT_EQ(*file.byte_offset(4), 40);
  EXPECT_EQ(file.byte_offset(-1).status().code, Errc::arg);
  EXPECT_EQ(file.byte_offset(std::numeric_limits<std::int64_t>::max() / 4).status().code,
            Errc::arg);
}

TEST(Offsets, near_the_top_of_64_bits_are_served_or_refused_on_every_rank) {
  constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();
  for (const char* way : {"enable", "disable"})
    for (const std::int64_t below : {200, 5000, 100000}) {
      Crew crew(kFour);
      expect_all(crew.open(kReadWrite | kCreate, {{"romio_cb_write", way},
                                                  {"romio_cb_read", way},
                                                  {"romio_ds_write", "enable"},
                                                  {"romio_ds_read", "enable"}}),
                 Errc::ok);
      expect_all(crew.each([&](File& file, int rank) {
        View view = strided_view(rank, 5, 8);
        view.layout.displacement += kTop - below;
        return file.set_view(view, {}, {});
      }),
                 Errc::ok);
      std::vector<std::vector<std::byte>> bytes;
      for (int rank = 0; rank < 4; ++rank) bytes.push_back(filled(32, rank));
      for (const Direction direction : {Direction::write, Direction::read})
        for (const Outcome& outcome : crew.all<Outcome>([&](File&file, int rank) {
               return file.access_all(
                   request_at(direction, 0, bytes[static_cast<std::size_t>(rank)]));
             })) {
          EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string() << " " << below;
          EXPECT_EQ(outcome.bytes, 32);
        }
      for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(bytes[static_cast<std::size_t>(rank)], filled(32, rank));
    }
}

/// A file that ends anywhere around the borders of windows is read up to its end.
TEST(EndOfFile, at_every_place_around_the_borders_of_windows_counts_right) {
  for (std::size_t size = 0; size <= 200; ++size) {
    Crew crew({0, 0, 1});
    std::vector<std::byte> content = filled(size, 0);
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::byte>(i);
    crew.store(content);
    expect_all(crew.open(kReadOnly, {{"romio_cb_read", "enable"}, {"cb_buffer_size", "96"}}),
               Errc::ok);
    expect_all(
        crew.each([](File& f, int rank) { return f.set_view(strided_view(rank, 3, 5), {}, {}); }),
        Errc::ok);
    std::vector<std::vector<std::byte>> bytes(3, filled(60, 255));
    const auto outcomes = crew.all<Outcome>([&](File& file, int rank) {
      return file.access_all(request_at(Direction::read, 0, bytes[static_cast<std::size_t>(rank)]));
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
      std::vector<std::byte> expected = filled(60, 255);
      std::int64_t there = 0;
      for (std::size_t i = 0; i < 60; ++i) {
        const std::size_t offset = i / 5 * 15 + rank * 5 + i % 5;
        if (offset < size) expected[i] = content[offset], ++there;
      }
      ASSERT_TRUE(outcomes[rank].status.ok());
      ASSERT_EQ(outcomes[rank].bytes, there) << "rank " << rank << ", a file of " << size;
      ASSERT_EQ(bytes[rank], expected) << "rank " << rank << ", a file of " << size;
    }
  }
}

}  // namespace
}  // namespace tamis::sim
