// attempt: errors as values, for callers who do not want exceptions.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "tensor/error.h"

namespace weft {

/// A T, or the weft::Error that kept it from being made.
template <class T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return value_.has_value(); }
  /// The value; throws the error where there is none.
  const T& value() const& {
    if (!value_) throw *error_;
    return *value_;
  }
  T value() && {
    if (!value_) throw *error_;
    return std::move(*value_);
  }
  /// Only where there is no value.
  const Error& error() const { return *error_; }

 private:
  std::optional<T> value_;
  std::optional<Error> error_;
};

template <>
class Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_; }
  void value() const {
    if (error_) throw *error_;
  }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

/// What `function` returns, or the weft::Error it throws. Other exceptions pass through.
template <class F>
auto attempt(F&& function) -> Result<std::invoke_result_t<F>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      function();
      return {};
    } else {
      return std::forward<F>(function)();
    }
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace weft
