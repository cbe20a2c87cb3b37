#include <algorithm>

#include "sim/scenario.hpp"
#include "unit/layout_oracle.hpp"

namespace tamis::sim {
namespace {

/// Copies of a random type until about `bytes` bytes, none twice where `distinct`.
struct TwinMemory {
  Layout layout;
  Words map;
};
TwinMemory random_memory(std::mt19937_64& rng, std::int64_t bytes, bool distinct) {
  for (int tries = 0; tries < 20; ++tries) {
    const oracle::Twin type = oracle::random_type(rng, 3, 40, oracle::Kind::any);
    if (type.loop.size() == 0 || type.loop.extent() == 0) continue;
    if (distinct && type.loop.overlaps_itself()) continue;
    // Copies side by side or apart, so that they cannot overlap each other.
    const std::int64_t extent = type.loop.true_ub() - type.loop.true_lb() + oracle::draw(rng, 0, 9);
    const Result<Dataloop> apart = Dataloop::resized(type.loop.lb(), extent, type.loop);
    TwinMemory memory{{*apart, 0, std::max<std::int64_t>(1, bytes / type.loop.size())}, {}};
    std::int64_t lowest = 0;
    for (std::int64_t copy = 0; copy < memory.layout.repeat; ++copy)
      for (const std::int64_t byte : type.map.bytes) {
        memory.map.push_back(copy * extent + byte);
        lowest = std::min(lowest, memory.map.back());
      }
    // The buffer begins at its lowest byte.
    for (std::int64_t& byte : memory.map) byte -= lowest;
    memory.layout.displacement = -lowest;
    return memory;
  }
  TwinMemory flat{Layout::contiguous(bytes), {}};
  for (std::int64_t i = 0; i < bytes; ++i) flat.map.push_back(i);
  return flat;
}

}  // namespace

std::int64_t TwinView::offset_of(std::int64_t position) const {
  const auto size = static_cast<std::int64_t>(tile.size());
  return view.layout.displacement + position / size * extent +
         tile[static_cast<std::size_t>(position % size)];
}

std::vector<HintText> Scenario::random_hints() {
  const auto any_switch = [&] { return one_of<std::string>({"automatic", "enable", "disable"}); };
  std::vector<HintText> hints = {
      {"cb_buffer_size", std::to_string(one_of<int>({64, 300, 1024, 5000, 20000, 1 << 20}))},
      {"ind_rd_buffer_size", std::to_string(one_of<int>({16, 100, 1000, 65536}))},
      {"ind_wr_buffer_size", std::to_string(one_of<int>({16, 100, 1000, 65536}))},
      {"romio_cb_read", one_of<std::string>({"enable", any_switch()})},
      {"romio_cb_write", one_of<std::string>({"enable", any_switch()})},
      {"romio_ds_read", any_switch()},
      {"romio_ds_write", any_switch()},
      {"striping_unit", std::to_string(one_of<int>({0, 0, 64, 1000}))},
      {"romio_cb_fr_alignment", std::to_string(one_of<int>({0, 0, 100}))},
      {"tamis_realms",
       one_of<std::string>({"automatic", "even", "balanced", "cyclic", "persistent"})},
      {"romio_min_fdomain_size", std::to_string(one_of<int>({0, 0, 500}))},
      {"tamis_async", one_of<std::string>({"automatic", "disable", "enable", "enable"})}};
  hints.push_back({"tamis_method",
                   one_of<std::string>({"automatic", "automatic", "automatic", "list", "sieve"})});
  if (options_.clustered)
    for (const char* together : {"romio_cb_read", "romio_cb_write", "tamis_counters"})
      hints.push_back({together, "enable"});
  hints.push_back({"tamis_realm_sizes", one_of<std::string>({"", "", "", "100", "70,500,1k"})});
  if (chance(0.5)) hints.push_back({"cb_nodes", std::to_string(draw(1, world_->size()))});
  return hints;
}

std::vector<HintText> Scenario::random_open_hints() {
  std::vector<HintText> hints = random_hints();
  if (chance(0.3)) hints.push_back({"tamis_pretend_nodes", std::to_string(draw(2, 4))});
  if (chance(0.1)) hints.push_back({"tamis_shared_memory", "disable"});
  return hints;
}

FaultPlan Scenario::random_faults() {
  FaultPlan plan{.seed = static_cast<std::uint64_t>(draw(1, 1 << 30))};
  const Verb verb = chance(0.7) ? Verb::transfer
                                : one_of<Verb>({Verb::lock, Verb::unlock, Verb::resize,
                                                Verb::preallocate, Verb::sync, Verb::close});
  Fault fault{.verb = verb, .code = one_of<Errc>({Errc::io, Errc::no_space, Errc::quota})};
  fault.nth =
      chance(0.5) ? static_cast<std::uint64_t>(draw(1, verb == Verb::transfer ? 12 : 3)) : 0;
  fault.lasting = chance(0.5);
  fault.probability = fault.nth == 0 ? 0.15 : 0;
  fault.after_bytes = draw(0, 40);
  plan.faults.push_back(fault);
  return plan;
}

/// Per rank the wrong argument it comes with, mostly none.
std::vector<Status> Scenario::random_mistakes() {
  std::vector<Status> mistakes(static_cast<std::size_t>(world_->size()));
  if (!chance(options_.bad_call_chance / 2)) return mistakes;
  for (Status& mistake : mistakes)
    if (chance(0.3))
      mistake = failure(one_of<Errc>({Errc::arg, Errc::count, Errc::type}),
                        "simulated: a wrong argument");
  return mistakes;
}

/// Every byte of a random tile belongs to one rank or to none; ranks own it in pieces.
std::vector<TwinView> Scenario::disjoint_views() {
  const auto ranks = static_cast<std::size_t>(world_->size());
  std::vector<Words> lengths(ranks);
  std::vector<Words> starts(ranks);
  std::vector<TwinView> views(ranks);
  double holes = one_of<double>({0, 0, 0.3, 0.9});
  const std::int64_t longest = one_of<std::int64_t>({1, 8, 8, 100});
  const bool regular = chance(0.5);
  std::int64_t end = 0;
  const std::int64_t pieces =
      draw(1, options_.clustered ? 60 : 12) * static_cast<std::int64_t>(ranks);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    if (options_.clustered && chance(0.05)) holes = one_of<double>({0, 0, 0.3, 0.9, 1});
    const std::int64_t length = regular ? longest : draw(1, longest);
    const auto owner =
        regular ? static_cast<std::size_t>(piece) % ranks
                : static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(ranks) - 1));
    if (!chance(holes)) {
      starts[owner].push_back(end);
      lengths[owner].push_back(length);
      for (std::int64_t i = 0; i < length; ++i) views[owner].tile.push_back(end + i);
    }
    end += length;
  }
  const std::int64_t displacement = draw(0, 300);
  const std::int64_t extent = end + (chance(0.3) ? draw(0, 50) : 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Result<Dataloop> list =
        Dataloop::indexed(lengths[rank], starts[rank], Dataloop::bytes(1));
    const Result<Dataloop> tile = Dataloop::resized(0, extent, *list);
    views[rank].extent = extent;
    views[rank].view.layout = {*tile, displacement, Layout::kEndless};
  }
  return views;
}

