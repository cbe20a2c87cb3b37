#include "patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "base/checked.hpp"
#include "layout/dataloop_parse.hpp"

namespace tamis::patterns {
namespace {

constexpr const char* kTooLarge = "the pattern does not fit into 64-bit file offsets";
constexpr std::string_view kBlanks = " \t\n";
constexpr const char* kRealm = "realm";

std::int64_t times(std::int64_t a, std::int64_t b) {
  const auto product = checked_mul(a, b);
  if (!product) throw Unfit(kTooLarge);
  return *product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  const auto sum = checked_add(a, b);
  if (!sum) throw Unfit(kTooLarge);
  return *sum;
}

Dataloop built(Result<Dataloop> loop) {
  if (!loop.ok()) throw Unfit(loop.status().note);
  return std::move(*loop);
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(separators), text.size());
    if (length > 0) parts.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return parts;
}

/// "kind key=value ...", with what is no assignment (a dataloop's text) put together again.
class Words {
 public:
  explicit Words(std::string_view text) {
    const std::vector<std::string_view> words = parts_of(text, kBlanks);
    if (words.empty()) throw Unfit("a pattern is wanted, such as: contiguous bytes=4KiB");
    kind_ = words[0];
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      if (equals == std::string_view::npos)
        rest_.append(rest_.empty() ? "" : " ").append(words[i]);
      else if (!values_.emplace(words[i].substr(0, equals), words[i].substr(equals + 1)).second)
        throw Unfit(fmt::format("{} stands twice in the pattern", words[i].substr(0, equals)));
    }
  }

  std::string_view kind() const { return kind_; }
  bool has(std::string_view key) const { return values_.contains(key); }
  std::string_view text(std::string_view key) {
    known_.insert(key);
    const auto found = values_.find(key);
    if (found == values_.end()) throw Unfit(fmt::format("{} wants {}=...", kind_, key));
    return found->second;
  }
  std::int64_t number(std::string_view key) { return parse_size(text(key)); }
  std::int64_t number(std::string_view key, std::int64_t otherwise) {
    known_.insert(key);
    return has(key) ? number(key) : otherwise;
  }
  std::int64_t count(std::string_view key) { return positive(key, number(key)); }
  std::int64_t count(std::string_view key, std::int64_t otherwise) {
    return positive(key, number(key, otherwise));
  }
  /// What is no assignment.
  const std::string& rest() {
    takes_rest_ = true;
    return rest_;
  }
  /// Nothing was written that nobody has asked for.
  void all_used() const {
    for (const auto& [key, value] : values_)
      if (!known_.contains(key))
        throw Unfit(fmt::format("{} knows no {}=, only: {}", kind_, key, fmt::join(known_, ", ")));
    if (!takes_rest_ && !rest_.empty())
      throw Unfit(fmt::format("{}: \"{}\" is not key=value", kind_, rest_));
  }

 private:
  std::int64_t positive(std::string_view key, std::int64_t value) const {
    if (value < 1) throw Unfit(fmt::format("{}: {} must be at least 1", kind_, key));
    return value;
  }

  std::string_view kind_;
  std::map<std::string_view, std::string_view> values_;
  std::set<std::string_view> known_;
  std::string rest_;
  bool takes_rest_ = false;
};

std::vector<std::int64_t> numbers(std::string_view text, std::string_view separators) {
  std::vector<std::int64_t> result;
  for (const std::string_view part : parts_of(text, separators)) result.push_back(parse_size(part));
  return result;
}

// ---- shapes that are the same for all ranks ----------------------------------------------------

Dataloop strided(std::int64_t piece, std::int64_t stride) {
  return built(Dataloop::resized(0, stride, Dataloop::bytes(piece)));
}

Dataloop list(Words& words) {
  const std::vector<std::int64_t> offsets = numbers(words.text("offsets"), ",");
  std::vector<std::int64_t> lengths = numbers(words.text("lengths"), ",");
  if (lengths.size() == 1) lengths.resize(offsets.size(), lengths[0]);
  return built(Dataloop::indexed(lengths, offsets, Dataloop::bytes(1)));
}

Dataloop dataloop(Words& words) {
  if (words.rest().empty())
    throw Unfit("dataloop wants a text such as: vector(10, stride 16, contig(4))");
  return built(parse_dataloop(words.rest()));
}

