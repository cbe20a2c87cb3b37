// Says as JSON what Tamis would decide for an access that nobody makes: for `tamis explain`.
//
//   tamis-explain pattern=TEXT [memory=TEXT] [direction=write|read] [alone=1] [ranks=N] [nodes=N]
//                 [cores=N] [locks=0] [atomic=1] [filesystem=NAME] [profile=FILE]
//                 [costs=read_ns=N,...] [file=NAME] [hint=KEY=VALUE ...] [realm=TEXT ...]
//
// The decision and its words are the library's own. Exit code 2: what was asked makes no sense; the
// reason is on stderr.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/posix/built_in_costs.hpp"
#include "drivers/posix/profile.hpp"
#include "file/hint_sources.hpp"
#include "patterns.hpp"
#include "plan/explain.hpp"
#include "plan/realm_choice.hpp"

namespace {

using tamis::patterns::Unfit;
using Json = nlohmann::ordered_json;

constexpr int kMostRanks = 1 << 17;

struct Request {
  std::string pattern;
  std::string memory = "contiguous";
  tamis::Direction direction = tamis::Direction::write;
  bool alone = false;
  bool locks = true;
  bool atomic = false;
  int ranks = 8;
  int nodes = 1;
  int cores = 0;  ///< per node; 0: one for each rank
  std::optional<std::string> filesystem;
  std::string profile;
  std::string costs;
  std::optional<std::string> file;
  std::vector<tamis::HintText> hints;
  std::vector<tamis::Layout> realms;  ///< as tamis_file_set_realms takes them
};

// ---- arguments ---------------------------------------------------------------------------------

struct Assignment {
  std::string_view key;
  std::string_view value;
};

Assignment assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) throw Unfit(fmt::format("{} is not key=value", word));
  return {word.substr(0, equals), word.substr(equals + 1)};
}

int number(const Assignment& word, int least, int most) {
  int value = 0;
  const char* end = word.value.data() + word.value.size();
  const auto [stop, error] = std::from_chars(word.value.data(), end, value);
  if (error != std::errc{} || stop != end || value < least || value > most)
    throw Unfit(fmt::format("{}={}: wants {} to {}", word.key, word.value, least, most));
  return value;
}

void apply(const Assignment& word, Request& request) {
  const auto& [key, value] = word;
  if (key == "pattern") {
    request.pattern = value;
  } else if (key == "memory") {
    request.memory = value;
  } else if (key == "direction") {
    request.direction = value == "read" ? tamis::Direction::read : tamis::Direction::write;
  } else if (key == "alone") {
    request.alone = number(word, 0, 1) == 1;
  } else if (key == "locks") {
    request.locks = number(word, 0, 1) == 1;
  } else if (key == "atomic") {
    request.atomic = number(word, 0, 1) == 1;
  } else if (key == "ranks") {
    request.ranks = number(word, 1, kMostRanks);
  } else if (key == "nodes") {
    request.nodes = number(word, 1, kMostRanks);
  } else if (key == "cores") {
    request.cores = number(word, 1, kMostRanks);
  } else if (key == "filesystem") {
    request.filesystem = value;
  } else if (key == "profile") {
    request.profile = value;
  } else if (key == "costs") {
    request.costs = value;
  } else if (key == "file") {
    request.file = value;
  } else if (key == "hint") {
    const Assignment hint = assignment(value);
    request.hints.push_back({std::string(hint.key), std::string(hint.value), {}, "command line"});
  } else if (key == "realm") {
    request.realms.push_back(tamis::patterns::realm_layout(value));
  } else {
    throw Unfit(fmt::format("{} is no option", key));
  }
}

