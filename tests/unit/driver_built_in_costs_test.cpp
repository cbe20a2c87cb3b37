#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "driver_scripted_calls.hpp"
#include "driver_support.hpp"
#include "drivers/posix/built_in_costs.hpp"
#include "drivers/posix/posix.hpp"

// The table that `tamis explain --filesystem` reads is the one a job on such a file system has.

namespace tamis::test {
namespace {

constexpr std::int64_t kUnheardOf = 0x12345;

TEST(BuiltInCosts, are_those_of_a_file_that_is_opened_there) {
  setenv("TAMIS_PROFILES", "", 1);
  const ScratchDirectory scratch;
  const std::string path = scratch.file("file");
  PosixStorage storage(scripted());
  for (const FileSystemName& one : file_system_names()) {
    script = {};
    script.magic = one.magic == kOtherFileSystem ? kUnheardOf : one.magic;
    auto opened = storage.open(path, {.read = true, .write = true, .create = true});
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const Capabilities& found = (*opened)->capabilities();
    const FileSystemCosts* const named = built_in_costs(one.name);
    ASSERT_NE(named, nullptr) << one.name;
    EXPECT_EQ(found.read_ns, named->read_ns) << one.name;
    EXPECT_EQ(found.write_ns, named->write_ns) << one.name;
    EXPECT_EQ(found.byte_ns, named->byte_ns) << one.name;
    EXPECT_EQ(found.lock_ns, named->lock_ns) << one.name;
  }
  script = {};
}

TEST(BuiltInCosts, differ_where_storage_differs_and_no_name_is_guessed) {
  EXPECT_LT(built_in_costs("tmpfs")->write_ns, built_in_costs("ext4")->write_ns);
  EXPECT_LT(built_in_costs("ext4")->read_ns, built_in_costs("lustre")->read_ns);
  EXPECT_EQ(built_in_costs("nfs4"), built_in_costs("nfs"));
  for (const char* name : {"", "ext", "EXT4", "btrfs"})
    EXPECT_EQ(built_in_costs(name), nullptr) << name;
  EXPECT_EQ(&built_in_costs(kUnheardOf), built_in_costs("other"));
}

}  // namespace
}  // namespace tamis::test
