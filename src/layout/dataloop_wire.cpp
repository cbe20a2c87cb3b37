#include <map>
#include <utility>

#include "layout/loop_node.hpp"

// Wire form, all little-endian: version, flags (1: bounds set explicitly), then 64-bit words:
//   size, lb, ub, first, number of loops, the loops (children first; the last is the root).
// A loop: kind, count, then
//   vector        child, stride
//   blockindexed  child, offsets[count]
//   indexed       offsets[count], lengths[count]
//   structure     offsets[count], children[count]
// A child is a length > 0 (that many contiguous bytes), or -1 - i for loop number i. Shared
// subtrees are written once, so the text is proportional to the description too.
namespace tamis {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kResized = 1;
constexpr const char* kMalformed = "a malformed description of a datatype was received";

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  void byte(std::uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  void word(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
  }
  void words(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) word(value);
  }

 private:
  std::vector<std::byte>& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  std::uint8_t byte() {
    if (in_.empty()) return fail();
    const auto value = static_cast<std::uint8_t>(in_.front());
    in_ = in_.subspan(1);
    return value;
  }
  std::int64_t word() {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8) bits |= std::uint64_t{byte()} << shift;
    return static_cast<std::int64_t>(bits);
  }
  /// A count of things of at least 8 bytes each, so that memory is bounded by the input.
  std::size_t count() {
    const std::int64_t n = word();
    if (n >= 0 && static_cast<std::uint64_t>(n) <= in_.size() / 8)
      return static_cast<std::size_t>(n);
    return fail();
  }
  std::vector<std::int64_t> words(std::size_t n) {
    if (n > in_.size() / 8) n = fail();
    std::vector<std::int64_t> values(n);
    for (std::int64_t& value : values) value = word();
    return values;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }
  std::uint8_t fail() {
    ok_ = false;
    in_ = {};
    return 0;
  }

 private:
  std::span<const std::byte> in_;
  bool ok_ = true;
};

/// Nodes of a tree, children first, each once.
class Numbering {
 public:
  explicit Numbering(const Dataloop::Node* root) { visit(root); }

  const std::vector<const Dataloop::Node*>& nodes() const { return nodes_; }
  std::int64_t child(const Shape& shape) const {
    return shape.node ? -1 - numbers_.at(shape.node.get()) : shape.size;
  }

 private:
  void visit(const Dataloop::Node* node) {
    if (node == nullptr || numbers_.contains(node)) return;
    visit(node->child.get());
    for (const NodePtr& child : node->children) visit(child.get());
    numbers_[node] = static_cast<std::int64_t>(nodes_.size());
    nodes_.push_back(node);
  }

  std::map<const Dataloop::Node*, std::int64_t> numbers_;
  std::vector<const Dataloop::Node*> nodes_;
};

void write_node(const Dataloop::Node& node, const Numbering& numbering, Writer& out) {
  const auto count = static_cast<std::size_t>(node.count);
  out.word(static_cast<std::int64_t>(node.kind));
  out.word(node.count);
  if (node.kind == LoopKind::vector || node.kind == LoopKind::blockindexed)
    out.word(numbering.child(node.shape_at(0)));
  if (node.kind == LoopKind::vector) return out.word(node.stride);
  out.words(node.offsets);
  if (node.kind == LoopKind::blockindexed) return;
  for (std::size_t i = 0; i < count; ++i) out.word(numbering.child(node.shape_at(i)));
}

/// Reads loops through the makers of normal forms: they compute every derived value anew, so
/// nothing that was received is trusted but the description itself.
class TreeReader {
 public:
  explicit TreeReader(Reader& in) : in_(in) {}

  /// The last of `count` loops; contiguous bytes where there are none.
  Shape tree(std::size_t count, std::int64_t size) {
    if (count == 0) return {nullptr, size};
    for (std::size_t i = 0; i < count && in_.ok() && math_.ok(); ++i) {
      Placed loop = read_loop();
      if (loop.offset != 0 || loop.shape.node == nullptr) (void)in_.fail();
      loops_.push_back(std::move(loop.shape));
    }
    if (!in_.ok() || !math_.ok()) return {};
    return loops_.back();
  }
  bool ok() const { return in_.ok() && math_.ok(); }

