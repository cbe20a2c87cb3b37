#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>

#include "comm/task.hpp"

namespace tamis {
namespace {

Task<int> answer(const bool& ready) {
  co_await until([&] { return ready; });
  co_return 42;
}

Task<std::string> twice(const bool& first, const bool& second, int& steps) {
  const int a = co_await answer(first);
  ++steps;
  const int b = co_await answer(second);
  ++steps;
  co_return std::to_string(a + b);
}

Task<int> throwing(const bool& ready) {
  co_await until([&] { return ready; });
  throw std::bad_alloc();
}

Task<int> above_throwing(const bool& ready) {
  const int value = co_await throwing(ready);
  co_return value + 1;
}

TEST(Task, does_nothing_before_the_first_step) {
  bool ready = true;
  int steps = 0;
  Driven<std::string> driven(twice(ready, ready, steps));
  EXPECT_EQ(steps, 0);
  EXPECT_TRUE(driven.advance());
  EXPECT_EQ(driven.take(), "84");
}

TEST(Task, goes_as_far_as_it_can_at_every_step) {
  bool first = false;
  bool second = false;
  int steps = 0;
  Driven<std::string> driven(twice(first, second, steps));
  EXPECT_FALSE(driven.advance());
  EXPECT_FALSE(driven.advance());
  EXPECT_EQ(steps, 0);
  first = true;
  EXPECT_FALSE(driven.advance());
  EXPECT_EQ(steps, 1);
  second = true;
  EXPECT_TRUE(driven.advance());
  EXPECT_TRUE(driven.advance());
  EXPECT_EQ(driven.take(), "84");
}

TEST(Task, exceptions_travel_to_whoever_takes_the_value) {
  bool ready = false;
  Driven<int> driven(above_throwing(ready));
  EXPECT_FALSE(driven.advance());
  ready = true;
  EXPECT_TRUE(driven.advance());
  EXPECT_THROW(driven.take(), std::bad_alloc);
}

Task<int> holding(std::shared_ptr<int> thing, const bool& ready) {
  const int value = co_await answer(ready);
  co_return value + *thing;
}

TEST(Task, destroyed_half_done_gives_back_what_it_holds) {
  const auto thing = std::make_shared<int>(1);
  bool ready = false;
  {
    Driven<int> driven(holding(thing, ready));
    EXPECT_FALSE(driven.advance());
    EXPECT_EQ(thing.use_count(), 2);
  }
  EXPECT_EQ(thing.use_count(), 1);
}

TEST(Task, never_begun_gives_back_what_it_holds) {
  const auto thing = std::make_shared<int>(1);
  bool ready = false;
  {
    const Task<int> task = holding(thing, ready);
    EXPECT_EQ(thing.use_count(), 2);
  }
  EXPECT_EQ(thing.use_count(), 1);
}

Task<std::unique_ptr<int>> boxed() { co_return std::make_unique<int>(7); }

TEST(Task, values_may_be_movable_only) {
  Driven<std::unique_ptr<int>> driven(boxed());
  ASSERT_TRUE(driven.advance());
  EXPECT_EQ(*driven.take(), 7);
}

}  // namespace
}  // namespace tamis
