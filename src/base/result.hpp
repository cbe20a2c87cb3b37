#pragma once

#include <cassert>
#include <utility>
#include <variant>

#include "base/status.hpp"

namespace tamis {

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status) : content_(status) { assert(!status.ok()); }  // NOLINT

  bool ok() const { return std::holds_alternative<T>(content_); }
  Status status() const { return ok() ? Status{} : std::get<Status>(content_); }

  /// REQUIRES: ok().
  T& value() & { return *std::get_if<T>(&content_); }
  const T& value() const& { return *std::get_if<T>(&content_); }
  T&& value() && { return std::move(*std::get_if<T>(&content_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::variant<T, Status> content_;
};

}  // namespace tamis
