// The activations of unary.h and their gradients.
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/normal_segments.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/unary.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752;        // sqrt(1/2)
constexpr double kInverseSqrtTau = 0.39894228040143268;  // 1 / sqrt(2 pi)
constexpr double kSqrtTwoOverPi = 0.79788456080286536;   // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

template <class F>
void unary(int64_t grain, const F& f, const Operand& x, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { elementwise<T, T>(grain, f, out, x); });
}

template <class F>
void binary(int64_t grain, const F& f, const Operand& g, const Operand& x, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { elementwise<T, T, T>(grain, f, out, g, x); });
}

/// x P(X < x) for a normal X (Hendrycks and Gimpel, 2016), and its gradient times g.
struct GeluErf {
  const NormalSegments& below = normal_below();
  const NormalSegments& slope = gelu_slope();
  double operator()(double x) const { return 0.5 * x * (1 + std::erf(x * kSqrtHalf)); }
  double operator()(double g, double x) const {
    const double probability = 0.5 * (1 + std::erf(x * kSqrtHalf));
    const double rise = std::isinf(x) ? 0 : x * std::exp(-0.5 * x * x) * kInverseSqrtTau;  // to 0 at both ends
    return g * (probability + rise);
  }
  template <class V>
  V operator()(V x) const {
    return x * below(x);
  }
  template <class V>
  V operator()(V g, V x) const {
    return g * slope(x);
  }
};

/// The form with tanh, as 0.5 (1 + tanh(u)) = sigmoid(2 u).
struct GeluTanh {
  template <class V>
  V operator()(V x) const {
    return x * vmath::sigmoid(doubled(x));
  }
  template <class V>
  V operator()(V g, V x) const {
    using T = vmath::Lane<V>;
    const V s = vmath::sigmoid(doubled(x));
    const V slope = T(2 * kSqrtTwoOverPi) * (T(1) + T(3 * kCubic) * x * x);
    return g * (s + x * s * (T(1) - s) * slope);
  }
  template <class V>
  static V doubled(V x) {
    using T = vmath::Lane<V>;
    return T(2 * kSqrtTwoOverPi) * (x + T(kCubic) * x * x * x);
  }
};

}  // namespace

void sigmoid(const Operand& x, const Operand& out) {
  unary(kMathGrain, on_registers([](auto v) { return vmath::sigmoid(v); }), x, out);
}
void silu(const Operand& x, const Operand& out) {
  unary(kMathGrain, on_registers([](auto v) { return v * vmath::sigmoid(v); }), x, out);
}
void softplus(const Operand& x, const Operand& out) {
  unary(kMathGrain, on_registers([](auto v) { return vmath::softplus(v); }), x, out);
}
void leaky_relu(const Operand& x, double slope, const Operand& out) {
  unary(
      kCheapGrain,
      [slope]<class T>(T v) {
    const T below = v * static_cast<T>(slope);
    return v > T(0) ? v : below;
      },
      x, out);
}
void gelu(const Operand& x, bool tanh_form, const Operand& out) {
  tanh_form ? unary(kMathGrain, on_registers(GeluTanh{}), x, out) : unary(kMathGrain, on_registers(GeluErf{}), x, out);
}

void relu_backward(const Operand& g, const Operand& y, const Operand& out) {
  binary(
      kCheapGrain, []<class T>(T d, T v) { return v <= T(0) ? T(0) : d; }, g, y, out);
}
void leaky_relu_backward(const Operand& g, const Operand& x, double slope, const Operand& out) {
  binary(
      kCheapGrain,
      [slope]<class T>(T d, T v) {
    const T below = d * static_cast<T>(slope);
    return v > T(0) ? d : below;
      },
      g, x, out);
}
void sigmoid_backward(const Operand& g, const Operand& y, const Operand& out) {
  binary(
      kCheapGrain, []<class T>(T d, T s) { return d * s * (T(1) - s); }, g, y, out);
}
void tanh_backward(const Operand& g, const Operand& y, const Operand& out) {
  binary(
      kCheapGrain, []<class T>(T d, T t) { return d * (T(1) - t * t); }, g, y, out);
}
void silu_backward(const Operand& g, const Operand& x, const Operand& out) {
  binary(kMathGrain, on_registers([]<class V>(V d, V v) {
           constexpr auto one = vmath::Lane<V>(1);
           const V s = vmath::sigmoid(v);
           return d * s * (one + v * (one - s));
         }),
         g, x, out);
}
void gelu_backward(const Operand& g, const Operand& x, bool tanh_form, const Operand& out) {
  tanh_form ? binary(kMathGrain, on_registers(GeluTanh{}), g, x, out)
            : binary(kMathGrain, on_registers(GeluErf{}), g, x, out);
}

}  // namespace weft::kernels::cpu
