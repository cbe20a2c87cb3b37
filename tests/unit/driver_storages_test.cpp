#include <gtest/gtest.h>

#include "driver_support.hpp"
#include "drivers/storages.hpp"

namespace tamis::test {
namespace {

struct Found {
  Errc code;
  std::string driver;
  std::string path;
};

/// Looks a name up and opens it, to learn which driver serves it.
Found found(Storages& storages, const std::string& name) {
  std::string path;
  const Result<Storage*> storage = storages.find(name, path);
  if (!storage.ok()) return {storage.status().code, "", path};
  const auto driver = open_or_fail(**storage, path);
  return {Errc::ok, driver ? driver->capabilities().name : "", path};
}

TEST(Storages, prefixes_of_mounted_file_systems_lead_to_posix) {
  const ScratchDirectory scratch;
  Storages storages;
  for (const char* prefix : {"", "ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:"}) {
    const Found result = found(storages, prefix + scratch.file("file"));
    EXPECT_EQ(result.driver, "posix") << prefix;
    EXPECT_EQ(result.path, scratch.file("file"));
  }
}

TEST(Storages, memory_files_are_seen_again_under_their_name) {
  Storages storages;
  EXPECT_EQ(found(storages, "memory:a/b").driver, "memory");
  std::string path;
  const Result<Storage*> storage = storages.find("memory:a/b", path);
  ASSERT_TRUE(storage.ok());
  EXPECT_TRUE((*storage)->open(path, {}).ok());
}

TEST(Storages, other_colons_belong_to_the_file_name) {
  const ScratchDirectory scratch;
  Storages storages;
  std::string path;
  for (const std::string name : {"foo:bar", "12:30.dat", "x:", "./ufs:x", "/tmp/ufs:x", "UFS:x"}) {
    EXPECT_TRUE(storages.find(name, path).ok());
    EXPECT_EQ(path, name);
  }
}

TEST(Storages, an_empty_name_is_a_bad_file) {
  Storages storages;
  std::string path;
  for (const char* name : {"", "ufs:", "memory:"}) {
    EXPECT_EQ(storages.find(name, path).status().code, Errc::bad_file) << name;
  }
}

}  // namespace
}  // namespace tamis::test
