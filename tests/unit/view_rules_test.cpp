#include "file/view_rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tamis {
namespace {

using Offsets = std::initializer_list<std::int64_t>;

Dataloop blocks(std::int64_t length, Offsets at, std::int64_t unit = 1) {
  return *Dataloop::blockindexed(length, std::span(at.begin(), at.size()), Dataloop::bytes(unit));
}

Dataloop resized(const Dataloop& loop, std::int64_t extent) {
  return *Dataloop::resized(0, extent, loop);
}

std::string broken_rule(const ViewProposal& view) {
  const Status status = check_view(view);
  return status.ok() ? "" : status.note;
}

const Dataloop kInt = Dataloop::bytes(4);

TEST(ViewRules, accept_what_the_standard_allows) {
  const ViewProposal views[] = {
      {.displacement = 0, .etype = Dataloop::bytes(1), .filetype = Dataloop::bytes(1)},
      {.displacement = 17, .etype = kInt, .filetype = blocks(4, {0, 8, 40})},
      {.etype = kInt, .filetype = resized(blocks(8, {16}), 64)},
      {.etype = kInt, .filetype = *Dataloop::vector(100000000, 2, 16, kInt)},
      {.etype = blocks(2, {0, 4}), .filetype = *Dataloop::contig(3, blocks(2, {0, 4}))},
      {.etype = Dataloop(), .filetype = Dataloop()},
      {.etype = kInt, .filetype = Dataloop()},
  };
  for (const ViewProposal& view : views) {
    EXPECT_EQ(broken_rule(view), "") << view.filetype.to_string();
  }
}

TEST(ViewRules, refuse_negative_displacements) {
  EXPECT_EQ(check_view({.displacement = -1, .etype = kInt, .filetype = kInt}).code, Errc::arg);
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = blocks(4, {-4, 8})}),
            "the filetype has a negative displacement");
  EXPECT_EQ(broken_rule({.etype = blocks(4, {-4}), .filetype = kInt}),
            "the etype has a negative displacement");
}

TEST(ViewRules, refuse_displacements_that_decrease_even_for_reading) {
  for (const bool writable : {true, false}) {
    EXPECT_EQ(broken_rule({.etype = kInt, .filetype = blocks(4, {8, 0}), .writable = writable}),
              "the displacements of the filetype decrease");
    EXPECT_EQ(
        broken_rule(
            {.etype = blocks(4, {8, 0}), .filetype = blocks(4, {8, 0}), .writable = writable}),
        "the displacements of the etype decrease");
  }
}

TEST(ViewRules, refuse_overlaps_for_writing_only) {
  const Dataloop twice = blocks(8, {0, 4});
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = twice}),
            "the filetype overlaps itself, but the file is open for writing");
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = twice, .writable = false}), "");
  EXPECT_EQ(broken_rule(
                {.etype = blocks(4, {0, 2}), .filetype = *Dataloop::contig(2, blocks(4, {0, 2}))}),
            "the etype overlaps itself, but the file is open for writing");
}

TEST(ViewRules, accept_copies_that_lie_within_each_other_but_go_forward) {
  const Dataloop sliding = resized(Dataloop::bytes(8), 4);
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = sliding}), "");
  EXPECT_NE(broken_rule({.etype = kInt, .filetype = resized(kInt, 0)}), "");
}

TEST(ViewRules, refuse_filetypes_not_made_of_etypes) {
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = Dataloop::bytes(6)}),
            "the filetype is not made of whole etypes");
  EXPECT_EQ(broken_rule({.etype = kInt, .filetype = blocks(2, {0, 8})}),
            "a block of the filetype is not made of whole etypes");
  EXPECT_EQ(broken_rule({.etype = Dataloop(), .filetype = kInt}),
            "the etype has no data, but the filetype has");
}

}  // namespace
}  // namespace tamis
