#include "plan/given_realms.hpp"

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "layout/coverage.hpp"

namespace tamis {
namespace {

bool tile(std::span<const Layout> realms, const Extent& region) {
  Coverage all;
  for (const Layout& realm : realms) {
    const std::int64_t first = realm.position_of(region.offset);
    all.add(cover(realm, first, realm.position_of(region.end()) - first));
  }
  return all.tiles(region);
}

/// The first byte of the region that none or several of the realms hold. REQUIRES: there is one.
std::int64_t first_flaw(std::span<const Layout> realms, const Extent& region) {
  std::int64_t good = region.offset;  // the region up to here is tiled
  std::int64_t bad = region.end();    // and up to here it is not
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (tile(realms, between(region.offset, middle)) ? good : bad) = middle;
  }
  return good;
}

/// From where on all realms repeat themselves, and after how many bytes; nothing where they do not
/// have that in common.
struct Period {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};
std::optional<Period> common_period(std::span<const Layout> realms) {
  Period period;
  for (const Layout& realm : realms) {
    if (realm.size() == 0) continue;
    if (period.length != 0 && realm.loop.extent() != period.length) return std::nullopt;
    period.length = realm.loop.extent();
    period.begin = std::max(period.begin, realm.offset_of(0));
  }
  const auto end = checked_add(period.begin, period.length);
  return period.length > 0 && end ? std::optional(period) : std::nullopt;
}

/// Realm i has the i-th size of the file in turn, from byte zero on.
GivenRealms of_sizes(std::span<const std::int64_t> sizes) {
  GivenRealms realms{.layouts = {}, .by_call = false, .whole_file = true};
  std::int64_t turn = 0;
  for (const std::int64_t size : sizes) turn += size;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    const Result<Dataloop> loop = Dataloop::resized(0, turn, Dataloop::bytes(size));
    realms.layouts.push_back({*loop, begin, Layout::kEndless});
    begin += size;
  }
  return realms;
}

}  // namespace

GivenRealms GivenRealms::of(std::vector<Layout> layouts) {
  GivenRealms realms{.layouts = std::move(layouts), .by_call = true, .whole_file = false};
  // What is tiled before all repeat themselves, and once while they do, is tiled for ever.
  const std::optional<Period> period = common_period(realms.layouts);
  realms.whole_file = period && tile(realms.layouts, between(0, period->begin)) &&
                      tile(realms.layouts, {period->begin, period->length});
  return realms;
}

Status check_realm(const Layout& realm) {
  if (realm.loop.size() == 0) return {};
  const auto begin = checked_add(realm.displacement, realm.loop.true_lb());
  if (realm.displacement < 0 || !begin || *begin < 0)
    return failure(Errc::arg, "a realm begins before the file");
  if (!checked_add(realm.displacement, realm.loop.true_ub()))
    return failure(Errc::arg, "a realm leaves the range of 64-bit offsets");
  if (!realm.is_ordered())
    return failure(Errc::arg, "the filetype of a realm goes back and forth, or meets itself");
  return {};
}

Status check_realms(const GivenRealms& realms, const Extent& region) {
  if (realms.whole_file || tile(realms.layouts, region)) return {};
  Status status{.code = Errc::arg, .offset = first_flaw(realms.layouts, region)};
  int owners = 0;
  for (const Layout& realm : realms.layouts)
    if (realm.position_of(status.offset + 1) > realm.position_of(status.offset)) ++owners;
  status.note = owners == 0 ? "the realms given leave a byte of the access to nobody"
                            : "of the realms given, several hold the same byte of the access";
  return status;
}

GivenRealmsPtr realms_in_force(const GivenRealmsPtr& by_call, const Hints& hints, int ranks) {
  if (by_call != nullptr) return by_call;
  const std::vector<std::int64_t>& sizes = hints.tamis_realm_sizes;
  if (sizes.empty() || sizes.size() > static_cast<std::size_t>(ranks)) return nullptr;
  return std::make_shared<const GivenRealms>(of_sizes(sizes));
}

}  // namespace tamis
