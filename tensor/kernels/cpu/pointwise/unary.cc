#include "tensor/ops/unary.h"

#include <algorithm>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/compare.h"

namespace weft::kernels::cpu {
namespace {

struct Negated {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrapping_sub(T(0), x);
  }
};
struct Absolute {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < 0 ? wrapping_sub(T(0), x) : x;
  }
};
struct SignOf {
  template <class T> T operator()(T x) const {
    const T above = x > T(0) ? T(1) : T(0), below = x < T(0) ? T(1) : T(0);
    return x == x ? static_cast<T>(above - below) : x;
  }
};
struct Squared {
  template <class T> T operator()(T x) const { return wrapping_mul(x, x); }
};
struct Positive {
  template <class T> T operator()(T x) const { return x < T(0) ? T(0) : x; }
};
/// Functions of a 16-bit float that are functions of its bits: no conversion on the way.
struct NegatedBits {
  uint16_t operator()(uint16_t x) const { return static_cast<uint16_t>(x ^ 0x8000u); }
};
struct AbsoluteBits {
  uint16_t operator()(uint16_t x) const { return static_cast<uint16_t>(x & 0x7fffu); }
};
/// Bits from -0 (which stays) up to `minus_infinity` are numbers below 0, those beyond are NaN.
struct PositiveBits {
  uint16_t minus_infinity;
  uint16_t operator()(uint16_t x) const {
    return static_cast<uint16_t>(x - 0x8001u) <= static_cast<uint16_t>(minus_infinity - 0x8001u) ? uint16_t{0} : x;
  }
};
template <class F> void of_bits(const F& f, const Operand& x, const Operand& out) {
  elementwise<uint16_t, uint16_t>(kCheapGrain, f, out, x);
}
template <class T> struct Clamped {
  T low, high;
  T operator()(T x) const { return clamped(x, low, high); }
};
// A bound beyond an integer type does not wrap.
template <class T> T bound(const Scalar& value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        std::clamp<int64_t>(value.to_int(), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  else
    return scalar_as<T>(value);
}
template <class T> double largest_of() {
  if constexpr (std::is_same_v<T, Float16>)
    return 65504;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return 0x1.fep127;
  else
    return static_cast<double>(std::numeric_limits<T>::max());
}
template <class T> bool is_nan(T x) { return x != x; }
template <class T> bool is_finite(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x) <= std::numeric_limits<T>::max();
  else
    return true;
}

template <class T> bool is_below(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::signbit(x);
  else
    return x < 0;
}

/// f of floating values; integers are themselves.
template <class F> void to_integer(const F& f, const Operand& x, const Operand& out) {
  is_floating(x.dtype) ? floating(kCheapGrain, few_instructions(f), x, out) : op::Clip{}.cpu(x, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Neg, is_half_precision(x.dtype) ? of_bits(NegatedBits{}, x, out) : number(Negated{}, x, out))
WEFT_UNARY_KERNEL(Abs, is_half_precision(x.dtype) ? of_bits(AbsoluteBits{}, x, out) : number(Absolute{}, x, out))
WEFT_UNARY_KERNEL(Sign, number(few_instructions(SignOf{}), x, out))
WEFT_UNARY_KERNEL(Square, number(few_instructions(Squared{}), x, out))
WEFT_UNARY_KERNEL(Relu, is_half_precision(x.dtype)
                            ? of_bits(PositiveBits{static_cast<uint16_t>(x.dtype == bf16 ? 0xff80 : 0xfc00)}, x, out)
                            : number(Positive{}, x, out))
// The rounding mode is to nearest, halves to even.
WEFT_UNARY_KERNEL(Round, to_integer([](auto v) { return std::rint(v); }, x, out))
WEFT_UNARY_KERNEL(Floor, to_integer([](auto v) { return std::floor(v); }, x, out))
WEFT_UNARY_KERNEL(Ceil, to_integer([](auto v) { return std::ceil(v); }, x, out))
WEFT_UNARY_KERNEL(Trunc, to_integer([](auto v) { return std::trunc(v); }, x, out))
WEFT_UNARY_KERNEL(Sqrt, floating(kCheapGrain, few_instructions([](auto v) { return std::sqrt(v); }), x, out))
WEFT_UNARY_KERNEL(Rsqrt, floating(kCheapGrain, few_instructions([](auto v) { return 1 / std::sqrt(v); }), x, out))
WEFT_UNARY_KERNEL(Reciprocal, floating(kCheapGrain, few_instructions([](auto v) { return 1 / v; }), x, out))
WEFT_UNARY_KERNEL(LogicalNot, predicate([](auto v) { return v == decltype(v)(0); }, x, out))
WEFT_UNARY_KERNEL(IsNan, predicate([](auto v) { return is_nan(v); }, x, out))
WEFT_UNARY_KERNEL(IsInf, predicate([](auto v) { return !is_nan(v) && !is_finite(v); }, x, out))
WEFT_UNARY_KERNEL(SignBit, predicate([](auto v) { return is_below(v); }, x, out))
WEFT_UNARY_KERNEL(IsFinite, predicate([](auto v) { return is_finite(v); }, x, out))

void op::BitwiseNot::cpu(const Operand& x, const Operand& out) const {
  if (x.dtype == boolean) return op::LogicalNot{}.cpu(x, out);
  visit_integer(x.dtype, [&]<class T>() {
    elementwise<T, T>(
        kCheapGrain, [](T v) { return static_cast<T>(~v); }, out, x);
  });
}

void op::NanToNum::cpu(const Operand& x, const Operand& out) const {
  if (!is_floating(x.dtype)) return op::Clip{}.cpu(x, out);
  visit_floating(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    const C infinity = std::numeric_limits<C>::infinity(), largest = static_cast<C>(largest_of<T>());
    if (!above && !below) {  // limits, which finite values do not meet
      const auto limited = [replaced = static_cast<C>(nan), largest, least = -largest](C v) {
        const C inside = clamped(v, least, largest);
        return v != v ? replaced : inside;
      };
      return elementwise<T, T>(kCheapGrain, few_instructions(limited), out, x);
    }
    const C up = above ? scalar_as<C>(*above) : largest, down = below ? scalar_as<C>(*below) : -largest;
    const auto f = [=, replaced = static_cast<C>(nan)](C v) {
      const C above_or_same = v == infinity ? up : v, bounded = v == -infinity ? down : above_or_same;
      return v != v ? replaced : bounded;
    };
    elementwise<T, T>(kCheapGrain, f, out, x);
  });
}

void op::Clip::cpu(const Operand& x, const Operand& out) const {
  visit_number(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    using Limits = std::numeric_limits<C>;
    Clamped<C> f{Limits::lowest(), Limits::max()};
    if constexpr (Limits::has_infinity) f = {-Limits::infinity(), Limits::infinity()};
    if (min) f.low = bound<C>(*min);
    if (max) f.high = bound<C>(*max);
    if (is_nan(f.low) || is_nan(f.high))
      return elementwise<T, T>(
          kCheapGrain, [](C) { return Limits::quiet_NaN(); }, out, x);
    elementwise<T, T>(kCheapGrain, few_instructions(f), out, x);
  });
}

}  // namespace weft
