#pragma once

#include "drivers/driver.hpp"
#include "engine/account.hpp"
#include "engine/scratch.hpp"
#include "plan/access.hpp"
#include "plan/cost.hpp"

namespace tamis {

/// Everything a rank needs to move its own bytes: a collective in a group of one.
struct Means {
  Driver& driver;
  Scratch& scratch;
  const Hints& hints;
  const Capabilities& storage;  ///< as the plan knows it
  bool locked = false;          ///< the caller holds a lock over the whole access already
  Account account = {};
};

/// Moves an access's bytes without other ranks, by the given method. Outcome::bytes counts the
/// leading bytes of the access that were moved. Throws std::bad_alloc where a buffer is refused.
/// REQUIRES: for Method::sieve the view is ordered.
Outcome move_alone(const Access& access, Method method, const Means& means);

}  // namespace tamis
