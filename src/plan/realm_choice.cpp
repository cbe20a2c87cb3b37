#include "plan/realm_choice.hpp"

#include <algorithm>
#include <limits>

namespace tamis {
namespace {

// The largest realm may have so many times its equal share of the bytes before realms are balanced.
constexpr double kLopsided = 1.5;

bool is_lopsided(const FileRealms& realms, const Spread& wanted) {
  if (wanted.empty() || realms.count() <= 1) return false;
  return balance_of(realms, wanted).most_by_share(realms.count()) > kLopsided;
}

/// Blocks that are dealt out in turn: as large as a window, but whole stripes.
std::int64_t turn_block(const Circumstances& c, std::int64_t at_least) {
  const std::int64_t alignment = alignment_of(c).bytes;
  const std::int64_t bytes =
      std::max({at_least, c.hints.romio_min_fdomain_size, c.window_bytes, std::int64_t{1}});
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

std::optional<RealmKind> wished_realms(const Hints& hints) {
  if (hints.tamis_write_behind > 0) return RealmKind::persistent;
  if (!hints.tamis_realms && hints.romio_cb_pfr == Switch::enable) return RealmKind::persistent;
  return hints.tamis_realms;
}

Alignment alignment_of(const Circumstances& c) {
  if (c.hints.romio_cb_fr_alignment > 0)
    return {c.hints.romio_cb_fr_alignment, "by the hint romio_cb_fr_alignment"};
  Alignment alignment{c.storage.block_bytes, "blocks of the storage"};
  if (c.storage.stripe_bytes >= alignment.bytes && c.storage.stripe_bytes > 1)
    alignment = {c.storage.stripe_bytes, "stripes of the storage"};
  if (c.hints.striping_unit > alignment.bytes)
    alignment = {c.hints.striping_unit, "stripes, by the hint striping_unit"};
  return alignment.bytes > 1 ? alignment : Alignment{1, "nobody wants more"};
}

Balance balance_of(const FileRealms& realms, const Spread& wanted) {
  Balance balance{std::numeric_limits<std::int64_t>::max(), 0, wanted.total()};
  for (int i = 0; i < realms.count(); ++i) {
    const std::int64_t bytes = wanted.within(realms.layout(i));
    balance.least = std::min(balance.least, bytes);
    balance.most = std::max(balance.most, bytes);
  }
  return balance;
}

FileRealms realms_of(const Survey& survey, const Circumstances& c, int count) {
  const Extent region = survey.region();
  if (c.given != nullptr) return FileRealms::given(region, c.given->layouts);
  const std::int64_t alignment = alignment_of(c).bytes;
  const FileRealms even =
      FileRealms::even(region, count, alignment, c.hints.romio_min_fdomain_size);
  const std::optional<RealmKind> wished = wished_realms(c.hints);
  switch (wished.value_or(RealmKind::balanced)) {
    case RealmKind::even:
      return even;
    case RealmKind::cyclic:
      return FileRealms::cyclic(region, count, turn_block(c, 1));
    case RealmKind::persistent:
      return FileRealms::cyclic(
          region, count, c.persistent_block > 0 ? c.persistent_block : turn_block(c, even.block()),
          RealmKind::persistent);
    default:
      if (survey.spread.empty() || (!wished && !is_lopsided(even, survey.spread))) return even;
      return FileRealms::balanced(region, count, alignment, survey.spread);
  }
}

}  // namespace tamis
