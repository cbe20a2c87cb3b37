#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "driver_support.hpp"
#include "drivers/posix/mounts.hpp"
#include "drivers/posix/posix.hpp"
#include "drivers/posix/profile.hpp"
#include "drivers/posix/profile_store.hpp"

// Profiles of storage: what calibrate stores, what an open makes of it, and of anything else.

namespace tamis::test {
namespace {

const Profile kGood{.mount = "/data",
                    .filesystem = "ext4",
                    .date = "2026-11-21T15:04:05Z",
                    .read_ns = 500,
                    .write_ns = 2000.5,
                    .read_byte_ns = 0.1,
                    .write_byte_ns = 0.3,
                    .lock_ns = 1200};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

std::string defect_of(const std::string& text) {
  Profile profile = kGood;
  std::string defect = parse_profile(text, profile);
  if (!defect.empty()) {
    EXPECT_EQ(profile, kGood) << "a refused text left traces";
  }
  return defect;
}

TEST(Profile, what_is_written_is_read_again) {
  Profile profile;
  EXPECT_EQ(parse_profile(format_profile(kGood), profile), "");
  EXPECT_EQ(profile, kGood);
  EXPECT_DOUBLE_EQ(profile.byte_ns(), 0.2);
}

RC_GTEST_PROP(Profile, any_mount_point_and_figures_within_bounds_survive,
              (const std::string& mount, double read, double byte)) {
  Profile profile = kGood;
  profile.mount = "/" + mount;
  profile.read_ns = read;
  profile.read_byte_ns = byte;
  profile = bounded(profile);
  Profile back;
  const std::string defect = parse_profile(format_profile(profile), back);
  RC_ASSERT(defect == (mount.size() < 4096 ? "" : "mount is malformed"));
  RC_ASSERT(mount.size() >= 4096 || back == profile);
}

RC_GTEST_PROP(Profile, no_text_is_more_than_refused, (const std::string& noise)) {
  Profile profile = kGood;
  const std::string defect = parse_profile("tamis-profile 1\n" + noise, profile);
  RC_ASSERT(!defect.empty());
  RC_ASSERT(profile == kGood);
}

TEST(Profile, every_defect_is_named) {
  const std::string good = format_profile(kGood);
  EXPECT_EQ(defect_of(""), "its first line is not \"tamis-profile 1\"");
  EXPECT_EQ(defect_of(replaced(good, "profile 1", "profile 2")),
            "its first line is not \"tamis-profile 1\"");
  EXPECT_EQ(defect_of(replaced(good, "lock_ns 1200\n", "")), "lock_ns is missing");
  EXPECT_EQ(defect_of(replaced(good, "date 2026-11-21T15:04:05Z\n", "")), "date is missing");
  EXPECT_EQ(defect_of(good + "read_ns 500\n"), "read_ns stands there twice");
  EXPECT_EQ(defect_of(good + "nonsense\n"), "a line is not \"key value\"");
  EXPECT_EQ(defect_of(replaced(good, "/data", "/da%2")), "mount is malformed");
  EXPECT_EQ(defect_of(replaced(good, "/data", "")), "mount is malformed");
  for (const char* value : {"fast", "5e", "0x10", "1 2", ""})
    EXPECT_EQ(defect_of(replaced(good, "read_ns 500", std::string("read_ns ") + value)),
              "read_ns is not a number")
        << value;
}

TEST(Profile, figures_that_no_storage_has_are_refused) {
  const std::string good = format_profile(kGood);
  for (const char* value : {"0", "-5", "1e10", "nan", "inf", "-inf"})
    EXPECT_EQ(defect_of(replaced(good, "read_ns 500", std::string("read_ns ") + value)),
              "read_ns is not between 1 and 1e+09")
        << value;
  EXPECT_EQ(defect_of(replaced(good, "read_ns 500", "read_ns 1e999")), "read_ns is not a number");
  EXPECT_EQ(defect_of(replaced(good, "read_byte_ns 0.1", "read_byte_ns 0")),
            "read_byte_ns is not between 0.0001 and 100000");
}

TEST(Profile, lines_for_people_are_passed_over) {
  EXPECT_EQ(defect_of(format_profile(kGood) + "remark made by night\n"), "");
}

TEST(Profile, file_names_are_one_word_and_differ) {
  EXPECT_EQ(profile_file_name("/"), "%2F.profile");
  EXPECT_EQ(profile_file_name("/a b/c-d"), "%2Fa%20b%2Fc-d.profile");
  EXPECT_NE(profile_file_name("/a/b"), profile_file_name("/a%2Fb"));
}

const std::string kTable =
    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "22 21 0:20 / /data rw,noexec shared:2 master:1 - xfs /dev/vdb rw\n"
    "23 22 0:21 / /data/my\\040scratch rw - lustre 10.0.0.1@tcp:/work rw\n"
    "24 21 0:22 / /data rw - tmpfs tmpfs rw\n";

TEST(Mounts, the_longest_mount_point_counts_and_the_last_of_equals) {
  EXPECT_EQ(mount_in(kTable, "/home/x").type, "ext4");
  EXPECT_EQ(mount_in(kTable, "/data/x").type, "tmpfs");
  EXPECT_EQ(mount_in(kTable, "/data").type, "tmpfs");
  EXPECT_EQ(mount_in(kTable, "/database/x").point, "/");
  EXPECT_EQ(mount_in(kTable, "/data/my scratch/x").point, "/data/my scratch");
  EXPECT_EQ(mount_in(kTable, "/data/my scratch/x").type, "lustre");
  EXPECT_EQ(mount_in(kTable, "relative").point, "");
}

TEST(Mounts, options_are_those_of_the_mount) {
  const std::string lines = kTable.substr(0, kTable.find("23 22"));
  EXPECT_EQ(mount_in(lines, "/data/x").options, "rw,noexec");
}

RC_GTEST_PROP(Mounts, any_table_is_read, (const std::string& noise)) {
  const Mount mount = mount_in(noise + "\n" + kTable, "/home/x");
  RC_ASSERT(mount.point.starts_with("/") || mount.point.empty());
}

/// Sets a variable for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(ProfileDirectory, the_nearest_word_counts) {
  const Variable home("HOME", "/home/ann");
  const Variable settings("XDG_CONFIG_HOME", nullptr);
  const Variable own("TAMIS_PROFILES", nullptr);
  EXPECT_EQ(profile_directory(), "/home/ann/.config/tamis/profiles");
  {
    const Variable relative("XDG_CONFIG_HOME", "conf");
    EXPECT_EQ(profile_directory(), "/home/ann/.config/tamis/profiles");
  }
  const Variable elsewhere("XDG_CONFIG_HOME", "/conf");
  EXPECT_EQ(profile_directory(), "/conf/tamis/profiles");
  const Variable told("TAMIS_PROFILES", "/p");
  EXPECT_EQ(profile_directory(), "/p");
  const Variable off("TAMIS_PROFILES", "");
  EXPECT_EQ(profile_directory(), "");
}

TEST(ProfileDirectory, there_is_none_without_a_home) {
  const Variable home("HOME", nullptr);
  const Variable settings("XDG_CONFIG_HOME", nullptr);
  const Variable own("TAMIS_PROFILES", nullptr);
  EXPECT_EQ(profile_directory(), "");
}

class ProfileAtOpen : public ::testing::Test {
 protected:
  ProfileAtOpen() {
    const std::string real = std::filesystem::canonical(scratch_.file("."));
    mount_ = mount_of(real);
    profile_ = kGood;
    profile_.mount = mount_.point;
    profile_.filesystem = mount_.type;
    std::filesystem::create_directory(directory_);
  }
  void store(const std::string& text) const { std::ofstream(file_of_profile()) << text; }
  std::string file_of_profile() const { return directory_ + "/" + profile_file_name(mount_.point); }
  Capabilities opened() const {
    PosixStorage storage;
    const auto driver = open_or_fail(storage, scratch_.file("file"));
    return driver->capabilities();
  }
  std::string defect() const {
    return find_profile(directory_, std::filesystem::canonical(scratch_.file("."))).defect;
  }
  void expect_ignored(const std::string& why) const {
    EXPECT_EQ(opened().costs_source, "built-in");
    EXPECT_NE(opened().read_ns, kGood.read_ns);
    EXPECT_NE(defect().find(why), std::string::npos) << defect();
  }

