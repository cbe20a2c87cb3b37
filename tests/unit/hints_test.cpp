#include "plan/hints.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "file/hint_sources.hpp"

namespace tamis {
namespace {

const HintText* find(const std::vector<HintText>& texts, std::string_view key) {
  for (const HintText& text : texts) {
    if (text.key == key) return &text;
  }
  return nullptr;
}

std::string value_of(const std::vector<HintText>& texts, std::string_view key) {
  const HintText* found = find(texts, key);
  return found == nullptr ? "(none)" : found->value;
}

Hints applied(std::vector<HintText> texts) {
  Hints hints;
  EXPECT_TRUE(apply_hints(texts, hints).empty());
  return hints;
}

/// An environment variable set while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A site file with these lines, named by ROMIO_HINTS while this lives.
class SiteFile {
 public:
  explicit SiteFile(const std::string& lines)
      : path_(std::filesystem::temp_directory_path() /
              ("tamis-hints-test." + std::to_string(::getpid()))),
        variable_("ROMIO_HINTS", path_.string()) {
    std::ofstream(path_) << lines;
  }
  ~SiteFile() { std::filesystem::remove(path_); }
  SiteFile(const SiteFile&) = delete;
  SiteFile& operator=(const SiteFile&) = delete;

 private:
  std::filesystem::path path_;
  Variable variable_;
};

TEST(Hints, defaults_of_the_table_are_the_defaults_of_the_struct) {
  const Hints defaults;
  for (const HintEntry& entry : hint_table()) {
    EXPECT_EQ(entry.print(defaults), entry.default_value) << entry.key;
  }
}

TEST(Hints, every_line_of_the_table_says_what_it_is) {
  for (const HintEntry& entry : hint_table()) {
    EXPECT_FALSE(entry.range.empty()) << entry.key;
    EXPECT_TRUE(entry.sentence.ends_with('.')) << entry.key;
  }
}

TEST(Hints, later_texts_win) {
  const Hints hints = applied({{"cb_nodes", "3"}, {"cb_nodes", "5"}});
  EXPECT_EQ(hints.cb_nodes, 5);
}

TEST(Hints, values_of_every_kind_are_taken_over) {
  const Hints hints = applied({{"cb_buffer_size", "4m"},
                               {"romio_cb_write", "disable"},
                               {"romio_no_indep_rw", "true"},
                               {"cb_config_list", "node1:2,node2:*"},
                               {"tamis_realm_sizes", "1k,5,2M"},
                               {"tamis_pretend_nodes", "3"}});
  EXPECT_EQ(hints.cb_buffer_size, 4 << 20);
  EXPECT_EQ(hints.romio_cb_write, Switch::disable);
  EXPECT_TRUE(hints.romio_no_indep_rw);
  EXPECT_EQ(hints.cb_config_list, "node1:2,node2:*");
  EXPECT_EQ(hints.tamis_realm_sizes, (std::vector<std::int64_t>{1024, 5, 2 << 20}));
  EXPECT_EQ(hints.tamis_pretend_nodes, 3);
}

TEST(Hints, unknown_hints_change_nothing_and_are_named) {
  Hints hints;
  const std::vector<HintText> texts = {{"romio_magic", "1"}};
  const std::vector<IgnoredHint> ignored = apply_hints(texts, hints);
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_EQ(ignored[0].hint.key, "romio_magic");
  EXPECT_EQ(ignored[0].reason, "unknown");
  EXPECT_EQ(hints, Hints{});
}

TEST(Hints, the_driver_is_said_by_the_library_only) {
  Hints hints;
  const std::vector<HintText> texts = {{"filesystem_type", "lustre"}};
  EXPECT_EQ(apply_hints(texts, hints).size(), 1U);
  EXPECT_EQ(hints.filesystem_type, "");
}

struct BadValue {
  const char* key;
  const char* value;
};
class MalformedHint : public testing::TestWithParam<BadValue> {};

TEST_P(MalformedHint, changes_nothing_and_says_what_is_wanted) {
  Hints hints;
  const std::vector<HintText> texts = {{GetParam().key, GetParam().value}};
  const std::vector<IgnoredHint> ignored = apply_hints(texts, hints);
  ASSERT_EQ(ignored.size(), 1U) << GetParam().key << '=' << GetParam().value;
  EXPECT_TRUE(ignored[0].reason.starts_with("malformed: wants ")) << ignored[0].reason;
  EXPECT_EQ(hints, Hints{});
}

INSTANTIATE_TEST_SUITE_P(
    Values, MalformedHint,
    testing::Values(BadValue{"cb_buffer_size", ""}, BadValue{"cb_buffer_size", "k"},
                    BadValue{"cb_buffer_size", "0"}, BadValue{"cb_buffer_size", "-1"},
                    BadValue{"cb_buffer_size", "4 M"}, BadValue{"cb_buffer_size", "0x10"},
                    BadValue{"cb_buffer_size", "1025G"},
                    BadValue{"cb_buffer_size", "9223372036854775807k"},
                    BadValue{"cb_buffer_size", "99999999999999999999"}, BadValue{"cb_nodes", "-2"},
                    BadValue{"cb_nodes", "2.5"}, BadValue{"cb_nodes", "4294967297"},
                    BadValue{"romio_cb_read", "Enable"}, BadValue{"romio_cb_read", "true"},
                    BadValue{"romio_no_indep_rw", "enable"}, BadValue{"cb_config_list", ""},
                    BadValue{"cb_config_list", "a,,b"}, BadValue{"cb_config_list", "a:x"},
                    BadValue{"cb_config_list", ":1"}, BadValue{"cb_config_list", "*:0"},
                    BadValue{"cb_config_list", "a:0,b:0"}, BadValue{"cb_config_list", "n*:1"},
                    BadValue{"tamis_realm_sizes", "0"}, BadValue{"tamis_realm_sizes", "4M,"},
                    BadValue{"tamis_realm_sizes", ",4M"}, BadValue{"tamis_realm_sizes", "4M,x"},
                    BadValue{"tamis_realms", "given"}, BadValue{"tamis_pretend_nodes", "1025"},
                    BadValue{"tamis_method", "nothing"}, BadValue{"tamis_method", "Sieve"}));

Hints any_hints() {
  Hints hints;
  hints.cb_buffer_size = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40);
  hints.cb_nodes = *rc::gen::inRange(0, 1 << 24);
  hints.cb_config_list = *rc::gen::element<std::string>("*:*", "a", "a:0,b:*,*:7");
  hints.romio_cb_read = *rc::gen::element(Switch::automatic, Switch::enable, Switch::disable);
  hints.romio_ds_write = *rc::gen::element(Switch::automatic, Switch::enable, Switch::disable);
  hints.tamis_method = *rc::gen::element<std::optional<Method>>(std::nullopt, Method::direct,
                                                                Method::list, Method::sieve);
  hints.tamis_realm_sizes = *rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40));
  hints.romio_no_indep_rw = *rc::gen::arbitrary<bool>();
  hints.striping_unit = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  hints.filesystem_type = *rc::gen::arbitrary<std::string>();
  return hints;
}

