// Decoded datatypes against the host MPI: what MPI_Pack copies, a decoded type must name, byte by
// byte and in the same order. One process; TAMIS_SEED and TAMIS_ROUNDS choose the random types.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "decode_types.hpp"
#include "layout/cursor.hpp"
#include "layout/layout.hpp"
#include "mpi/constructors.hpp"
#include "mpi/datatype.hpp"
#include "mpi/error_class.hpp"
#include "mpi/host.hpp"
#include "mpi/mpi_status.hpp"

namespace tamis {
namespace {

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// The bytes a layout names, one after the other.
std::vector<std::byte> stream_of(const Layout& layout, const std::byte* base) {
  std::vector<std::byte> stream;
  Cursor cursor(layout);
  while (!cursor.at_end()) {
    const Run run = cursor.next(layout.size() - cursor.position());
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::byte* block = base + run.offset + i * run.stride;
      stream.insert(stream.end(), block, block + run.block);
    }
  }
  return stream;
}

struct Bounds {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
};

Bounds bounds_of(MPI_Datatype type) {
  Bounds bounds;
  MPI_Type_size_x(type, &bounds.size);
  MPI_Type_get_extent_x(type, &bounds.lb, &bounds.extent);
  MPI_Type_get_true_extent_x(type, &bounds.true_lb, &bounds.true_extent);
  return bounds;
}

/// Copy by copy: Open MPI 4.1 packs several copies of some padded structs as if they touched.
std::vector<std::byte> packed_by_host(MPI_Datatype type, int count, const std::byte* base) {
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  int room = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &room);
  std::vector<std::byte> packed(static_cast<std::size_t>(room) + 1);
  int position = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Pack(base + i * extent, 1, type, packed.data(), room, &position, MPI_COMM_SELF);
  }
  packed.resize(static_cast<std::size_t>(position));
  return packed;
}

void expect_same_as_host(MPI_Datatype type, int count, std::uint64_t seed) {
  const Bounds host_bounds = bounds_of(type);
  const Result<const Dataloop*> loop = decode(type);
  ASSERT_TRUE(loop.ok()) << loop.status().to_string();
  EXPECT_EQ((*loop)->size(), host_bounds.size);
  EXPECT_EQ((*loop)->lb(), host_bounds.lb);
  EXPECT_EQ((*loop)->extent(), host_bounds.extent);
  if (host_bounds.size == 0) return;
  // Hosts count blocks without bytes when they tell true bounds.
  EXPECT_GE((*loop)->true_lb(), host_bounds.true_lb);
  EXPECT_LE((*loop)->true_ub(), host_bounds.true_lb + host_bounds.true_extent);

  const std::int64_t below = std::max<std::int64_t>(0, -host_bounds.true_lb);
  const std::int64_t above =
      std::max<std::int64_t>(0, host_bounds.true_lb + host_bounds.true_extent);
  const std::int64_t copies = (count - 1) * host_bounds.extent;
  const auto memory = random_bytes(static_cast<std::size_t>(below + above + copies), seed);
  const Layout layout{.loop = **loop, .displacement = 0, .repeat = count};
  const std::byte* origin = memory.data() + below;
  EXPECT_EQ(stream_of(layout, origin), packed_by_host(type, count, origin)) << (*loop)->to_string();
}

class Decode : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(find_host(), nullptr) << host_problem(); }
};

TEST_F(Decode, null_type_is_a_type_error) {
  const Result<const Dataloop*> loop = decode(MPI_DATATYPE_NULL);
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.status().code, Errc::type);
}

TEST_F(Decode, pair_types_keep_their_holes) {
  for (MPI_Datatype type : {MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_LONG_INT,
                            MPI_FLOAT_INT, MPI_2INT}) {
    expect_same_as_host(type, 3, 7);
  }
  struct DoubleInt {
    double value;
    int index;
  };
  const Result<const Dataloop*> loop = decode(MPI_DOUBLE_INT);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ((*loop)->size(), 12);
  EXPECT_EQ((*loop)->extent(), static_cast<std::int64_t>(sizeof(DoubleInt)));
}

TEST_F(Decode, predefined_types_are_answered_from_one_place) {
  const Result<const Dataloop*> first = decode(MPI_DOUBLE);
  const Result<const Dataloop*> second = decode(MPI_DOUBLE);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ((*first)->size(), 8);
  EXPECT_EQ((*first)->root(), nullptr);
}

