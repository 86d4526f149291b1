// Activations and their gradients.
#include "tensor/kernels/cpu/base/normal_segments.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/activation_backward.h"
#include "tensor/ops/unary.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752;        // sqrt(1/2)
constexpr double kInverseSqrtTau = 0.39894228040143268;  // 1 / sqrt(2 pi)
constexpr double kSqrtTwoOverPi = 0.79788456080286536;   // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

/// x P(X < x) for a normal X (Hendrycks and Gimpel, 2016), and its gradient times g.
struct GeluErf {
  const NormalSegments& below = normal_below();
  const NormalSegments& slope = gelu_slope();
  using Doubles = vmath::Doubles;
  Doubles operator()(Doubles x) const { return 0.5 * x * (1.0 + vmath::erf(x * kSqrtHalf)); }
  Doubles operator()(Doubles g, Doubles x) const {
    const Doubles probability = 0.5 * (1.0 + vmath::erf(x * kSqrtHalf)), bell = vmath::exp(-0.5 * x * x);
    const Doubles rise = vmath::select(bell == 0.0, Doubles{}, x * bell * kInverseSqrtTau);  // to 0 at both ends
    return g * (probability + rise);
  }
  template <class V> V operator()(V x) const { return x * below(x); }
  template <class V> V operator()(V g, V x) const { return g * slope(x); }
};

/// The form with tanh, as 0.5 (1 + tanh(u)) = sigmoid(2 u).
struct GeluTanh {
  template <class V> V operator()(V x) const { return x * vmath::sigmoid(doubled(x)); }
  template <class V> V operator()(V g, V x) const {
    using T = vmath::Lane<V>;
    const V s = vmath::sigmoid(doubled(x));
    const V slope = T(2 * kSqrtTwoOverPi) * (T(1) + T(3 * kCubic) * x * x);
    return g * (s + x * s * (T(1) - s) * slope);
  }
  template <class V> static V doubled(V x) {
    using T = vmath::Lane<V>;
    return T(2 * kSqrtTwoOverPi) * (x + T(kCubic) * x * x * x);
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Sigmoid, floating(kMathGrain, on_registers([](auto v) { return vmath::sigmoid(v); }), x, out))
WEFT_UNARY_KERNEL(Silu, floating(kMathGrain, on_registers([](auto v) { return v * vmath::sigmoid(v); }), x, out))
WEFT_UNARY_KERNEL(Softplus, floating(kMathGrain, on_registers([](auto v) { return vmath::softplus(v); }), x, out))

void op::LeakyRelu::cpu(const Operand& x, const Operand& out) const {
  const auto f = [slope = slope]<class T>(T v) {
    const T below = v * static_cast<T>(slope);
    return v > T(0) ? v : below;
  };
  floating(kCheapGrain, few_instructions(f), x, out);
}

void op::GeluOp::cpu(const Operand& x, const Operand& out) const {
  if (tanh_form)
    floating(kMathGrain, on_registers(GeluTanh{}), x, out);
  else
    floating(kMathGrain, on_registers(GeluErf{}), x, out);
}

void op::GeluBackward::cpu(const Operand& g, const Operand& x, const Operand& out) const {
  if (tanh_form)
    floating_pair(kMathGrain, on_registers(GeluTanh{}), g, x, out);
  else
    floating_pair(kMathGrain, on_registers(GeluErf{}), g, x, out);
}

}  // namespace weft