RC_GTEST_PROP(Hints, the_wire_form_keeps_everything, ()) {
  const Hints sent = any_hints();
  Hints received;
  RC_ASSERT(decode(encode(sent), received));
  RC_ASSERT(received == sent);
}

RC_GTEST_PROP(Hints, what_get_info_shows_can_be_given_back, ()) {
  Hints given = any_hints();
  given.filesystem_type.clear();
  Hints taken;
  RC_ASSERT(apply_hints(to_texts(given), taken).empty());
  RC_ASSERT(taken == given);
}

RC_GTEST_PROP(Hints, a_cut_wire_form_is_refused, ()) {
  const std::string whole = encode(any_hints());
  const auto length = *rc::gen::inRange<std::size_t>(0, whole.size());
  Hints hints;
  RC_ASSERT_FALSE(decode(std::string_view(whole).substr(0, length), hints));
  RC_ASSERT_FALSE(decode(whole + "x", hints));
  RC_ASSERT(hints == Hints{});
}

RC_GTEST_PROP(Hints, a_changed_byte_never_yields_an_impossible_value, ()) {
  std::string text = encode(any_hints());
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  Hints hints;
  if (!decode(text, hints)) return;
  RC_ASSERT(hints.cb_buffer_size >= 1);
  RC_ASSERT(hints.cb_nodes >= 0);
}

TEST(HintLines, keys_and_values_are_split_at_blanks_and_comments_are_dropped) {
  const std::vector<HintText> hints =
      parse_hint_lines("# site\n\ncb_nodes 4\n  romio_ds_write\tdisable  # slow here\r\n");
  ASSERT_EQ(hints.size(), 2U);
  EXPECT_EQ(value_of(hints, "cb_nodes"), "4");
  EXPECT_EQ(value_of(hints, "romio_ds_write"), "disable");
}

TEST(HintLines, a_line_without_one_value_is_a_defect_and_the_rest_is_kept) {
  const std::vector<HintText> hints = parse_hint_lines("cb_nodes\nstriping_unit 1 2\ncb_nodes 4");
  ASSERT_EQ(hints.size(), 3U);
  EXPECT_FALSE(hints[0].defect.empty());
  EXPECT_FALSE(hints[1].defect.empty());
  EXPECT_TRUE(hints[2].defect.empty());
}

TEST(PatternHints, several_patterns_with_several_hints_each) {
  const std::vector<PatternHints> patterns =
      parse_pattern_hints("*.h5:cb_nodes=4:romio_cb_read=enable,/scratch/*:striping_unit=1M");
  ASSERT_EQ(patterns.size(), 2U);
  EXPECT_EQ(patterns[0].glob, "*.h5");
  EXPECT_EQ(value_of(patterns[0].hints, "cb_nodes"), "4");
  EXPECT_EQ(value_of(patterns[0].hints, "romio_cb_read"), "enable");
  EXPECT_EQ(patterns[1].glob, "/scratch/*");
  EXPECT_EQ(value_of(patterns[1].hints, "striping_unit"), "1M");
}

