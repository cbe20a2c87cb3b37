#include "scale_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "sim/world.hpp"

namespace tamis::scale {
namespace {

struct Account {
  std::int64_t now;
  std::int64_t most;
};
Account* accounts = nullptr;
int account_count = 0;

/// Stands before every block.
struct Head {
  std::int64_t bytes;
  std::int64_t rank;
};
constexpr std::size_t kUsual = alignof(std::max_align_t);
static_assert(sizeof(Head) <= kUsual);

void* take(std::size_t bytes, std::size_t alignment) {
  const std::size_t room = std::max(alignment, kUsual);
  auto* block =
      static_cast<std::byte*>(std::aligned_alloc(room, (bytes + 2 * room - 1) / room * room));
  if (block == nullptr) return nullptr;
  const int rank = sim::acting_rank();
  auto* const user = block + room;
  *reinterpret_cast<Head*>(user - sizeof(Head)) = {static_cast<std::int64_t>(bytes), rank};
  if (rank >= 0 && rank < account_count) {
    Account& account = accounts[rank];
    account.now += static_cast<std::int64_t>(bytes);
    account.most = std::max(account.most, account.now);
  }
  return user;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* memory = take(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void give_back(void* memory, std::size_t alignment) {
  if (memory == nullptr) return;
  auto* const user = static_cast<std::byte*>(memory);
  const Head head = *reinterpret_cast<Head*>(user - sizeof(Head));
  if (head.rank >= 0 && head.rank < account_count) accounts[head.rank].now -= head.bytes;
  std::free(user - std::max(alignment, kUsual));
}

}  // namespace

void count_memory(int ranks) {
  std::free(accounts);
  accounts = static_cast<Account*>(std::calloc(static_cast<std::size_t>(ranks), sizeof(Account)));
  account_count = accounts != nullptr ? ranks : 0;
}

std::int64_t held(int rank) { return accounts[rank].now; }
std::int64_t most_held(int rank) { return accounts[rank].most; }
void forget_peaks() {
  for (int rank = 0; rank < account_count; ++rank) accounts[rank].most = accounts[rank].now;
}

}  // namespace tamis::scale

// The program's own operator new, in the forms that are used.
namespace {

using tamis::scale::give_back;
using tamis::scale::kUsual;
using tamis::scale::take;
using tamis::scale::take_or_throw;
using Align = std::align_val_t;

std::size_t size_of(Align alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new[](std::size_t n) { return take_or_throw(n, kUsual); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, kUsual); }
void* operator new(std::size_t n, Align a) { return take_or_throw(n, size_of(a)); }
void* operator new[](std::size_t n, Align a) { return take_or_throw(n, size_of(a)); }
void operator delete(void* p) noexcept { give_back(p, kUsual); }
void operator delete[](void* p) noexcept { give_back(p, kUsual); }
void operator delete(void* p, std::size_t) noexcept { give_back(p, kUsual); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p, kUsual); }
void operator delete(void* p, Align a) noexcept { give_back(p, size_of(a)); }
void operator delete[](void* p, Align a) noexcept { give_back(p, size_of(a)); }
void operator delete(void* p, std::size_t, Align a) noexcept { give_back(p, size_of(a)); }
void operator delete[](void* p, std::size_t, Align a) noexcept { give_back(p, size_of(a)); }
