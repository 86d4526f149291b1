#include "tensor/kernels/cpu/pointwise/unary.h"

#include <algorithm>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

namespace weft::kernels::cpu {
namespace {

template <class F>
void floating(int64_t grain, const F& f, const Operand& x, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { elementwise<T, T>(grain, f, out, x); });
}

template <class F>
void number(const F& f, const Operand& x, const Operand& out) {
  visit_number(x.dtype, [&]<class T>() { elementwise<T, T>(kCheapGrain, f, out, x); });
}

template <class F>
void predicate(const F& f, const Operand& x, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { elementwise<bool, T>(kCheapGrain, f, out, x); });
}

struct Negate {
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
struct Sign {
  template <class T>
  T operator()(T x) const {
    const T above = x > T(0) ? T(1) : T(0), below = x < T(0) ? T(1) : T(0);
    return x == x ? static_cast<T>(above - below) : x;
  }
};
struct Square {
  template <class T>
  T operator()(T x) const {
    return wrapping_mul(x, x);
  }
};
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
template <class T>
struct Clip {
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
template <class T>
bool is_inf(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  else
    return false;
}

}  // namespace

void neg(const Operand& x, const Operand& out) { number(Negate{}, x, out); }
void abs(const Operand& x, const Operand& out) { number(Absolute{}, x, out); }
void sign(const Operand& x, const Operand& out) { number(Sign{}, x, out); }
void square(const Operand& x, const Operand& out) { number(Square{}, x, out); }
void relu(const Operand& x, const Operand& out) { number(Relu{}, x, out); }

void clip(const Operand& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high, const Operand& out) {
  visit_number(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    using Limits = std::numeric_limits<C>;
    Clip<C> f{Limits::lowest(), Limits::max()};
    if constexpr (Limits::has_infinity) f = {-Limits::infinity(), Limits::infinity()};
    if (low) f.low = bound<C>(*low);
    if (high) f.high = bound<C>(*high);
    elementwise<T, T>(kCheapGrain, f, out, x);
  });
}

void sqrt(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return std::sqrt(v); }, x, out);
}
void rsqrt(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return 1 / std::sqrt(v); }, x, out);
}
void reciprocal(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return 1 / v; }, x, out);
}
void floor(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return std::floor(v); }, x, out);
}
void ceil(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return std::ceil(v); }, x, out);
}
void trunc(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return std::trunc(v); }, x, out);
}
void round(const Operand& x, const Operand& out) {
  floating(
      kCheapGrain, [](auto v) { return std::nearbyint(v); }, x, out);
}

void logical_not(const Operand& x, const Operand& out) {
  predicate([](auto v) { return v == decltype(v)(0); }, x, out);
}
void isnan(const Operand& x, const Operand& out) {
  predicate([](auto v) { return is_nan(v); }, x, out);
}
void isinf(const Operand& x, const Operand& out) {
  predicate([](auto v) { return is_inf(v); }, x, out);
}
void isfinite(const Operand& x, const Operand& out) {
  predicate([](auto v) { return is_finite(v); }, x, out);
}

}  // namespace weft::kernels::cpu
