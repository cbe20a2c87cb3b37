#include "plan/realms_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/explain.hpp"
#include "plan/realm_choice.hpp"

namespace tamis {
namespace {

constexpr int kMostShown = 8;

// From here on what another cut would give is told, too.
constexpr double kWorthTelling = 1.5;

using Lines = std::vector<std::string>;

std::string dealt_out(const FileRealms& realms, const Circumstances& c) {
  switch (realms.kind()) {
    case RealmKind::even:
      return "this part of the file cut evenly among them";
    case RealmKind::balanced:
      return "this part of the file cut so that each has about as many wanted bytes";
    case RealmKind::cyclic:
      return fmt::format("blocks of {} of the file dealt out to them in turn",
                         bytes_text(realms.block()));
    case RealmKind::persistent:
      return fmt::format(
          "blocks of {} of the file dealt out to them in turn, the same until it is closed",
          bytes_text(realms.block()));
    case RealmKind::given:
      break;
  }
  return fmt::format("the file dealt out to them by {}",
                     c.given->by_call ? "tamis_file_set_realms" : "the hint tamis_realm_sizes");
}

/// "1 MiB of every 4 MiB from byte 0 on".
std::string turn_text(const Layout& realm) {
  if (realm.size() == 0) return "nothing";
  return fmt::format("{} of every {} from byte {} on", bytes_text(realm.loop.size()),
                     bytes_text(realm.loop.extent()), realm.offset_of(0));
}

/// Where each wanted byte is known and not simply all are wanted.
bool says_more(const Survey& survey) {
  return !survey.spread.empty() && survey.coverage.bytes != survey.region().length;
}

std::string realm_text(const Survey& survey, const FileRealms& realms, int index) {
  const Window part = realms.in_region(index);
  if (part.empty()) return "nothing";
  const Extent span = realms.span(index);
  std::string text = part.bytes < span.length
                         ? fmt::format("{} between bytes {} and {}", bytes_text(part.bytes),
                                       span.offset, span.end() - 1)
                         : fmt::format("{} from byte {} on", bytes_text(part.bytes), span.offset);
  if (says_more(survey))
    text +=
        fmt::format(", {} of it wanted", bytes_text(survey.spread.within(realms.layout(index))));
  return text;
}

std::string balance_text(const Balance& balance, int realms) {
  return fmt::format("from {} to {}, the most being {:.2f} times an equal share",
                     bytes_text(balance.least), bytes_text(balance.most),
                     balance.most_by_share(realms));
}

/// The same access with realms of another kind.
FileRealms other_realms(const Survey& survey, const Circumstances& c, RealmKind kind, int count) {
  Circumstances other = c;
  other.given = nullptr;
  other.hints.tamis_realms = kind;
  return realms_of(survey, other, count);
}

void add_balance(Lines& lines, const Survey& survey, const Circumstances& c,
                 const FileRealms& realms) {
  if (!says_more(survey) || realms.count() == 1) return;
  const Balance balance = balance_of(realms, survey.spread);
  if (balance.total == 0) return;
  lines.push_back("wanted of each: " + balance_text(balance, realms.count()));
  if (survey.spread.total() != survey.coverage.bytes)
    lines.push_back(fmt::format("  as far as ranks with much data told: {} of {}",
                                bytes_text(survey.spread.total()),
                                bytes_text(survey.coverage.bytes)));
  const bool balanced = realms.kind() == RealmKind::balanced;
  const RealmKind kind = balanced ? RealmKind::even : RealmKind::balanced;
  const FileRealms other = other_realms(survey, c, kind, static_cast<int>(c.aggregators.size()));
  const Balance others = balance_of(other, survey.spread);
  const double own_most = balance.most_by_share(realms.count());
  if (!balanced && (own_most < kWorthTelling || others.most_by_share(other.count()) >= own_most))
    return;
  lines.push_back(fmt::format("  {}: {}", balanced ? "cut evenly it would be" : "balanced realms",
                              balance_text(others, other.count())));
}

void add_alignment(Lines& lines, const Circumstances& c, const FileRealms& realms) {
  const Alignment alignment = alignment_of(c);
  if (realms.kind() == RealmKind::given || alignment.bytes == 1) return;
  if (cuts_the_access(realms.kind()) && realms.count() == 1) return;
  lines.push_back(
      fmt::format("borders at multiples of {}: {}", bytes_text(alignment.bytes), alignment.source));
}

}  // namespace

Lines realms_text(const Survey& survey, const Circumstances& c, const FileRealms& realms) {
  Lines lines;
  if (realms.count() == 1)
    lines.push_back("1 aggregator, for all of this part of the file (its realm):");
  else
    lines.push_back(fmt::format("{} aggregators, {} (\"{}\" realms):", realms.count(),
                                dealt_out(realms, c), name(realms.kind())));
  for (int i = 0; i < std::min(realms.count(), kMostShown); ++i)
    lines.push_back(fmt::format("  rank {}: {}", c.aggregators[static_cast<std::size_t>(i)],
                                realm_text(survey, realms, i)));
  if (realms.count() > kMostShown)
    lines.push_back(fmt::format("  and {} more", realms.count() - kMostShown));
  add_alignment(lines, c, realms);
  add_balance(lines, survey, c, realms);
  if (c.given == nullptr && !c.hints.tamis_realm_sizes.empty())
    lines.push_back(fmt::format("tamis_realm_sizes cannot be followed: {} sizes for {} ranks",
                                c.hints.tamis_realm_sizes.size(), c.ranks));
  return lines;
}

Lines refusal_text(const Circumstances& c, const Status& error) {
  Lines lines;
  std::string owners;
  const std::vector<Layout>& realms = c.given->layouts;
  for (std::size_t i = 0; i < realms.size(); ++i) {
    const std::string who = fmt::format("realm {} (rank {})", i, c.aggregators[i]);
    if (i < kMostShown) lines.push_back(fmt::format("{}: {}", who, turn_text(realms[i])));
    if (realms[i].position_of(error.offset + 1) > realms[i].position_of(error.offset))
      owners += (owners.empty() ? "" : " and ") + who;
  }
  if (realms.size() > kMostShown)
    lines.push_back(fmt::format("and {} more", realms.size() - kMostShown));
  lines.push_back(
      fmt::format("byte {} is held by {}", error.offset, owners.empty() ? "none of them" : owners));
  return lines;
}

}  // namespace tamis
