#include "plan/window_method.hpp"

#include <algorithm>

namespace tamis {

WindowTerms window_terms(Direction direction, const Circumstances& c, const Strategy& strategy) {
  WindowTerms terms{direction, window_sieving(direction, c.hints), std::min(c.ranks, c.cores)};
  terms.servers = std::clamp(strategy.realms.count(), 1, terms.hands);
  if (strategy.piecewise != nullptr) terms.sieving = Switch::disable;
  return terms;
}

// Writes to one file take turns in the kernel, whoever makes them; reads and copying go on side by
// side.
WindowCosts window_costs(const WindowShape& shape, const WindowTerms& terms,
                         const Capabilities& storage) {
  const bool write = terms.direction == Direction::write;
  const auto bytes = static_cast<double>(shape.bytes);
  const auto pieces = static_cast<double>(shape.pieces);
  const double copying = (bytes * kCopyByteNs + pieces * kPieceNs) / terms.hands;
  const double passage = static_cast<double>(shape.blocks) * storage.operation_ns(terms.direction) +
                         static_cast<double>(shape.span) * storage.byte_ns;
  const double prefill = static_cast<double>(shape.blocks) * storage.read_ns +
                         static_cast<double>(shape.span) * storage.byte_ns;
  const double list = pieces * storage.operation_ns(terms.direction) + bytes * storage.byte_ns;
  if (write) return {prefill / terms.servers + passage + copying, list};
  return {passage / terms.servers + copying, list / terms.hands};
}

Method choose_window_method(const WindowShape& shape, const WindowTerms& terms,
                            const Capabilities& storage) {
  if (shape.bytes == 0) return Method::nothing;
  if (!shape.holes) return Method::whole;
  if (terms.sieving == Switch::disable) return Method::list;
  if (terms.sieving == Switch::enable) return Method::sieve;
  const WindowCosts costs = window_costs(shape, terms, storage);
  return costs.list_ns < costs.sieve_ns ? Method::list : Method::sieve;
}

}  // namespace tamis
