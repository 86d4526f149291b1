// The activations of unary.h and their gradients.
#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/kernels/cpu/unary.h"
#include "tensor/kernels/cpu/vector_math.h"

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

struct GeluErf {
  template <class T>
  T operator()(T x) const {
    return T(0.5) * x * (T(1) + vmath::erf(x * T(kSqrtHalf)));
  }
  template <class T>
  T operator()(T g, T x) const {
    const T below = T(0.5) * (T(1) + vmath::erf(x * T(kSqrtHalf)));
    return g * (below + x * vmath::exp(T(-0.5) * x * x) * T(kInverseSqrtTau));
  }
};

struct GeluTanh {
  template <class T>
  T operator()(T x) const {
    return T(0.5) * x * (T(1) + vmath::tanh(T(kSqrtTwoOverPi) * (x + T(kCubic) * x * x * x)));
  }
  template <class T>
  T operator()(T g, T x) const {
    const T t = vmath::tanh(T(kSqrtTwoOverPi) * (x + T(kCubic) * x * x * x));
    const T slope = T(kSqrtTwoOverPi) * (T(1) + T(3 * kCubic) * x * x);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
  }
};

}  // namespace

void sigmoid(const Operand& x, const Operand& out) {
  unary(
      kMathGrain, [](auto v) { return vmath::sigmoid(v); }, x, out);
}
void silu(const Operand& x, const Operand& out) {
  unary(
      kMathGrain, [](auto v) { return v * vmath::sigmoid(v); }, x, out);
}
void softplus(const Operand& x, const Operand& out) {
  unary(
      kMathGrain, [](auto v) { return vmath::softplus(v); }, x, out);
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
  tanh_form ? unary(kMathGrain, GeluTanh{}, x, out) : unary(kMathGrain, GeluErf{}, x, out);
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
  binary(
      kMathGrain,
      []<class T>(T d, T v) {
    const T s = vmath::sigmoid(v);
    return d * s * (T(1) + v * (T(1) - s));
      },
      g, x, out);
}
void gelu_backward(const Operand& g, const Operand& x, bool tanh_form, const Operand& out) {
  tanh_form ? binary(kMathGrain, GeluTanh{}, g, x, out) : binary(kMathGrain, GeluErf{}, g, x, out);
}

}  // namespace weft::kernels::cpu
