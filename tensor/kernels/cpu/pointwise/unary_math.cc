// The transcendental functions of unary.h.
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/unary.h"

namespace weft::kernels::cpu {
namespace {

template <class F>
void floating(const F& f, const Operand& x, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { elementwise<T, T>(kMathGrain, f, out, x); });
}

// sin for quarter 0, cos for quarter 1.
template <uint32_t quarter>
struct Trigonometric {
  float operator()(float x) const { return vmath::sin_quarter(x, quarter); }
  double operator()(double x) const { return quarter == 0 ? std::sin(x) : std::cos(x); }
  bool slow_case(std::same_as<float> auto x) const { return !(std::fabs(x) <= vmath::kTrigonometricLimit); }
  float slow(float x) const { return quarter == 0 ? std::sin(x) : std::cos(x); }
};

}  // namespace

void exp(const Operand& x, const Operand& out) {
  floating(on_registers([](auto v) { return vmath::exp(v); }), x, out);
}
void log(const Operand& x, const Operand& out) {
  floating(on_registers([](auto v) { return vmath::log(v); }), x, out);
}
void log1p(const Operand& x, const Operand& out) {
  floating(on_registers([](auto v) { return vmath::log1p(v); }), x, out);
}
void tanh(const Operand& x, const Operand& out) {
  floating(on_registers([](auto v) { return vmath::tanh(v); }), x, out);
}
void erf(const Operand& x, const Operand& out) {
  floating(on_registers([](auto v) { return vmath::erf(v); }), x, out);
}
void sin(const Operand& x, const Operand& out) { floating(Trigonometric<0>{}, x, out); }
void cos(const Operand& x, const Operand& out) { floating(Trigonometric<1>{}, x, out); }

}  // namespace weft::kernels::cpu