Request parse(std::span<char*> words) {
  Request request;
  for (const char* word : words) apply(assignment(word), request);
  if (request.nodes > request.ranks) throw Unfit("there cannot be more nodes than ranks");
  if (request.realms.size() > static_cast<std::size_t>(request.ranks))
    throw Unfit("there cannot be more realms than ranks");
  for (const tamis::Layout& realm : request.realms)
    if (const tamis::Status wrong = check_realm(realm); !wrong.ok()) throw Unfit(wrong.note);
  if (request.atomic && !request.locks) throw Unfit("atomic mode needs byte-range locks");
  return request;
}

// ---- what the plan is made from ----------------------------------------------------------------

tamis::Hints hints_of(const Request& request, std::vector<tamis::IgnoredHint>& ignored) {
  tamis::Hints hints;
  if (request.file) ignored = apply_hints(tamis::hint_texts(*request.file, {}), hints);
  for (const tamis::IgnoredHint& wrong : apply_hints(request.hints, hints))
    throw Unfit(fmt::format("hint {}={}: {}", wrong.hint.key, wrong.hint.value, wrong.reason));
  hints.filesystem_type = "posix";
  return hints;
}

void read_profile(const std::string& name, tamis::Capabilities& storage) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw Unfit(fmt::format("the profile {} cannot be read", name));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  tamis::Profile profile;
  const std::string defect = parse_profile(text, profile);
  if (!defect.empty()) throw Unfit(fmt::format("the profile {}: {}", name, defect));
  storage.read_ns = profile.read_ns;
  storage.write_ns = profile.write_ns;
  storage.byte_ns = profile.byte_ns();
  storage.lock_ns = profile.lock_ns;
  storage.costs_source = "profile " + name;
}

/// As the posix driver finds them where nothing was measured.
void set_built_in_costs(const Request& request, tamis::Capabilities& storage) {
  const std::string filesystem = request.filesystem.value_or("ext4");
  const tamis::FileSystemCosts* const costs = tamis::built_in_costs(filesystem);
  if (costs == nullptr) {
    std::string names;
    for (const tamis::FileSystemName& one : tamis::file_system_names())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    throw Unfit(fmt::format("no costs of \"{}\" are built in, only of: {}", filesystem, names));
  }
  storage.read_ns = costs->read_ns;
  storage.write_ns = costs->write_ns;
  storage.byte_ns = costs->byte_ns;
  storage.lock_ns = costs->lock_ns;
  storage.costs_source =
      fmt::format("built in for {}{}", filesystem, request.filesystem ? "" : "; see --filesystem");
}

void set_cost(const Assignment& word, tamis::Capabilities& storage) {
  constexpr double most = 1e10;
  double* const cost = word.key == "read_ns"    ? &storage.read_ns
                       : word.key == "write_ns" ? &storage.write_ns
                       : word.key == "byte_ns"  ? &storage.byte_ns
                       : word.key == "lock_ns"  ? &storage.lock_ns
                                                : nullptr;
  if (cost == nullptr)
    throw Unfit(fmt::format("costs: {} is none of read_ns, write_ns, byte_ns, lock_ns", word.key));
  const char* end = word.value.data() + word.value.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(word.value.data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0 && value <= most))
    throw Unfit(fmt::format("costs: {}={} is no time in nanoseconds", word.key, word.value));
  *cost = value;
}

tamis::Capabilities storage_of(const Request& request, const tamis::Hints& hints) {
  tamis::Capabilities storage{.name = "posix", .locks = request.locks};
  set_built_in_costs(request, storage);
  // As an open alone with the file finds it: the right to rewrite is a lock, or the user's word.
  storage.may_rewrite = request.locks || hints.tamis_locks == tamis::Switch::disable;
  if (!request.profile.empty()) read_profile(request.profile, storage);
  std::string_view rest = request.costs;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    set_cost(assignment(rest.substr(0, length)), storage);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    storage.costs_source = "as given";
  }
  return storage;
}