TEST_F(Decode, a_filled_status_counts_in_any_type) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Status status;
  std::memset(&status, 0x5a, sizeof status);
  const int error_before = status.MPI_ERROR;
  fill_status(&status, 24);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, 24);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  EXPECT_EQ(count, 3);
  MPI_Get_count(&status, pair, &count);
  EXPECT_EQ(count, 3);
  MPI_Get_elements(&status, pair, &count);
  EXPECT_EQ(count, 6);
  fill_status(&status, 20);
  MPI_Get_count(&status, pair, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Count large = 0;
  fill_status(&status, std::int64_t{1} << 40);
  MPI_Get_elements_x(&status, MPI_BYTE, &large);
  EXPECT_EQ(large, std::int64_t{1} << 40);
  int cancelled = 1;
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT_EQ(cancelled, 0);
  EXPECT_EQ(status.MPI_ERROR, error_before);
  fill_status(MPI_STATUS_IGNORE, 24);
  MPI_Type_free(&pair);
}

TEST_F(Decode, error_classes_go_there_and_back) {
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    const auto code = static_cast<Errc>(i);
    EXPECT_EQ(errc_of(error_class(code)), code) << name(code);
  }
  EXPECT_EQ(errc_of(MPI_ERR_TOPOLOGY), Errc::internal);
}

TEST_F(Decode, random_types_name_the_bytes_that_pack_copies) {
  const auto first = static_cast<std::uint64_t>(from_environment("TAMIS_SEED", 1));
  const auto rounds = static_cast<std::uint64_t>(from_environment("TAMIS_ROUNDS", 1500));
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    test::TypeMaker maker(seed);
    const MPI_Datatype type = maker.make(maker.number(0, 5));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + maker.story());
    expect_same_as_host(type, maker.number(1, 3), seed);
    if (HasFailure()) return;
  }
}

TEST_F(Decode, a_reused_handle_is_decoded_anew) {
  for (int n = 1; n <= 200; ++n) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    const Result<const Dataloop*> loop = decode(type);
    ASSERT_TRUE(loop.ok());
    EXPECT_EQ((*loop)->size(), 4 * n);
    MPI_Type_free(&type);
  }
}

TEST_F(Decode, a_description_outlives_its_type_when_copied) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 2, 3, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  const Result<const Dataloop*> loop = decode(type);
  ASSERT_TRUE(loop.ok());
  const Dataloop copy = **loop;
  MPI_Type_free(&type);
  EXPECT_EQ(copy.size(), 80);
  EXPECT_EQ(copy.true_ub(), (4 * 3 + 2) * 8);
}

TEST_F(Decode, a_duplicate_does_not_share_the_description) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 2, 3, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  ASSERT_TRUE(decode(type).ok());
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &duplicate);
  MPI_Type_free(&type);
  expect_same_as_host(duplicate, 2, 11);
  MPI_Type_free(&duplicate);
}

TEST_F(Decode, a_type_used_twice_on_each_level_is_decoded) {
  std::vector<MPI_Datatype> levels;
  MPI_Datatype type = MPI_CHAR;
  for (int i = 0; i < 12; ++i) {
    const std::array<int, 2> blocks = {1, 0};
    const std::array<MPI_Aint, 2> places = {0, 8};
    const std::array<MPI_Datatype, 2> types = {type, type};
    MPI_Type_create_struct(2, blocks.data(), places.data(), types.data(), &type);
    levels.push_back(type);
  }
  const Result<const Dataloop*> loop = decode(type);
  ASSERT_TRUE(loop.ok()) << loop.status().to_string();
  EXPECT_EQ((*loop)->size(), 1);
  for (MPI_Datatype& level : levels) MPI_Type_free(&level);
}

TEST_F(Decode, a_nest_beyond_reason_is_refused) {
  std::vector<MPI_Datatype> levels;
  MPI_Datatype type = MPI_CHAR;
  for (int i = 0; i < 600; ++i) {
    MPI_Type_dup(type, &type);
    levels.push_back(type);
  }
  const Result<const Dataloop*> loop = decode(type);
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.status().code, Errc::type);
  for (MPI_Datatype& level : levels) MPI_Type_free(&level);
}

// A later host under the same library: MPI 4.1 has a constructor of two types and no numbers.
TEST_F(Decode, a_constructor_of_a_later_standard_is_refused_by_name) {
  constexpr int kUnheardOf = 20000;
  const std::array types = {Dataloop::bytes(4), Dataloop::bytes(8)};
  for (const std::size_t count : {0U, 1U, 2U}) {
    const Result<Dataloop> loop =
        construct({.combiner = kUnheardOf, .numbers = {}, .types = std::span(types).first(count)});
    ASSERT_FALSE(loop.ok());
    EXPECT_EQ(loop.status().code, Errc::type);
    EXPECT_NE(loop.status().to_string().find("unknown to Tamis"), std::string::npos);
  }
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ::testing::InitGoogleTest(&argc, argv);
  const int failures = RUN_ALL_TESTS();
  MPI_Finalize();
  return failures;
}