/// Pieces of memory or of a realm, which `what` says.
Dataloop pieces(Words& words, const char* what) {
  if (words.kind() == "blocks") {
    const std::int64_t piece = words.count("piece");
    return strided(piece, words.number("stride"));
  }
  if (words.kind() == "list") return list(words);
  if (words.kind() == "dataloop") return dataloop(words);
  throw Unfit(fmt::format("there is no {} \"{}\", only: {}blocks, list, dataloop", what,
                          words.kind(), what == kRealm ? "" : "contiguous, "));
}

// ---- one rank's share ---------------------------------------------------------------------------

/// Where this rank's share begins, if each next rank's begins `apart` bytes further.
std::int64_t begin_of(Words& words, int rank, std::int64_t apart) {
  return plus(words.number("begin", 0), times(rank, words.number("rank_stride", apart)));
}

Share repeated(Dataloop loop, std::int64_t begin, std::int64_t copies) {
  const std::int64_t bytes = times(loop.size(), copies);
  return {{std::move(loop), begin, copies}, bytes};
}

Share contiguous(Words& words, int rank, int /*ranks*/) {
  const std::int64_t bytes = words.count("bytes");
  return {Layout::contiguous(bytes, begin_of(words, rank, bytes)), bytes};
}

Share blocks(Words& words, int rank, int /*ranks*/) {
  const std::int64_t piece = words.count("piece");
  const std::int64_t begin = begin_of(words, rank, piece);
  return repeated(strided(piece, words.number("stride")), begin, words.count("count"));
}

Share cyclic(Words& words, int rank, int ranks) {
  const std::int64_t piece = words.count("piece");
  const std::int64_t begin = plus(words.number("begin", 0), times(rank, piece));
  return {{strided(piece, times(ranks, piece)), begin, Layout::kEndless}, words.count("bytes")};
}

Share from_list(Words& words, int rank, int /*ranks*/) {
  Dataloop loop = list(words);
  const std::int64_t begin = begin_of(words, rank, loop.extent());
  return repeated(std::move(loop), begin, words.count("copies", 1));
}

Share from_dataloop(Words& words, int rank, int /*ranks*/) {
  Dataloop loop = dataloop(words);
  const std::int64_t copies = words.count("copies", 1);
  const std::int64_t begin = begin_of(words, rank, times(loop.extent(), copies));
  return repeated(std::move(loop), begin, copies);
}

/// A part of an array along each dimension, the slowest first.
struct Part {
  std::int64_t all = 0;
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

/// Rows of a subarray: the last dimension is contiguous in the file.
Share subarray(const std::vector<Part>& parts, std::int64_t elem, std::int64_t begin) {
  std::int64_t place = 0;
  std::int64_t row = elem;
  Dataloop loop = Dataloop::bytes(elem);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    place = plus(place, times(part->begin, row));
    loop = built(Dataloop::vector(part->length, 1, row, loop));
    row = times(row, part->all);
  }
  return repeated(std::move(loop), plus(begin, place), 1);
}

/// Blocks of an array as MPI_Type_create_darray cuts them: each of ceil(all / ranks), the last ones
/// shorter or empty.
Share block_array(Words& words, int rank, int ranks, int dimensions) {
  std::vector<std::int64_t> sizes = numbers(words.text("n"), "x");
  if (sizes.size() == 1) sizes.resize(static_cast<std::size_t>(dimensions), sizes[0]);
  if (sizes.size() != static_cast<std::size_t>(dimensions))
    throw Unfit(
        fmt::format("{}: n wants one size, or {} with x between them", words.kind(), dimensions));
  const std::vector<std::int64_t> grid = divide_ranks(ranks, dimensions);
  std::vector<Part> parts(sizes.size());
  std::int64_t rest = rank;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] < 1) throw Unfit(fmt::format("{}: n must be at least 1", words.kind()));
    const std::int64_t block = (sizes[d] - 1) / grid[d] + 1;
    const std::int64_t first = std::min(sizes[d], times(rest % grid[d], block));
    parts[d] = {sizes[d], first, std::min(block, sizes[d] - first)};
    rest /= grid[d];
  }
  return subarray(parts, words.count("elem"), words.number("begin", 0));
}

Share block2d(Words& words, int rank, int ranks) { return block_array(words, rank, ranks, 2); }
Share block3d(Words& words, int rank, int ranks) { return block_array(words, rank, ranks, 3); }