tamis::Topology topology_of(const Request& request, const tamis::Hints& hints) {
  std::vector<std::int64_t> labels;
  for (std::int64_t rank = 0; rank < request.ranks; ++rank)
    labels.push_back(rank * request.nodes / request.ranks);
  const bool shared = hints.tamis_shared_memory != tamis::Switch::disable;
  tamis::Topology topology = tamis::Topology::from_labels(labels);
  for (int node = 0; node < topology.node_count(); ++node)
    topology.hosts.push_back(tamis::HostMark::of(fmt::format("node{}", node)));
  return topology.split(shared ? hints.tamis_pretend_nodes : request.ranks);
}

/// As File and Engine make them at open.
tamis::Circumstances circumstances_of(const Request& request, const tamis::Hints& hints) {
  const tamis::Topology topology = topology_of(request, hints);
  const int per_node = (request.ranks - 1) / request.nodes + 1;
  const int cores = request.cores > 0 ? request.cores : per_node;
  tamis::GivenRealmsPtr realms;
  if (!request.realms.empty())
    realms = std::make_shared<const tamis::GivenRealms>(tamis::GivenRealms::of(request.realms));
  realms = realms_in_force(realms, hints, request.ranks);
  const std::size_t realm_count = realms != nullptr ? realms->layouts.size() : 0;
  tamis::Circumstances plan{
      .hints = hints,
      .storage = storage_of(request, hints),
      .aggregators = choose_aggregators(topology, hints, cores, realm_count),
      .window_bytes = choose_window(hints, topology.node_count()),
      .ranks = request.ranks,
      .cores = cores,
      .given = realms,
  };
  plan.atomic = request.atomic;
  settle(plan, topology.node_count());
  return plan;
}

// ---- accesses ----------------------------------------------------------------------------------

/// One rank's access with the layouts it points to.
struct RankAccess {
  tamis::patterns::Share share;
  tamis::Layout memory;

  RankAccess(const Request& request, int rank)
      : share(tamis::patterns::file_share(request.pattern, rank, request.ranks)),
        memory(tamis::patterns::memory_layout(request.memory, share.bytes)) {}
  tamis::Access access(tamis::Direction direction) const {
    return {.direction = direction,
            .memory = &memory,
            .file = &share.layout,
            .bytes = share.bytes,
            .error = {}};
  }
};

struct Told {
  std::string text;
  Json decision;
};

Told explain_alone(const Request& request, int rank, const tamis::Circumstances& plan) {
  const RankAccess own(request, rank);
  const tamis::Shape shape = shape_of(own.access(request.direction));
  const tamis::Choice choice = choose_method(request.direction, shape, plan.hints, plan.storage);
  return {explain(request.direction, shape, choice, plan),
          {{"rank", rank},
           {"method", name(choice.method)},
           {"reason", choice.reason},
           {"cost_ns", choice.cost_ns},
           {"bytes", shape.bytes},
           {"span", shape.span},
           {"file_pieces", shape.file_blocks},
           {"memory_pieces", shape.memory_blocks}}};
}

Json balance_json(const tamis::FileRealms& realms, const tamis::Spread& wanted) {
  const tamis::Balance balance = balance_of(realms, wanted);
  return {{"least", balance.least},
          {"most", balance.most},
          {"times_equal_share", balance.total > 0 ? balance.most_by_share(realms.count()) : 0.0}};
}

/// Who has what, as far as it can be told where the wanted bytes are.
void add_realms(Json& json, const tamis::Survey& survey, const tamis::Circumstances& plan,
                const tamis::FileRealms& realms) {
  for (int i = 0; i < realms.count(); ++i) {
    const tamis::Extent realm = realms.span(i);
    json["realms"].push_back({{"rank", plan.aggregators[static_cast<std::size_t>(i)]},
                              {"offset", realm.offset},
                              {"bytes", realms.in_region(i).bytes},
                              {"wanted", survey.spread.within(realms.layout(i))}});
  }
  json["realm_kind"] = name(realms.kind());
  json["block_bytes"] = realms.block();
  const tamis::Alignment alignment = alignment_of(plan);
  json["alignment"] = {{"bytes", alignment.bytes}, {"source", alignment.source}};
  if (survey.spread.empty()) return;
  tamis::Circumstances even = plan;
  even.given = nullptr;
  even.hints.tamis_realms = tamis::RealmKind::even;
  json["wanted"] = balance_json(realms, survey.spread);
  json["wanted_if_even"] = balance_json(most_realms(survey, even), survey.spread);
}

