// Gradients of activations in one pass. (That of gelu is beside gelu, in unary_activation.cc.)
#include "tensor/ops/activation_backward.h"

#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/runtime/denormals.h"

#define WEFT_BACKWARD_KERNEL(Op, grain, ...)                                       \
  void op::Op::cpu(const Operand& g, const Operand& x, const Operand& out) const { \
    floating_pair(grain, __VA_ARGS__, g, x, out);                                  \
  }

namespace weft::kernels::cpu {
namespace {

struct SiluBackwardOf {
  template <class V> V operator()(V g, V x) const {
    using T = vmath::Lane<V>;
    const V s = vmath::sigmoid(x);
    return g * (s * (x * (T(1) - s) + T(1)));
  }
};

/// With e = e^x and n = e (e + 2), tanh(log(1 + e)) = n / (n + 2), and its derivative is 4 e (e + 1) / (n + 2)^2. The
/// first is 1, and x times the second 0, to rounding beyond 20 (40 in f64): a larger x counts as that in both.
struct MishBackwardOf {
  template <class V> V operator()(V g, V x) const {
    using T = vmath::Lane<V>;
    const V near = simd::smaller(vmath::splat<V>(sizeof(T) == 4 ? 20 : 40), x), e = vmath::exp(near);
    const V n = e * (e + T(2)), share = T(1) / (n + T(2));
    return g * (n * share + near * (T(4) * e * (e + T(1)) * share) * share);
  }
};

struct EluBackwardOf {
  double below, scale, input_scale;
  template <class V> V operator()(V g, V x) const {
    using T = vmath::Lane<V>;
    const V slope = vmath::exp(x * static_cast<T>(input_scale)) * static_cast<T>(below);
    return g * vmath::select(x <= T(0), slope, vmath::splat<V>(scale));
  }
};

struct HardswishBackwardOf {
  template <class T> T operator()(T g, T x) const {
    const T between = x >= 3 ? g : g * (x * (T(1) / 3) + T(0.5));
    return x <= -3 ? T(0) : between;
  }
};

/// g times one of two slopes, 0 for a slope of 0.
template <class T> struct PiecewiseBackwardOf {
  T low, high, inside, outside;
  T operator()(T g, T x) const {
    const T slope = ((x >= low) & (x <= high)) ? inside : outside;
    return slope == T(0) ? T(0) : g * slope;
  }
};

/// The first value beyond `bound` towards `end`, an infinity. Beside 0 that is a denormal, which may count as 0.
template <class T> T beyond(T bound, T end) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  return std::abs(bound) < kLeast && flushes_denormals() ? std::copysign(kLeast, end) : std::nextafter(bound, end);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_BACKWARD_KERNEL(ReluBackward, kCheapGrain,
                     few_instructions([]<class T>(T d, T y) { return y <= T(0) ? T(0) : d; }))
WEFT_BACKWARD_KERNEL(SigmoidBackward, kCheapGrain, few_instructions([](auto d, auto y) { return d * (y * (1 - y)); }))
WEFT_BACKWARD_KERNEL(TanhBackward, kCheapGrain, few_instructions([](auto d, auto y) { return d * (1 - y * y); }))
WEFT_BACKWARD_KERNEL(SiluBackward, kMathGrain, on_registers(SiluBackwardOf{}))
WEFT_BACKWARD_KERNEL(SoftplusBackward, kMathGrain, on_registers([](auto d, auto v) { return d * vmath::sigmoid(v); }))
WEFT_BACKWARD_KERNEL(LogsigmoidBackward, kMathGrain,
                     on_registers([](auto d, auto v) { return d * vmath::sigmoid(-v); }))
WEFT_BACKWARD_KERNEL(HardswishBackward, kCheapGrain, few_instructions(HardswishBackwardOf{}))
WEFT_BACKWARD_KERNEL(MishBackward, kMathGrain, on_registers(MishBackwardOf{}))
WEFT_BACKWARD_KERNEL(EluBackward, kMathGrain,
                     on_registers(EluBackwardOf{scale * alpha * input_scale, scale, input_scale}))

void op::PiecewiseBackward::cpu(const Operand& g, const Operand& x, const Operand& out) const {
  visit_floating(g.dtype, [&]<class T>() {
    using C = Compute<T>;
    constexpr C kInf = std::numeric_limits<C>::infinity();
    const auto [low, high, open, inside, outside] = slopes;
    PiecewiseBackwardOf<C> f{static_cast<C>(low), static_cast<C>(high), static_cast<C>(inside),
                             static_cast<C>(outside)};
    if (open && f.low > -kInf) f.low = beyond(f.low, kInf);
    if (open && f.high < kInf) f.high = beyond(f.high, -kInf);
    elementwise<T, T, T>(kCheapGrain, few_instructions(f), out, g, x);
  });
}

}  // namespace weft