 private:
  Placed read_loop() {
    const std::int64_t kind = in_.word();
    if (kind == static_cast<std::int64_t>(LoopKind::vector)) {
      const std::int64_t count = in_.word();
      const Shape child = read_child();
      const std::int64_t stride = in_.word();
      if (count < 2 || !in_.ok()) return malformed();
      return {0, make_vector(count, stride, child, math_)};
    }
    const std::size_t count = in_.count();
    const bool equal = kind == static_cast<std::int64_t>(LoopKind::blockindexed);
    const Shape child = equal ? read_child() : Shape{};
    std::vector<std::int64_t> offsets = in_.words(count);
    if (count < 2 || !in_.ok()) return malformed();
    if (equal) return make_list(std::move(offsets), child, math_);
    if (kind == static_cast<std::int64_t>(LoopKind::indexed)) return read_runs(std::move(offsets));
    if (kind == static_cast<std::int64_t>(LoopKind::structure)) return read_parts(offsets);
    return malformed();
  }
  Placed read_runs(std::vector<std::int64_t> offsets) {
    std::vector<std::int64_t> lengths = in_.words(offsets.size());
    for (const std::int64_t length : lengths)
      if (length <= 0) return malformed();
    if (!in_.ok()) return malformed();
    return make_runs(std::move(offsets), std::move(lengths), math_);
  }
  Placed read_parts(const std::vector<std::int64_t>& offsets) {
    std::vector<Placed> parts;
    for (const std::int64_t offset : offsets) {
      parts.push_back({offset, read_child()});
      if (!in_.ok()) return malformed();
    }
    return make_structure(std::move(parts), math_);
  }
  Shape read_child() {
    const std::int64_t child = in_.word();
    if (child > 0) return {nullptr, child};
    const auto number = static_cast<std::uint64_t>(-1 - child);
    if (child < 0 && number < loops_.size()) return loops_[number];
    (void)in_.fail();
    return {};
  }
  Placed malformed() {
    (void)in_.fail();
    return {};
  }

  Reader& in_;
  Arithmetic math_;
  std::vector<Shape> loops_;
};

}  // namespace

void Dataloop::encode(std::vector<std::byte>& out) const {
  const Numbering numbering(root_.get());
  Writer writer(out);
  writer.byte(kVersion);
  writer.byte(resized_ ? kResized : 0);
  for (const std::int64_t value : {size_, lb_, ub_, first_}) writer.word(value);
  writer.word(static_cast<std::int64_t>(numbering.nodes().size()));
  for (const Node* node : numbering.nodes()) write_node(*node, numbering, writer);
}

Result<Dataloop> Dataloop::decode(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const std::uint8_t version = in.byte();
  const std::uint8_t flags = in.byte();
  if (version != kVersion || flags > kResized) return failure(Errc::arg, kMalformed);
  Dataloop loop;
  loop.resized_ = flags == kResized;
  for (std::int64_t* value : {&loop.size_, &loop.lb_, &loop.ub_, &loop.first_}) *value = in.word();
  const std::size_t count = in.count();
  TreeReader reader(in);
  Shape shape = reader.tree(count, loop.size_);
  if (!reader.ok() || !in.at_end() || shape.size != loop.size_ || shape.size < 0)
    return failure(Errc::arg, kMalformed);
  Arithmetic math;
  const LoopFacts facts = shape.facts();
  const std::int64_t low = math.add(loop.first_, facts.true_lb);
  const std::int64_t high = math.add(loop.first_, facts.true_ub);
  (void)math.sub(loop.ub_, loop.lb_);
  (void)math.sub(high, low);
  // Bounds that were not set are those of the data.
  const bool natural = low == loop.lb_ && high == loop.ub_;
  const bool at_origin = shape.size > 0 || loop.first_ == 0;
  if (!math.ok() || !at_origin || (!loop.resized_ && !natural))
    return failure(Errc::arg, kMalformed);
  loop.root_ = std::move(shape.node);
  return loop;
}

}  // namespace tamis
