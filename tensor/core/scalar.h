// Scalar: a C++ number passed to an op. It stores whether it is bool, an integer or floating, so that `i64 + 1` is i64.
#pragma once

#include <concepts>
#include <cstdint>

#include "tensor/core/dtype.h"

namespace weft {

class Scalar {
 public:
  template <std::integral T>
  constexpr Scalar(T value)
      : integer_(static_cast<int64_t>(value)),
        real_(static_cast<double>(value)),
        kind_(std::same_as<T, bool> ? DType::boolean : DType::i64) {}
  template <std::floating_point T> constexpr Scalar(T value) : real_(static_cast<double>(value)), kind_(DType::f64) {}

  constexpr bool is_floating() const { return kind_ == DType::f64; }
  constexpr double to_double() const { return real_; }
  /// The value as an integer. A floating value is truncated and clamped to the range of int64_t; NaN gives 0.
  constexpr int64_t to_int() const {
    if (!is_floating()) return integer_;
    if (!(real_ == real_)) return 0;
    if (real_ >= 9223372036854775807.0) return INT64_MAX;
    if (real_ <= -9223372036854775808.0) return INT64_MIN;
    return static_cast<int64_t>(real_);
  }
  /// f64, i64 or boolean: stands for the category of the number in promotion.
  constexpr DType kind() const { return kind_; }
  /// Whether it is an unsigned integer of 2^63 or more, whose to_int() is negative.
  constexpr bool exceeds_i64() const { return !is_floating() && integer_ < 0 && real_ > 0; }
  /// False if it is an integer outside of the range of the integer dtype `dtype`; true in all other cases.
  constexpr bool fits(DType dtype) const {
    if (is_floating() || !is_integer(dtype)) return true;
    if (exceeds_i64()) return false;
    if (dtype == DType::u8) return integer_ >= 0 && integer_ <= 255;
    const int spare = 64 - 8 * static_cast<int>(size_of(dtype));
    return integer_ >= INT64_MIN >> spare && integer_ <= INT64_MAX >> spare;
  }
  constexpr bool operator==(const Scalar&) const = default;

 private:
  int64_t integer_ = 0;
  double real_ = 0;
  DType kind_;
};

/// The dtype of a tensor of `dtype` combined with a scalar: the tensor's own unless the scalar's category is higher
/// (integer tensor and floating scalar give f32; bool tensor and integer scalar give i64).
constexpr DType promote_scalar(DType dtype, const Scalar& scalar) {
  if (scalar.is_floating()) return is_floating(dtype) ? dtype : DType::f32;
  if (scalar.kind() == DType::i64 && dtype == DType::boolean) return DType::i64;
  return dtype;
}

}  // namespace weft
