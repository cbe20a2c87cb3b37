#include "layout/dataloop_parse.hpp"

#include <charconv>
#include <cstdint>
#include <vector>

namespace tamis {
namespace {

/// Takes words off a text. After the first mismatch everything it is asked for is refused, and the
/// first complaint stays.
class Words {
 public:
  explicit Words(std::string_view rest) : rest_(rest) {}

  /// The word stands next: takes it.
  bool take(std::string_view word) {
    skip_blanks();
    if (defect_ != nullptr || !rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word, const char* complaint) {
    if (!take(word)) refuse(complaint);
  }
  std::int64_t number() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (defect_ != nullptr || error != std::errc{}) {
      refuse("a number is wanted in the dataloop (a text with ... was shortened)");
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  void refuse(const char* complaint) {
    if (defect_ == nullptr) defect_ = complaint;
  }
  const char* defect() const { return defect_; }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  std::string_view rest_;
  const char* defect_ = nullptr;
};

/// Dataloops and where they stand.
struct Entries {
  std::vector<Dataloop> loops;
  std::vector<std::int64_t> offsets;

  Result<Dataloop> joined() const {
    const std::vector<std::int64_t> once(loops.size(), 1);
    return Dataloop::structure(once, offsets, loops);
  }
};

Result<Dataloop> parse_loop(Words& words, int depth);

Result<Dataloop> refused(Words& words, const char* complaint) {
  words.refuse(complaint);
  return failure(Errc::arg, words.defect());
}

constexpr const char* kList = "a list such as [8 at 0, 4 at 16] is wanted in the dataloop";
constexpr const char* kClosing = "a closing ) or ] is missing in the dataloop";

/// "[0, 8, 24]" or, with `entry` taking what stands before "at", "[4 at 0, 8 at 16]"; checks that
/// there are `count` of them.
template <typename Entry>
void parse_list(Words& words, std::int64_t count, const Entry& entry) {
  words.expect("[", kList);
  std::int64_t met = 0;
  while (words.defect() == nullptr) {
    entry();
    ++met;
    if (!words.take(",")) break;
  }
  words.expect("]", kClosing);
  if (met != count) words.refuse("a list of the dataloop is not as long as it says");
}

Result<Dataloop> parse_vector(Words& words, int depth) {
  const std::int64_t count = words.number();
  words.expect(",", "vector(COUNT, stride BYTES, ...) is wanted in the dataloop");
  words.expect("stride", "vector(COUNT, stride BYTES, ...) is wanted in the dataloop");
  const std::int64_t stride = words.number();
  words.expect(",", "vector(COUNT, stride BYTES, ...) is wanted in the dataloop");
  const Result<Dataloop> child = parse_loop(words, depth);
  if (!child.ok()) return child.status();
  return Dataloop::vector(count, 1, stride, *child);
}

// Built as a structure of equal parts: it joins only what the normal form joins.
Result<Dataloop> parse_blockindexed(Words& words, int depth) {
  Entries entries;
  const std::int64_t count = words.number();
  words.expect(",", kList);
  words.expect("at", "blockindexed(COUNT, at [...], ...) is wanted in the dataloop");
  parse_list(words, count, [&] { entries.offsets.push_back(words.number()); });
  words.expect(",", "blockindexed(COUNT, at [...], ...) is wanted in the dataloop");
  const Result<Dataloop> child = parse_loop(words, depth);
  if (!child.ok()) return child.status();
  entries.loops.assign(entries.offsets.size(), *child);
  return entries.joined();
}

/// `part` takes a block's dataloop.
template <typename Part>
Result<Dataloop> parse_parts(Words& words, const Part& part) {
  Entries entries;
  const std::int64_t count = words.number();
  words.expect(",", kList);
  parse_list(words, count, [&] {
    Result<Dataloop> loop = part();
    words.expect("at", kList);
    entries.offsets.push_back(words.number());
    if (loop.ok()) entries.loops.push_back(std::move(*loop));
    if (!loop.ok()) words.refuse(loop.status().note);
  });
  if (words.defect() != nullptr) return failure(Errc::arg, words.defect());
  return entries.joined();
}

Result<Dataloop> parse_bytes(Words& words) {
  const std::int64_t bytes = words.number();
  if (bytes < 0) words.refuse("a negative number of bytes in the dataloop");
  if (words.defect() != nullptr) return failure(Errc::arg, words.defect());
  return Dataloop::bytes(bytes);
}

Result<Dataloop> parse_kind(Words& words, int depth) {
  if (words.take("contig(")) return parse_bytes(words);
  if (words.take("vector(")) return parse_vector(words, depth);
  if (words.take("blockindexed(")) return parse_blockindexed(words, depth);
  if (words.take("indexed(")) return parse_parts(words, [&] { return parse_bytes(words); });
  if (words.take("struct(")) return parse_parts(words, [&] { return parse_loop(words, depth); });
  return refused(words,
                 "contig(, vector(, blockindexed(, indexed( or struct( is wanted in the dataloop "
                 "(a text with ... was shortened)");
}

Result<Dataloop> parse_loop(Words& words, int depth) {
  if (depth >= kMaxLoopDepth) return refused(words, "the dataloop is nested too deeply");
  Result<Dataloop> loop = parse_kind(words, depth + 1);
  if (!loop.ok()) return loop;
  words.expect(")", kClosing);
  if (words.defect() != nullptr) return failure(Errc::arg, words.defect());
  return loop;
}

}  // namespace

Result<Dataloop> parse_dataloop(std::string_view text) {
  Words words(text);
  Result<Dataloop> loop = parse_loop(words, 0);
  if (loop.ok() && words.take("at")) {
    Entries moved;
    moved.loops.push_back(std::move(*loop));
    moved.offsets.push_back(words.number());
    loop = moved.joined();
  }
  if (loop.ok() && words.take("resized(")) {
    words.expect("lb", "resized(lb BYTES, extent BYTES) is wanted behind the dataloop");
    const std::int64_t lb = words.number();
    words.expect(",", "resized(lb BYTES, extent BYTES) is wanted behind the dataloop");
    words.expect("extent", "resized(lb BYTES, extent BYTES) is wanted behind the dataloop");
    const std::int64_t extent = words.number();
    words.expect(")", kClosing);
    loop = Dataloop::resized(lb, extent, *loop);
  }
  if (loop.ok() && !words.at_end()) words.refuse("the dataloop ends, but the text goes on");
  if (words.defect() != nullptr) return failure(Errc::arg, words.defect());
  return loop;
}

}  // namespace tamis
