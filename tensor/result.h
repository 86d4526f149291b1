// attempt: weft's errors as values, for callers who do not want exceptions.
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "tensor/core/error.h"

namespace weft {

namespace detail {

/// A weft::Error of whatever kind, as it was thrown.
class CaughtError {
 public:
  CaughtError() = default;
  /// Of the exception that is being handled, which `error` refers to.
  explicit CaughtError(const Error& error) : thrown_(std::current_exception()), error_(&error) {}
  bool exists() const { return error_ != nullptr; }
  [[noreturn]] void rethrow() const { std::rethrow_exception(thrown_); }
  const Error& get() const {
    if (!exists()) throw Error("this result holds no error: it succeeded");
    return *error_;
  }

 private:
  std::exception_ptr thrown_;  // owns what error_ points to
  const Error* error_ = nullptr;
};

template <class E> CaughtError caught(E&& error) {
  try {
    throw std::forward<E>(error);
  } catch (const Error& thrown) {
    return CaughtError(thrown);
  }
}

}  // namespace detail

/// Either a T or the weft::Error that was thrown instead.
template <class T> class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  /// Any kind of error; its kind is kept.
  template <std::derived_from<Error> E> Result(E error) : error_(detail::caught(std::move(error))) {}
  Result(detail::CaughtError error) : error_(std::move(error)) {}
  explicit operator bool() const { return value_.has_value(); }
  /// The value; rethrows the error, with its original class, if there is none.
  const T& value() const& {
    if (!value_) error_.rethrow();
    return *value_;
  }
  T value() && {
    if (!value_) error_.rethrow();
    return std::move(*value_);
  }
  /// What went wrong; Error where there is a value.
  const Error& error() const { return error_.get(); }

 private:
  std::optional<T> value_;
  detail::CaughtError error_;
};

template <> class Result<void> {
 public:
  Result() = default;
  template <std::derived_from<Error> E> Result(E error) : error_(detail::caught(std::move(error))) {}
  Result(detail::CaughtError error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_.exists(); }
  void value() const {
    if (error_.exists()) error_.rethrow();
  }
  const Error& error() const { return error_.get(); }

 private:
  detail::CaughtError error_;
};

/// What `function` returns, or the weft::Error it throws. Other exceptions pass through: those of the caller's own
/// functions, and std::bad_alloc where the heap lacks a few bytes (the memory of tensors is a MemoryError).
template <class F> auto attempt(F&& function) -> Result<std::invoke_result_t<F>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      function();
      return {};
    } else {
      return std::forward<F>(function)();
    }
  } catch (const Error& error) {
    return detail::CaughtError(error);
  }
}

}  // namespace weft
