// Payload rates of the layout room's hot paths: gather, scatter and strided copies (copy_stream),
// and coverage. Rates are per second of this thread's processor time, so that a busy machine
// does not spoil them; the fastest of several rounds counts.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "layout/coverage.hpp"
#include "layout/pack.hpp"

namespace {

using tamis::Cursor;
using tamis::Dataloop;
using tamis::Layout;

constexpr int kRounds = 7;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Payload rate of `body`, which moves `bytes` per call.
double gigabytes_per_second(std::int64_t bytes, const std::function<void()>& body) {
  const std::int64_t calls = std::max<std::int64_t>(1, (std::int64_t{64} << 20) / bytes);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = thread_seconds();
    for (std::int64_t i = 0; i < calls; ++i) body();
    const double rate = static_cast<double>(bytes * calls) / (thread_seconds() - start) / 1e9;
    best = std::max(best, rate);
  }
  return best;
}

Layout strided(std::int64_t block, std::int64_t stride) {
  return {Dataloop::resized(0, stride, Dataloop::bytes(block)).value(), 0, Layout::kEndless};
}

/// Rows of a 3-D subarray: `runs` blocks at a stride, then a leap.
Layout planes(std::int64_t block, std::int64_t stride, std::int64_t runs) {
  const Dataloop row = Dataloop::vector(runs, 1, stride, Dataloop::bytes(block)).value();
  return {Dataloop::resized(0, runs * stride + 64, row).value(), 0, Layout::kEndless};
}

/// Blocks at irregular offsets, by an index list.
Layout scattered(std::int64_t block, std::int64_t stride, std::int64_t count) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride + i * 7 % 5);
  return {Dataloop::blockindexed(1, offsets, Dataloop::bytes(block)).value(), 0, 1};
}

/// The same blocks in random order, as memory may have them.
Layout shuffled(std::int64_t block, std::int64_t stride, std::int64_t count) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(1));
  return {Dataloop::blockindexed(1, offsets, Dataloop::bytes(block)).value(), 0, 1};
}

/// Part of the names of what is measured; all where it is empty.
std::string only;

void measure(const std::string& name, const Layout& layout, std::int64_t bytes) {
  if (name.find(only) == std::string::npos) return;
  const Layout plain = Layout::contiguous(Layout::kEndless);
  const std::int64_t end =
      layout.is_ordered() ? layout.offset_of(bytes - 1) + 1 : layout.loop.true_ub();
  std::vector<std::byte> far(static_cast<std::size_t>(end));
  std::vector<std::byte> far_too(far.size());
  std::vector<std::byte> near(static_cast<std::size_t>(bytes));
  const auto copy = [bytes](const Layout& to, std::vector<std::byte>& target, const Layout& from,
                            const std::vector<std::byte>& source) {
    return gigabytes_per_second(bytes, [&] {
      Cursor into(to);
      Cursor out_of(from);
      tamis::copy_stream(into, target.data(), out_of, source.data(), bytes);
    });
  };
  std::uint64_t sum = 0;
  const double covered = gigabytes_per_second(bytes, [&] {
    if (layout.is_ordered()) sum += tamis::cover(layout, 0, bytes).balance.value();
  });
  fmt::print("{:<34}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{}\n", name, copy(plain, near, layout, far),
             copy(layout, far, plain, near), copy(layout, far_too, layout, far), covered,
             sum == 1 ? " " : "");
}

}  // namespace

int main(int argc, char** argv) {
  only = argc > 1 ? argv[1] : "";
  for (const std::int64_t bytes : {std::int64_t{32} << 10, std::int64_t{1} << 20}) {
    fmt::print("payload of {} KiB, GB/s            gather  scatter  strided    cover\n",
               bytes >> 10);
    measure("contiguous", Layout::contiguous(bytes), bytes);
    for (const std::int64_t block : {1, 4, 8, 12, 16, 40, 64, 512, 4096})
      measure(fmt::format("{} B every {}", block, 2 * block), strided(block, 2 * block), bytes);
    measure("8 B every 32", strided(8, 32), bytes);
    measure("512 B every 4096", strided(512, 4096), bytes);
    measure("8 B every 16, 4 at a time", planes(8, 16, 4), bytes);
    measure("8 B every 16, 64 at a time", planes(8, 16, 64), bytes);
    measure("8 B about every 32, index list", scattered(8, 32, bytes / 8), bytes);
    measure("64 B about every 256, index list", scattered(64, 256, bytes / 64), bytes);
    measure("64 B every 72, shuffled", shuffled(64, 72, bytes / 64), bytes);
  }
}
