#include <gtest/gtest.h>

#include "plan/window_method.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

Capabilities disk(double operation_ns = 1000, double byte_ns = 0.1) {
  Capabilities made;
  made.read_ns = operation_ns;
  made.write_ns = operation_ns;
  made.byte_ns = byte_ns;
  return made;
}

/// A window of a MiB with a piece of `block` bytes at every `stride`.
WindowShape every(std::int64_t stride, std::int64_t block) {
  const std::int64_t pieces = kMiB / stride;
  return {.bytes = pieces * block, .span = kMiB, .pieces = pieces, .holes = block < stride};
}

constexpr Direction kBoth[] = {Direction::read, Direction::write};

TEST(WindowMethod, moves_nothing_that_nobody_wants) {
  for (const Direction direction : kBoth)
    EXPECT_EQ(choose_window_method({}, {.direction = direction}, disk()), Method::nothing);
}

TEST(WindowMethod, without_holes_is_whole_whatever_hints_say) {
  for (const Direction direction : kBoth)
    for (const Switch sieving : {Switch::automatic, Switch::enable, Switch::disable})
      EXPECT_EQ(choose_window_method(every(64, 64), {direction, sieving}, disk()), Method::whole);
}

TEST(WindowMethod, with_holes_is_as_hints_say) {
  for (const Direction direction : kBoth)
    for (const std::int64_t stride : {64, 4096, 262144}) {
      const WindowShape shape = every(stride, stride / 2);
      EXPECT_EQ(choose_window_method(shape, {direction, Switch::enable}, disk()), Method::sieve);
      EXPECT_EQ(choose_window_method(shape, {direction, Switch::disable}, disk()), Method::list);
    }
}

// As in figure 5 of Coloma et al. 2006: the distance between pieces decides.
TEST(WindowMethod, goes_from_sieving_to_lists_once_as_pieces_get_farther_apart) {
  for (const Direction direction : kBoth)
    for (const std::int64_t percent : {3, 25, 50, 90}) {
      int turns = 0;
      Method last = Method::sieve;
      for (std::int64_t stride = 64; stride <= kMiB / 2; stride *= 2) {
        const WindowShape shape = every(stride, std::max<std::int64_t>(1, stride * percent / 100));
        const Method method = choose_window_method(shape, {.direction = direction}, disk());
        turns += method != last ? 1 : 0;
        last = method;
      }
      EXPECT_EQ(turns, 1) << percent;
      EXPECT_EQ(last, Method::list) << percent;
    }
}

TEST(WindowMethod, of_a_write_pays_for_holes_twice) {
  // 1000 pieces of half the window: a request each costs what reading or writing all of it does.
  const WindowShape shape{.bytes = kMiB / 2, .span = kMiB, .pieces = 150, .holes = true};
  const Capabilities storage = disk(1000, 0.1);
  EXPECT_EQ(choose_window_method(shape, {.direction = Direction::read}, storage), Method::sieve);
  EXPECT_EQ(choose_window_method(shape, {.direction = Direction::write}, storage), Method::list);
}

TEST(WindowMethod, lists_of_readers_go_on_side_by_side) {
  const WindowShape shape{.bytes = kMiB / 2, .span = kMiB, .pieces = 150, .holes = true};
  const WindowTerms one{.direction = Direction::read, .hands = 1, .servers = 1};
  const WindowTerms four{.direction = Direction::read, .hands = 4, .servers = 1};
  EXPECT_EQ(choose_window_method(shape, one, disk()), Method::sieve);
  EXPECT_EQ(choose_window_method(shape, four, disk()), Method::list);
}

TEST(WindowMethod, counts_a_request_for_every_stretch_of_a_realm) {
  WindowShape shape = every(4096, 2048);
  const WindowTerms terms{.direction = Direction::write};
  const double in_one = window_costs(shape, terms, disk()).sieve_ns;
  shape.blocks = 256;
  EXPECT_NEAR(window_costs(shape, terms, disk()).sieve_ns, in_one + 255 * 2000, 1);
}

TEST(WindowTerms, are_the_hints_and_what_the_strategy_forbids) {
  const auto sieving = [](Direction direction, const Hints& hints,
                          const char* piecewise = nullptr) {
    const Circumstances c{.hints = hints, .storage = disk(), .aggregators = {}};
    Strategy strategy;
    strategy.piecewise = piecewise;
    return window_terms(direction, c, strategy).sieving;
  };
  for (const Direction direction : kBoth) {
    Hints hints;
    EXPECT_EQ(sieving(direction, hints), Switch::automatic);
    EXPECT_EQ(sieving(direction, hints, "a reason"), Switch::disable);
    hints.tamis_method = Method::gather;
    EXPECT_EQ(sieving(direction, hints), Switch::automatic);
    hints.tamis_method = Method::list;
    EXPECT_EQ(sieving(direction, hints), Switch::disable);
    hints.tamis_method = Method::sieve;
    EXPECT_EQ(sieving(direction, hints), Switch::enable);
    EXPECT_EQ(sieving(direction, hints, "a reason"), Switch::disable);
  }
  Hints hints;
  hints.romio_ds_write = Switch::disable;
  hints.romio_ds_read = Switch::enable;
  EXPECT_EQ(sieving(Direction::write, hints), Switch::disable);
  EXPECT_EQ(sieving(Direction::read, hints), Switch::enable);
}

}  // namespace
}  // namespace tamis
