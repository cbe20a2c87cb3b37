#include <gtest/gtest.h>

#include "layout/dataloop_parse.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis {
namespace {

TEST(DataloopText, says_what_was_read) {
  for (const char* text :
       {"contig(0)", "contig(8)", "contig(8) at 24", "vector(4, stride 16, contig(4))",
        "vector(3, stride -100, vector(4, stride 16, contig(4))) at 300",
        "blockindexed(3, at [0, 10, 40], contig(4))", "indexed(2, [4 at 0, 8 at 16])",
        "struct(2, [contig(4) at 0, vector(3, stride 8, contig(2)) at 16]) resized(lb -8, extent "
        "64)"}) {
    const Result<Dataloop> loop = parse_dataloop(text);
    ASSERT_TRUE(loop.ok()) << text << ": " << loop.status().note;
    EXPECT_EQ(loop->to_string(), text);
  }
}

TEST(DataloopText, whatever_is_printed_whole_is_read_back_as_it_was) {
  int whole = 0;
  oracle::for_seeds(2000, [&](std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    const auto kind = seed % 2 == 0 ? oracle::Kind::any : oracle::Kind::ordered;
    const Dataloop loop = oracle::random_type(rng, 3, 100, kind).loop;
    const std::string text = loop.to_string();
    if (text.find("...") != std::string::npos) return;
    ++whole;
    const Result<Dataloop> again = parse_dataloop(text);
    ASSERT_TRUE(again.ok()) << text << ": " << again.status().note;
    EXPECT_EQ(again->to_string(), text);
    // Bounds that follow from the parts' explicit ones are not in the text.
    EXPECT_EQ(*Dataloop::resized(0, 1, *again), *Dataloop::resized(0, 1, loop)) << text;
  });
  EXPECT_GT(whole, 200);
}

TEST(DataloopText, lists_may_be_longer_than_they_are_printed) {
  const Result<Dataloop> loop =
      parse_dataloop("indexed(5, [1 at 0, 2 at 4, 3 at 9, 1 at 20, 7 at 30])");
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->size(), 14);
  EXPECT_EQ(loop->blocks(), 5);
}

TEST(DataloopText, what_is_something_else_is_refused_with_a_reason) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "vector(2, stride 8, ";
  for (const std::string& text :
       {std::string(), std::string("contig"), std::string("contig()"), std::string("contig(-1)"),
        std::string("contig(8"), std::string("contig(8))"), std::string("contig(8) at"),
        std::string("vector(4, stride 16, ...)"), std::string("vector(-4, stride 16, contig(4))"),
        std::string("vector(4, 16, contig(4))"), std::string("indexed(3, [4 at 0, 8 at 16])"),
        std::string("blockindexed(9, at [0, 10, 40, ...], contig(4))"),
        std::string("contig(99999999999999999999)"),
        std::string("vector(9223372036854775807, stride 9223372036854775807, contig(4))"),
        std::string("struct(1, [contig(4)])"), deep}) {
    const Result<Dataloop> loop = parse_dataloop(text);
    ASSERT_FALSE(loop.ok()) << text.substr(0, 80);
    EXPECT_NE(loop.status().note, nullptr) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace tamis