/// A tile cut at random among at most as many realms as ranks, without end; none takes them back.
std::vector<Layout> Scenario::random_realms() {
  const auto count = static_cast<std::size_t>(draw(0, world_->size()));
  std::vector<Words> lengths(count);
  std::vector<Words> starts(count);
  std::int64_t end = 0;
  for (std::int64_t piece = count == 0 ? 0 : draw(1, 10); piece > 0; --piece) {
    const auto owner = static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(count) - 1));
    starts[owner].push_back(end);
    lengths[owner].push_back(draw(1, one_of<int>({9, 300})));
    end += lengths[owner].back();
  }
  std::vector<Layout> realms;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<Dataloop> list = Dataloop::indexed(lengths[i], starts[i], Dataloop::bytes(1));
    const Result<Dataloop> tile = Dataloop::resized(0, end, *list);
    // The same with twice the period.
    realms.push_back({*Dataloop::contig(draw(1, 2), *tile), 0, Layout::kEndless});
  }
  return realms;
}

/// For reads: any views, also such that go back and forth.
std::vector<TwinView> Scenario::free_views() {
  std::vector<TwinView> views(static_cast<std::size_t>(world_->size()));
  for (TwinView& view : views) {
    const auto kind = chance(0.8) ? oracle::Kind::ordered : oracle::Kind::any;
    oracle::Twin type = oracle::random_type(rng_, 3, 60, kind);
    if (type.loop.size() == 0) type = {Dataloop::bytes(1), {{0}, {}, {}}};
    view.extent = type.loop.true_ub() - type.loop.true_lb() + draw(0, 20);
    view.view.layout = {*Dataloop::resized(0, view.extent, type.loop),
                        draw(0, 200) - std::min<std::int64_t>(0, type.loop.true_lb()),
                        Layout::kEndless};
    view.tile = type.map.bytes;
  }
  return views;
}

TwinAccess Scenario::random_access(int rank, Direction direction) {
  const TwinView& view = views_[static_cast<std::size_t>(rank)];
  // A few bytes of a sparse tile would span megabytes, and windows of 64 bytes over them take
  // minutes under a sanitizer.
  constexpr std::int64_t kLongestSpan = 20'000;
  const auto tile_size = static_cast<std::int64_t>(view.tile.size());
  const std::int64_t most =
      std::max<std::int64_t>(1, kLongestSpan / view.extent) * std::max<std::int64_t>(1, tile_size);
  TwinAccess access;
  AccessRequest& request = access.request;
  request.direction = direction;
  request.memory = Layout::contiguous(0);
  if (!view.tile.empty() && !chance(0.1)) {
    TwinMemory memory = random_memory(rng_, draw(1, std::min<std::int64_t>(600, most)),
                                      direction == Direction::read);
    request.memory = memory.layout;
    access.memory = std::move(memory.map);
  }
  request.explicit_offset = chance(0.7);
  request.offset = draw(0, std::min<std::int64_t>(100, most));
  access.first =
      request.explicit_offset ? request.offset : files_[static_cast<std::size_t>(rank)]->position();
  std::int64_t room = 0;
  for (const std::int64_t byte : access.memory) room = std::max(room, byte + 1);
  access.buffer.resize(static_cast<std::size_t>(room));
  for (std::byte& byte : access.buffer) byte = static_cast<std::byte>(draw(0, 255));
  access.before = access.buffer;
  if (chance(options_.bad_call_chance / 3))
    request.error = failure(one_of<Errc>({Errc::count, Errc::buffer, Errc::type}),
                            "simulated: a wrong argument");
  return access;
}

}  // namespace tamis::sim
