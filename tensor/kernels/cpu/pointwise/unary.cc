#include "tensor/ops/unary.h"

#include <algorithm>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/compare.h"

namespace weft::kernels::cpu {
namespace {

struct Negated {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrapping_sub(T(0), x);
  }
};
struct Absolute {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < 0 ? wrapping_sub(T(0), x) : x;
  }
};
struct SignOf {
  template <class T>
  T operator()(T x) const {
    const T above = x > T(0) ? T(1) : T(0), below = x < T(0) ? T(1) : T(0);
    return x == x ? static_cast<T>(above - below) : x;
  }
};
struct Squared {
  template <class T>
  T operator()(T x) const {
    return wrapping_mul(x, x);
  }
};
struct Positive {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
template <class T>
struct Limited {
  T low, high;
  T operator()(T x) const {
    const T above = x < low ? low : x;
    return above > high ? high : above;
  }
};
// A bound beyond an integer type does not wrap.
template <class T>
T bound(const Scalar& value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        std::clamp<int64_t>(value.to_int(), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  else
    return scalar_as<T>(value);
}
template <class T>
bool is_nan(T x) {
  return x != x;
}
template <class T>
bool is_finite(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x) <= std::numeric_limits<T>::max();
  else
    return true;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Neg, number(Negated{}, x, out))
WEFT_UNARY_KERNEL(Abs, number(Absolute{}, x, out))
WEFT_UNARY_KERNEL(Sign, number(SignOf{}, x, out))
WEFT_UNARY_KERNEL(Square, number(Squared{}, x, out))
WEFT_UNARY_KERNEL(Relu, number(Positive{}, x, out))
WEFT_UNARY_KERNEL(Sqrt, floating(
                            kCheapGrain, [](auto v) { return std::sqrt(v); }, x, out))
WEFT_UNARY_KERNEL(Rsqrt, floating(
                             kCheapGrain, [](auto v) { return 1 / std::sqrt(v); }, x, out))
WEFT_UNARY_KERNEL(Reciprocal, floating(
                                  kCheapGrain, [](auto v) { return 1 / v; }, x, out))
WEFT_UNARY_KERNEL(LogicalNot, predicate([](auto v) { return v == decltype(v)(0); }, x, out))
WEFT_UNARY_KERNEL(IsNan, predicate([](auto v) { return is_nan(v); }, x, out))
WEFT_UNARY_KERNEL(IsFinite, predicate([](auto v) { return is_finite(v); }, x, out))

void op::Clip::cpu(const Operand& x, const Operand& out) const {
  visit_number(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    using Limits = std::numeric_limits<C>;
    Limited<C> f{Limits::lowest(), Limits::max()};
    if constexpr (Limits::has_infinity) f = {-Limits::infinity(), Limits::infinity()};
    if (min) f.low = bound<C>(*min);
    if (max) f.high = bound<C>(*max);
    elementwise<T, T>(kCheapGrain, f, out, x);
  });
}

}  // namespace weft
