#include "sim/memory_failure.hpp"

#include <cstdlib>
#include <new>

#include "sim/world.hpp"

namespace tamis::sim {
namespace {

constexpr int kNobody = -2;

int victim = kNobody;
int until_failure = 0;
bool lasting = false;
int refusals = 0;

bool refuses() {
  if (victim == kNobody || acting_rank() != victim) return false;
  if (until_failure-- > 0) return false;
  if (until_failure < -1 && !lasting) return false;
  ++refusals;
  return true;
}

void* take(std::size_t bytes, std::size_t alignment) {
  if (refuses()) return nullptr;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* memory = take(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

MemoryFailure::MemoryFailure(int rank, int nth, bool for_good) {
  until_failure = nth;
  lasting = for_good;
  refusals = 0;
  victim = rank;
}
MemoryFailure::~MemoryFailure() { victim = kNobody; }
int MemoryFailure::refused() const { return refusals; }

}  // namespace tamis::sim

// The program's own operator new, in all forms. Threads that are no simulated rank are never
// refused.
namespace {

using tamis::sim::take;
using tamis::sim::take_or_throw;

constexpr std::size_t kUsual = alignof(std::max_align_t);
std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new[](std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new(std::size_t n, std::align_val_t a) { return take_or_throw(n, bytes_of(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return take_or_throw(n, bytes_of(a)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
