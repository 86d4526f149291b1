// Number: a scalar argument of a kernel, in both readings, so that large integers stay exact.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/kernels/cpu/convert.h"

namespace weft::kernels::cpu {

struct Number {
  double real = 0;
  int64_t integer = 0;

  Number() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Number(T value) : real(static_cast<double>(value)), integer(convert<int64_t>(value)) {}

  /// The value as a T (integers wrap).
  template <class T>
  T as() const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return static_cast<T>(integer);
    else
      return convert<T>(real);
  }
};

}  // namespace weft::kernels::cpu
