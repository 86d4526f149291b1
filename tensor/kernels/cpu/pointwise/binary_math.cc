// Functions of two floating tensors.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/ops/blend.h"
#include "tensor/ops/special.h"

namespace weft::kernels::cpu {
namespace {

/// The root of the sum of squares, of sizes moved to the middle of the exponents: within 1 ulp.
struct HypotOf {
  template <class T> T operator()(T a, T b) const {
    constexpr T kInf = std::numeric_limits<T>::infinity(), kFar = sizeof(T) == 4 ? T(0x1p50f) : T(0x1p500);
    const T x = std::fabs(a), y = std::fabs(b), most = x > y ? x : y;
    const T up = most < 1 / kFar ? kFar * kFar : T(1), scale = most > kFar ? 1 / (kFar * kFar) : up;
    const T p = x * scale, q = y * scale, root = std::sqrt(p * p + q * q) * (1 / scale);
    return ((x == kInf) | (y == kInf)) ? kInf : root;
  }
};

struct LogaddexpOf {
  template <class V> V operator()(V a, V b) const {
    const V rest = vmath::log1p(vmath::exp_below(-vmath::absolute(a - b)));
    const V same = a + static_cast<vmath::Lane<V>>(std::numbers::ln2);  // of infinities too, whose difference is NaN
    return vmath::select(a == b, same, vmath::select(a > b, a, b) + rest);
  }
};

struct XlogyOf {
  template <class V> V operator()(V a, V b) const {
    return vmath::select((a == V{}) & (b == b), V{}, a * vmath::log(b));
  }
};

struct Xlog1pyOf {
  template <class V> V operator()(V a, V b) const {
    return vmath::select((a == V{}) & (b == b), V{}, a * vmath::log1p(b));
  }
};

/// The bits of floats of one sign rise with their sizes.
struct NextOf {
  template <class T> T operator()(T a, T b) const {
    using Bits = typename vmath::detail::FloatFormat<T>::Unsigned;
    const Bits bits = std::bit_cast<Bits>(a), step = (a < b) == (a > 0) ? Bits(1) : ~Bits(0);
    const T near = std::bit_cast<T>(bits + step), from_zero = std::copysign(std::numeric_limits<T>::denorm_min(), b);
    const T next = a == 0 ? from_zero : near, moved = a == b ? b : next;
    return ((a == a) & (b == b)) ? moved : a + b;
  }
};

/// The first part is exactly 0 where x has the label's sign and the label is 0 or 1. It is not x - x * y, which is NaN
/// and not inf of an infinite x and the label 0.
struct LogisticLossOf {
  template <class V> V operator()(V x, V y) const {
    const V wrong = vmath::select(x > V{}, x * (vmath::Lane<V>(1) - y), -(x * y));
    return wrong + vmath::log1p(vmath::exp_below(-vmath::absolute(x)));
  }
};

struct HuberOf {
  double delta;
  template <class T> T operator()(T a, T b) const {
    const T d = a - b, most = static_cast<T>(delta), near = d > most ? most : d < -most ? -most : d;
    return near * (d - near * static_cast<T>(0.5));
  }
};

template <class T> T larger_number(T a, T b) { return a >= b || b != b ? a : b; }
template <class T> T smaller_number(T a, T b) { return a <= b || b != b ? a : b; }

/// f(x, a, b, value)
template <class F>
void three_operands(const F& f, double value, const Operand& x, const Operand& a, const Operand& b,
                    const Operand& out) {
  visit_floating(out.dtype, [&]<class T>() {
    const auto with_value = [&f, factor = static_cast<Compute<T>>(value)](auto to, auto p, auto q) {
      return f(to, p, q, factor);
    };
    elementwise<T, T, T, T>(kCheapGrain, few_instructions(with_value), out, x, a, b);
  });
}

/// copysign() of 16-bit floats whose infinity has those bits. A NaN becomes a quiet one, as by a conversion.
struct CopysignOfHalves {
  uint16_t infinity, quiet;
  uint16_t operator()(uint16_t x, uint16_t y) const {
    const int size = x & 0x7fff;
    return static_cast<uint16_t>(size | (size > infinity ? quiet : 0) | (y & 0x8000));
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_BINARY_KERNEL(Atan2, floating_pair(kMathGrain, on_registers([](auto y, auto x) { return vmath::atan2(y, x); }), a,
                                        b, out))
WEFT_BINARY_KERNEL(Hypot, floating_pair(kCheapGrain, HypotOf{}, a, b, out))
WEFT_BINARY_KERNEL(Logaddexp, floating_pair(kMathGrain, on_registers(LogaddexpOf{}), a, b, out))
WEFT_BINARY_KERNEL(Xlogy, floating_pair(kMathGrain, on_registers(XlogyOf{}), a, b, out))
WEFT_BINARY_KERNEL(Xlog1py, floating_pair(kMathGrain, on_registers(Xlog1pyOf{}), a, b, out))
void op::Copysign::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (is_half_precision(out.dtype)) {
    const CopysignOfHalves halves =
        out.dtype == bf16 ? CopysignOfHalves{0x7f80, 0x40} : CopysignOfHalves{0x7c00, 0x200};
    return elementwise<uint16_t, uint16_t, uint16_t>(kCheapGrain, halves, out, a, b);
  }
  floating_pair(
      kCheapGrain, [](auto x, auto y) { return std::copysign(x, y); }, a, b, out);
}

WEFT_BINARY_KERNEL(SquaredDifference,
                   floating_pair(kCheapGrain, few_instructions([](auto x, auto y) { return (x - y) * (x - y); }), a, b,
                                 out))
WEFT_BINARY_KERNEL(LogisticLoss, floating_pair(kMathGrain, on_registers(LogisticLossOf{}), a, b, out))
WEFT_BINARY_KERNEL(Huber, floating_pair(kCheapGrain, few_instructions(HuberOf{delta}), a, b, out))
WEFT_BINARY_KERNEL(Lerp, weight < 0.5 ? floating_pair(kCheapGrain, few_instructions([w = weight](auto x, auto y) {
                                                        return x + (y - x) * static_cast<decltype(x)>(w);
                                                      }),
                                                      a, b, out)
                                      : floating_pair(kCheapGrain, few_instructions([w = 1 - weight](auto x, auto y) {
                                                        return y - (y - x) * static_cast<decltype(x)>(w);
                                                      }),
                                                      a, b, out))

void op::LerpBy::cpu(const Operand& a, const Operand& b, const Operand& weight, const Operand& out) const {
  visit_floating(out.dtype, [&]<class T>() {
    const auto blend = [](auto x, auto y, auto w) { return w < 0.5f ? x + (y - x) * w : y - (y - x) * (1 - w); };
    elementwise<T, T, T, T>(kCheapGrain, few_instructions(blend), out, a, b, weight);
  });
}
// From left to right, as the formulas are written: a small value keeps the product of large operands in range.
void op::Addcmul::cpu(const Operand& x, const Operand& a, const Operand& b, const Operand& out) const {
  three_operands([](auto to, auto p, auto q, auto factor) { return to + factor * p * q; }, value, x, a, b, out);
}
void op::Addcdiv::cpu(const Operand& x, const Operand& a, const Operand& b, const Operand& out) const {
  three_operands([](auto to, auto p, auto q, auto factor) { return to + factor * p / q; }, value, x, a, b, out);
}

void op::Nextafter::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (out.dtype == DType::f64) return elementwise<double, double, double>(kCheapGrain, NextOf{}, out, a, b);
  elementwise<float, float, float>(kCheapGrain, NextOf{}, out, a, b);
}

void op::Fmax::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  visit_number(out.dtype, [&]<class T>() {
    elementwise<T, T, T>(kCheapGrain, few_instructions([](auto x, auto y) { return larger_number(x, y); }), out, a, b);
  });
}

void op::Fmin::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  visit_number(out.dtype, [&]<class T>() {
    elementwise<T, T, T>(kCheapGrain, few_instructions([](auto x, auto y) { return smaller_number(x, y); }), out, a, b);
  });
}

}  // namespace weft