  ScratchDirectory scratch_;
  std::string directory_ = scratch_.file("profiles");
  Variable where_{"TAMIS_PROFILES", directory_.c_str()};
  Mount mount_;
  Profile profile_;
};

TEST_F(ProfileAtOpen, its_costs_are_taken_and_their_source_is_said) {
  store(format_profile(profile_));
  const Capabilities costs = opened();
  EXPECT_EQ(costs.read_ns, 500);
  EXPECT_EQ(costs.write_ns, 2000.5);
  EXPECT_DOUBLE_EQ(costs.byte_ns, 0.2);
  EXPECT_EQ(costs.lock_ns, 1200);
  EXPECT_EQ(costs.costs_source, file_of_profile());
}

TEST_F(ProfileAtOpen, without_one_the_built_in_costs_stay) {
  EXPECT_EQ(opened().costs_source, "built-in");
  EXPECT_EQ(defect(), "");
}

TEST_F(ProfileAtOpen, it_is_looked_for_once_per_process_and_mount) {
  PosixStorage storage;
  EXPECT_EQ(open_or_fail(storage, scratch_.file("a"))->capabilities().costs_source, "built-in");
  store(format_profile(profile_));
  EXPECT_EQ(open_or_fail(storage, scratch_.file("b"))->capabilities().costs_source, "built-in");
}

TEST_F(ProfileAtOpen, a_broken_one_is_ignored_with_its_reason) {
  store("tamis-profile 1\nread_ns many\n");
  expect_ignored("read_ns is not a number");
}

TEST_F(ProfileAtOpen, one_for_another_mount_or_file_system_is_ignored) {
  Profile other = profile_;
  other.mount = "/elsewhere";
  store(format_profile(other));
  expect_ignored("it was made for /elsewhere");
  other = profile_;
  other.filesystem = "otherfs";
  store(format_profile(other));
  expect_ignored("it was made for otherfs");
}

TEST_F(ProfileAtOpen, what_is_no_regular_file_is_ignored_and_never_waited_for) {
  ASSERT_EQ(mkfifo(file_of_profile().c_str(), 0600), 0);
  expect_ignored("not a regular file");
  std::filesystem::remove(file_of_profile());
  std::filesystem::create_directory(file_of_profile());
  expect_ignored("not a regular file");
  std::filesystem::remove(file_of_profile());
  std::filesystem::create_symlink("/dev/zero", file_of_profile());
  expect_ignored("not a regular file");
  std::filesystem::remove(file_of_profile());
  std::filesystem::create_symlink("/nowhere/at/all", file_of_profile());
  expect_ignored("");
}

TEST_F(ProfileAtOpen, an_endless_one_is_ignored) {
  store(format_profile(profile_) + std::string(1 << 20, '\n'));
  expect_ignored("too long");
}

TEST_F(ProfileAtOpen, a_directory_that_is_a_file_is_ignored) {
  std::filesystem::remove(directory_);
  std::ofstream(directory_) << "x";
  EXPECT_EQ(opened().costs_source, "built-in");
}

}  // namespace
}  // namespace tamis::test