/// One tile of a wall of displays whose pictures overlap.
Share tile(Words& words, int rank, int ranks) {
  const std::vector<std::int64_t> grid = divide_ranks(ranks, 2);
  const std::int64_t columns = words.count("columns", grid[0]);
  const std::int64_t rows = words.count("rows", grid[1]);
  const std::int64_t width = words.count("width");
  const std::int64_t height = words.count("height");
  const std::int64_t elem = words.count("elem");
  const std::int64_t across = width - words.number("overlap_x", 0);
  const std::int64_t down = height - words.number("overlap_y", 0);
  const std::int64_t begin = words.number("begin", 0);
  if (across < 1 || down < 1) throw Unfit("tile: an overlap must be smaller than the tile");
  if (rank / columns >= rows) return {};
  const Part vertical{plus(times(rows - 1, down), height), times(rank / columns, down), height};
  const Part horizontal{plus(times(columns - 1, across), width), times(rank % columns, across),
                        width};
  return subarray({vertical, horizontal}, elem, begin);
}

struct Kind {
  std::string_view name;
  Share (*share)(Words& words, int rank, int ranks);
};
constexpr std::array kKinds = {
    Kind{"contiguous", contiguous}, Kind{"blocks", blocks},          Kind{"cyclic", cyclic},
    Kind{"block2d", block2d},       Kind{"block3d", block3d},        Kind{"tile", tile},
    Kind{"list", from_list},        Kind{"dataloop", from_dataloop},
};

}  // namespace

Share file_share(std::string_view pattern, int rank, int ranks) {
  Words words(pattern);
  const auto* kind = std::ranges::find(kKinds, words.kind(), &Kind::name);
  if (kind == kKinds.end()) {
    std::vector<std::string_view> names;
    for (const Kind& known : kKinds) names.push_back(known.name);
    throw Unfit(
        fmt::format("there is no pattern \"{}\", only: {}", words.kind(), fmt::join(names, ", ")));
  }
  Share share = kind->share(words, rank, ranks);
  words.all_used();
  const Layout& layout = share.layout;
  if (share.bytes == 0) return share;
  const std::int64_t copies = layout.repeat == Layout::kEndless ? 1 : layout.repeat;
  const std::int64_t last = plus(layout.displacement, times(layout.loop.extent(), copies - 1));
  if (std::min(layout.displacement, last) < -layout.loop.true_lb())
    throw Unfit("a piece lies before the beginning of the file");
  (void)plus(std::max(layout.displacement, last), layout.loop.true_ub());
  if (layout.offset_of(share.bytes - 1) == Layout::kEndless) throw Unfit(kTooLarge);
  return share;
}

Layout memory_layout(std::string_view pattern, std::int64_t bytes) {
  Words words(pattern);
  Dataloop loop =
      words.kind() == "contiguous" ? Dataloop::bytes(bytes) : pieces(words, "memory pattern");
  words.all_used();
  if (bytes == 0) return {};
  if (loop.size() == 0) throw Unfit("the memory pattern holds no bytes");
  const std::int64_t copies = (bytes - 1) / loop.size() + 1;
  (void)times(loop.extent(), copies);
  return {std::move(loop), 0, copies};
}

Layout realm_layout(std::string_view pattern) {
  Words words(pattern);
  Dataloop loop = pieces(words, kRealm);
  const std::int64_t begin = words.number("begin", 0);
  if (words.has("extent")) loop = built(Dataloop::resized(0, words.count("extent"), loop));
  words.all_used();
  return {std::move(loop), begin, Layout::kEndless};
}

std::int64_t parse_size(std::string_view text) {
  struct Suffix {
    std::string_view name;
    int shift;
  };
  constexpr std::array suffixes = {Suffix{"", 0}, Suffix{"k", 10}, Suffix{"m", 20}, Suffix{"g", 30},
                                   Suffix{"t", 40}};
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  std::string unit(stop, end);
  for (char& letter : unit)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  if (unit.size() > 1 && unit.ends_with("ib"))
    unit.resize(unit.size() - 2);
  else if (unit.ends_with("b"))
    unit.resize(unit.size() - 1);
  const auto* found = std::ranges::find(suffixes, unit, &Suffix::name);
  if (error != std::errc{} || found == suffixes.end())
    throw Unfit(fmt::format("\"{}\" is no number of bytes; 4096, 4k, 4KiB or 1M are", text));
  return times(value, std::int64_t{1} << found->shift);
}

std::vector<std::int64_t> divide_ranks(std::int64_t total, int dimensions) {
  if (dimensions == 1) return {total};
  std::vector<std::int64_t> best;
  for (std::int64_t least = 1; least * least <= total; ++least) {
    if (total % least != 0) continue;
    std::vector<std::int64_t> grid = divide_ranks(total / least, dimensions - 1);
    if (grid.back() < least) continue;
    grid.push_back(least);
    if (best.empty() || grid.front() - grid.back() < best.front() - best.back()) best = grid;
  }
  return best;
}

}  // namespace tamis::patterns