TEST(PatternHints, a_backslash_keeps_separators_in_values) {
  const std::vector<PatternHints> patterns =
      parse_pattern_hints("*:cb_config_list=a\\:2\\,b\\:1:cb_nodes=3");
  ASSERT_EQ(patterns.size(), 1U);
  EXPECT_EQ(value_of(patterns[0].hints, "cb_config_list"), "a:2,b:1");
  EXPECT_EQ(value_of(patterns[0].hints, "cb_nodes"), "3");
}

TEST(PatternHints, malformed_parts_are_defects_and_the_rest_is_kept) {
  const std::vector<PatternHints> patterns = parse_pattern_hints("*.h5,*:cb_nodes:=3:cb_nodes=2,,");
  ASSERT_EQ(patterns.size(), 2U);
  EXPECT_FALSE(patterns[0].hints.at(0).defect.empty());
  EXPECT_FALSE(patterns[1].hints.at(0).defect.empty());
  EXPECT_FALSE(patterns[1].hints.at(1).defect.empty());
  EXPECT_EQ(patterns[1].hints.at(2).value, "2");
}

TEST(PatternHints, a_pattern_fits_the_given_name_or_its_last_component) {
  EXPECT_TRUE(glob_matches("*.h5", "out.h5"));
  EXPECT_TRUE(glob_matches("out.*", "/scratch/run/out.h5"));
  EXPECT_TRUE(glob_matches("/scratch/*", "/scratch/run/out.h5"));
  EXPECT_TRUE(glob_matches("out.h5", "ufs:out.h5"));
  EXPECT_TRUE(glob_matches("out.h5", "ufs:/scratch/out.h5"));
  EXPECT_TRUE(glob_matches("ufs\\:*", "ufs:out.h5"));
  EXPECT_FALSE(glob_matches("*.h5", "out.nc"));
  EXPECT_FALSE(glob_matches("run", "/scratch/run/out.h5"));
}

TEST(HintSources, the_site_is_weaker_than_the_program_and_the_program_than_the_user) {
  const SiteFile site("cb_nodes 1\nstriping_factor 1\nstriping_unit 1\n");
  const Variable user("TAMIS_HINTS", "*.h5:cb_nodes=3");
  const std::vector<HintText> info = {{"cb_nodes", "2"}, {"striping_factor", "2"}};
  const Hints hints = applied(hint_texts("out.h5", info));
  EXPECT_EQ(hints.cb_nodes, 3);
  EXPECT_EQ(hints.striping_factor, 2);
  EXPECT_EQ(hints.striping_unit, 1);
}

TEST(HintSources, every_text_says_who_said_it) {
  const SiteFile site("cb_nodes 1\n");
  const Variable user("TAMIS_HINTS", "*.h5:striping_unit=3:oops");
  const std::vector<HintText> info = {{"striping_factor", "2"}};
  const std::vector<HintText> texts = hint_texts("out.h5", info);
  ASSERT_EQ(texts.size(), 4U);
  EXPECT_EQ(find(texts, "cb_nodes")->source, "ROMIO_HINTS");
  EXPECT_EQ(find(texts, "striping_factor")->source, "info");
  EXPECT_EQ(find(texts, "striping_unit")->source, "TAMIS_HINTS");
  EXPECT_EQ(find(texts, "oops")->source, "TAMIS_HINTS");
}

TEST(HintSources, a_change_on_an_open_file_does_not_bring_the_site_back) {
  const SiteFile site("cb_nodes 1\n");
  const Variable user("TAMIS_HINTS", "*:striping_unit=3");
  const std::vector<HintText> info = {{"striping_factor", "2"}};
  const std::vector<HintText> texts = changed_hint_texts("out.h5", info);
  EXPECT_EQ(find(texts, "cb_nodes"), nullptr);
  EXPECT_EQ(value_of(texts, "striping_factor"), "2");
  EXPECT_EQ(value_of(texts, "striping_unit"), "3");
}

TEST(HintSources, a_pattern_for_other_files_gives_nothing_but_its_defects) {
  const SiteFile site("");
  const Variable user("TAMIS_HINTS", "*.nc:cb_nodes=3:oops");
  const std::vector<HintText> texts = hint_texts("out.h5", {});
  EXPECT_EQ(find(texts, "cb_nodes"), nullptr);
  Hints hints;
  const std::vector<IgnoredHint> ignored = apply_hints(texts, hints);
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_EQ(ignored[0].hint.key, "oops");
}

TEST(HintSources, a_named_site_file_that_cannot_be_read_is_said) {
  const Variable site("ROMIO_HINTS", "/nowhere/at/all");
  Hints hints;
  const std::vector<IgnoredHint> ignored = apply_hints(hint_texts("out.h5", {}), hints);
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_EQ(ignored[0].hint.value, "/nowhere/at/all");
  EXPECT_EQ(ignored[0].reason, "the hint file cannot be read");
}

}  // namespace
}  // namespace tamis
