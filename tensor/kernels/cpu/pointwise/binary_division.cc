// Remainders and whole quotients. An integer divided by 0 is an error; the smallest integer divided by -1 wraps.
#include <atomic>
#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/binary.h"

namespace weft::kernels::cpu {
namespace {

/// |a| and |b| divided with remainder. The quotient may have been rounded up to the next integer, the rest is exact: of
/// floats where the quotient is below 2^28, of doubles below 2^50.
struct Divided {
  double quotient, rest;
  Divided(double a, double b) {
    const double x = std::fabs(a), y = std::fabs(b), q = std::floor(x / y);
#ifdef __FMA__
    const double r = __builtin_fma(-q, y, x);
#else
    const double r = x - q * y;
#endif
    const double less = q - 1, more = r + y;
    quotient = r < 0 ? less : q;
    rest = r < 0 ? more : r;
  }
};

/// What the three functions share: how floating values are divided fast.
struct Division {
  template <std::floating_point T> bool slow_case(T a, T b) const {
#ifdef __FMA__
    constexpr T kLimit = sizeof(T) == 4 ? T(0x1p28) : T(0x1p50);
#else
    constexpr T kLimit = sizeof(T) == 4 ? T(0x1p28) : T(0);  // the rest of doubles takes one rounding
#endif
    const T size = std::fabs(b);
    return !(std::fabs(a) < size * kLimit && size <= std::numeric_limits<T>::max());
  }
};

template <class T> bool signs_differ(T a, T b) { return (a < 0) != (b < 0); }

struct Truncated : Division {
  template <std::floating_point T> T operator()(T a, T b) const {
    return std::copysign(static_cast<T>(Divided(static_cast<double>(a), static_cast<double>(b)).rest), a);
  }
  template <std::floating_point T> T slow(T a, T b) const { return std::fmod(a, b); }
  template <std::integral T> static T of(T, T rest, T, T) { return rest; }
};

struct Floored : Division {
  template <class T> static T adjusted(T rest, T b) {
    const T moved = static_cast<T>(rest + b);
    return ((rest != 0) & signs_differ(rest, b)) ? moved : rest;
  }
  template <std::floating_point T> T operator()(T a, T b) const { return adjusted(Truncated{}(a, b), b); }
  template <std::floating_point T> T slow(T a, T b) const { return adjusted(std::fmod(a, b), b); }
  template <std::integral T> static T of(T, T rest, T, T b) { return adjusted(rest, b); }
};

struct FloorQuotient : Division {
  template <std::floating_point T> T operator()(T a, T b) const {
    const Divided d(static_cast<double>(a), static_cast<double>(b));
    const double sign = std::copysign(1.0, static_cast<double>(a)) * std::copysign(1.0, static_cast<double>(b));
    const double below = 0.5 - 0.5 * sign, more = d.rest > 0 ? below : 0.0;
    return static_cast<T>(std::copysign(d.quotient + more, sign));
  }
  /// As Python divides: the remainder goes first, then what is left is a whole number but for rounding.
  template <std::floating_point T> T slow(T x, T y) const {
    const double a = static_cast<double>(x), b = static_cast<double>(y), rest = std::fmod(a, b);
    double quotient = (a - rest) / b;
    if (b == 0) return static_cast<T>(a / b);
    if (rest != 0 && signs_differ(rest, b)) quotient -= 1;
    if (quotient == 0) return static_cast<T>(std::copysign(0.0, a / b));
    const double whole = std::floor(quotient);
    return static_cast<T>(quotient - whole > 0.5 ? whole + 1 : whole);
  }
  template <std::integral T> static T of(T quotient, T rest, T a, T b) {
    return static_cast<T>(quotient - (((rest != 0) & signs_differ(a, b)) ? 1 : 0));
  }
};

struct TruncatedQuotient {
  template <std::floating_point T> T operator()(T a, T b) const { return std::trunc(a / b); }
  template <std::integral T> static T of(T quotient, T, T, T) { return quotient; }
};

template <class F>
constexpr bool kIsQuotient = std::is_same_v<F, FloorQuotient> || std::is_same_v<F, TruncatedQuotient>;

/// Division of integers by F's rule. Long ones below 2^52 go by way of doubles, whose quotient never rounds up to the
/// next integer: it is further away than half of the last place.
template <class F> struct IntegerDivision {
  std::atomic<bool>* by_zero;
  template <class T> T slow(T x, T y) const {
    if (y == 0) by_zero->store(true, std::memory_order_relaxed);
    if (y == 0) return y;
    if constexpr (std::is_signed_v<T>)
      if (y == T(-1)) return kIsQuotient<F> ? wrapping_sub(T(0), x) : T(0);
    return F::template of<T>(static_cast<T>(x / y), static_cast<T>(x % y), x, y);
  }
  template <class T> T operator()(T x, T y) const { return slow(x, y); }
  int64_t operator()(int64_t x, int64_t y) const {
    const auto quotient = static_cast<int64_t>(static_cast<double>(x) / static_cast<double>(y));
    return F::of(quotient, x - quotient * y, x, y);
  }
  bool slow_case(std::same_as<int64_t> auto x, int64_t y) const {
    constexpr int64_t kLimit = int64_t{1} << 52;
    return (x >= kLimit) | (x <= -kLimit) | (y >= kLimit) | (y <= -kLimit) | (y == 0);
  }
};

template <class F> void divide(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  if (is_floating(out.dtype))
    return visit_floating(out.dtype, [&]<class T>() { elementwise<T, T, T>(kMathGrain, f, out, a, b); });
  std::atomic<bool> by_zero = false;
  visit_integer(out.dtype,
                [&]<class T>() { elementwise<T, T, T>(kMathGrain, IntegerDivision<F>{&by_zero}, out, a, b); });
  if (by_zero) throw Error("an integer is divided by 0; floating dtypes give inf or NaN");
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Remainder::cpu(const Operand& a, const Operand& b, const Operand& out) const { divide(Floored{}, a, b, out); }
void op::Fmod::cpu(const Operand& a, const Operand& b, const Operand& out) const { divide(Truncated{}, a, b, out); }
void op::FloorDivide::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  divide(FloorQuotient{}, a, b, out);
}
void op::TruncDivide::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  divide(TruncatedQuotient{}, a, b, out);
}

}  // namespace weft
