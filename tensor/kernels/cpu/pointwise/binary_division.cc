// Remainders and whole quotients. An integer divided by 0 is an error; the smallest integer divided by -1 wraps.
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/binary.h"

namespace weft::kernels::cpu {
namespace {

/// |a| and |b| divided with remainder in double, which is exact for floats where the quotient is below 2^28.
struct Divided {
  double quotient, rest;
  Divided(float a, float b) {
    const double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
    const double q = floor_of(x / y), r = x - q * y;  // q may have been rounded up to the next integer
    const double less = q - 1, more = r + y;
    quotient = r < 0 ? less : q;
    rest = r < 0 ? more : r;
  }
};

/// What the three functions share: how floats are divided fast.
struct Division {
  bool slow_case(std::same_as<float> auto a, float b) const {
    const float size = std::fabs(b);
    return !(std::fabs(a) < size * 0x1p28f && size <= std::numeric_limits<float>::max());
  }
};

template <class T> bool signs_differ(T a, T b) { return (a < 0) != (b < 0); }

struct Truncated : Division {
  float operator()(float a, float b) const { return std::copysign(static_cast<float>(Divided(a, b).rest), a); }
  double operator()(double a, double b) const { return std::fmod(a, b); }
  float slow(float a, float b) const { return std::fmod(a, b); }
  template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a % b); }
};

struct Floored : Division {
  template <class T> static T adjusted(T rest, T b) {
    const T moved = static_cast<T>(rest + b);
    return (rest != 0) & signs_differ(rest, b) ? moved : rest;
  }
  float operator()(float a, float b) const { return adjusted(Truncated{}(a, b), b); }
  double operator()(double a, double b) const { return adjusted(std::fmod(a, b), b); }
  float slow(float a, float b) const { return adjusted(std::fmod(a, b), b); }
  template <std::integral T> T operator()(T a, T b) const { return adjusted(static_cast<T>(a % b), b); }
};

struct FloorQuotient : Division {
  float operator()(float a, float b) const {
    const Divided d(a, b);
    const uint32_t signs = std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b);
    const bool below = static_cast<int32_t>(signs) < 0;  // they differ
    const float size = static_cast<float>(d.quotient + static_cast<double>(below & (d.rest > 0)));
    return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | (signs & 0x80000000u));
  }
  /// As Python divides: the remainder goes first, then what is left is a whole number but for rounding.
  double operator()(double a, double b) const {
    const double rest = std::fmod(a, b);
    double quotient = (a - rest) / b;
    if (b == 0) return a / b;
    if (rest != 0 && signs_differ(rest, b)) quotient -= 1;
    if (quotient == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }
  float slow(float a, float b) const {
    return static_cast<float>((*this)(static_cast<double>(a), static_cast<double>(b)));
  }
  template <std::integral T> T operator()(T a, T b) const {
    return static_cast<T>(a / b - (a % b != 0 && signs_differ(a, b) ? 1 : 0));
  }
};

template <class F> void divide(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  if (is_floating(out.dtype))
    return visit_floating(out.dtype, [&]<class T>() { elementwise<T, T, T>(kMathGrain, f, out, a, b); });
  std::atomic<bool> by_zero = false;
  visit_integer(out.dtype, [&]<class T>() {
    const auto checked = [&](T x, T y) {
      if (y == 0) by_zero.store(true, std::memory_order_relaxed);
      if (y == 0) return y;
      if constexpr (std::is_signed_v<T>)
        if (y == T(-1)) return std::is_same_v<F, FloorQuotient> ? wrapping_sub(T(0), x) : T(0);
      return f(x, y);
    };
    elementwise<T, T, T>(kMathGrain, checked, out, a, b);
  });
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

}  // namespace weft