Json strategy_json(const tamis::Survey& survey, const tamis::Circumstances& plan,
                   const tamis::Strategy& strategy) {
  constexpr const char* routes[] = {"nothing", "alone", "two_phase"};
  Json json = {{"route", routes[static_cast<std::size_t>(strategy.route)]},
               {"reason", strategy.reason},
               {"alone_ns", strategy.alone_ns},
               {"two_phase_ns", strategy.two_phase_ns},
               {"window_bytes", plan.window_bytes}};
  json["realms"] = Json::array();
  if (!strategy.error.ok()) json["error"] = strategy.error.to_string();
  if (strategy.route == tamis::Route::two_phase) add_realms(json, survey, plan, strategy.realms);
  return json;
}

Told explain_together(const Request& request, const tamis::Circumstances& plan) {
  tamis::Survey survey;
  int first_with_data = -1;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const RankAccess one(request, rank);
    const tamis::Access access = one.access(request.direction);
    survey.merge(survey_of(access, rank, tamis::News::view, plan.hints, plan.storage));
    if (first_with_data < 0 && one.share.bytes > 0) first_with_data = rank;
  }
  const tamis::Strategy strategy = decide(survey, plan);
  Told told{explain(survey, plan, strategy), strategy_json(survey, plan, strategy)};
  if (strategy.route != tamis::Route::alone) return told;
  Told own = explain_alone(request, first_with_data, plan);
  told.text += fmt::format("\nso rank {}, for one:\n{}", first_with_data, own.text);
  told.decision["own"] = std::move(own.decision);
  return told;
}

std::string assumptions(const tamis::Circumstances& plan) {
  const tamis::Capabilities& storage = plan.storage;
  return fmt::format(
      "assumed: {} rank{} on {} node{}, {} core{} each; storage {} locks{}\n"
      "  a read costs {:g} ns, a write {:g} ns, each byte {:g} ns more, a lock {:g} ns ({})",
      plan.ranks, plan.ranks == 1 ? "" : "s", plan.nodes, plan.nodes == 1 ? "" : "s", plan.cores,
      plan.cores == 1 ? "" : "s", storage.locks ? "with" : "without",
      plan.atomic ? "; atomic mode" : "", storage.read_ns, storage.write_ns, storage.byte_ns,
      storage.lock_ns, storage.costs_source);
}

int run(std::span<char*> words) {
  const Request request = parse(words);
  std::vector<tamis::IgnoredHint> ignored;
  const tamis::Hints hints = hints_of(request, ignored);
  const tamis::Circumstances plan = circumstances_of(request, hints);
  // A rank that is alone with its file never surveys.
  const bool together = !request.alone && request.ranks > 1;
  Told told = together ? explain_together(request, plan) : explain_alone(request, 0, plan);
  Json answer = {{"text", told.text + "\n" + assumptions(plan)},
                 {"collective", together},
                 {"direction", request.direction == tamis::Direction::write ? "write" : "read"},
                 {"decision", std::move(told.decision)}};
  Json& mistakes = answer["ignored"] = Json::array();
  for (const tamis::IgnoredHint& one : ignored)
    mistakes.push_back({{"key", one.hint.key}, {"value", one.hint.value}, {"reason", one.reason}});
  fmt::print("{}\n", answer.dump(1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, static_cast<std::size_t>(argc - 1)});
  } catch (const std::exception& defect) {
    fmt::print(stderr, "{}\n", defect.what());
    return 2;
  }
}
