#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "comm/comm.hpp"
#include "comm/frames.hpp"

namespace tamis {

/// What one operation is waiting for right now. The innermost suspended task of an operation
/// registers its condition here; whoever drives the operation asks `ready` and resumes.
struct Pending {
  bool (*ready)(void*) = [](void*) { return true; };
  void* state = nullptr;
  std::coroutine_handle<> resume;

  /// Nothing to wait for: the driver resumes `next` at once.
  void go_on(std::coroutine_handle<> next) {
    *this = {};
    resume = next;
  }
};

/// A computation over several ranks, written as straight-line code that suspends where it must wait
/// for others (co_await until(...)) and is stepped from outside. Lazy: starts at the first step.
/// A task is driven to its end or destroyed; destroying it mid-way abandons the operation.
template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> caller;
    Pending* pending = nullptr;

    // Frames come from take_frame: it has a reserve for a process without memory.
    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* frame) noexcept { give_frame_back(frame); }

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        if (self.promise().caller) self.promise().pending->go_on(self.promise().caller);
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    template <typename U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    void unhandled_exception() { failure = std::current_exception(); }
    std::exception_ptr failure;
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // Awaited by another task: runs as part of it, on the same Pending.
  bool await_ready() const noexcept { return false; }
  // Back to whoever drives, who goes on there: handing over directly would pile up stack frames
  // wherever the compiler does not turn the hand-over into a jump (below -O2, under sanitizers).
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    handle_.promise().caller = caller;
    handle_.promise().pending = caller.promise().pending;
    caller.promise().pending->go_on(handle_);
  }
  T await_resume() { return take(); }

  /// The value of a finished task. Rethrows what the body threw (std::bad_alloc only).
  T take() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return std::move(*handle_.promise().value);
  }
  Handle handle() const { return handle_; }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// Suspends the task until `condition()` holds. Whoever makes it hold rings this rank's doorbell
/// (or sends it a message).
template <typename Condition>
struct Until {
  Condition condition;

  bool await_ready() { return condition(); }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) {
    *self.promise().pending = {[](void* s) { return static_cast<Until*>(s)->condition(); }, this,
                               self};
  }
  void await_resume() const noexcept {}
};
template <typename Condition>
Until<Condition> until(Condition condition) {
  return {std::move(condition)};
}

/// One task being driven, step by step. `advance` never waits.
template <typename T>
class Driven {
 public:
  explicit Driven(Task<T> task) : task_(std::move(task)) {
    task_.handle().promise().pending = &pending_;
  }
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  /// Goes on as far as possible without waiting; true once the task is finished.
  bool advance() {
    if (task_.handle().done()) return true;
    if (!started_) {
      started_ = true;
      task_.handle().resume();
    }
    while (!task_.handle().done()) {
      if (!pending_.ready(pending_.state)) return false;
      pending_.resume.resume();
    }
    return true;
  }
  /// REQUIRES: advance() returned true.
  T take() { return task_.take(); }

 private:
  Task<T> task_;
  Pending pending_;
  bool started_ = false;
};

/// Drives a task to its end, giving the core away while there is nothing to do.
template <typename T>
T complete(Task<T> task, Comm& comm) {
  Driven<T> driven(std::move(task));
  for (;;) {
    const std::uint32_t seen = comm.doorbell_value();
    if (driven.advance()) return driven.take();
    comm.idle(seen);
  }
}

}  // namespace tamis
