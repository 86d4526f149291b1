// Exponentials, logarithms, trigonometric functions and their inverses, error functions.
#include "tensor/kernels/cpu/base/vector_compensated.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/unary.h"

namespace weft::kernels::cpu {
namespace {

// sin for quarter 0, cos for quarter 1.
template <uint32_t quarter> struct SineOf {
  template <class V> V operator()(V x) const { return vmath::sine<quarter>(x); }
  vmath::Doubles operator()(vmath::Doubles x) const { return quarter == 0 ? vmath::sin(x) : vmath::cos(x); }
};

/// Doubles come in registers, floats one by one.
struct TangentOf {
  template <class T> static constexpr bool kOnRegisters = std::is_same_v<T, double>;
  bool slow_case(float x) const { return !(std::fabs(x) <= vmath::kTrigonometricLimit); }
  float slow(float x) const { return std::tan(x); }
  float operator()(float x) const { return vmath::tan_quarter(x); }
  vmath::Doubles operator()(vmath::Doubles x) const { return vmath::tan(x); }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Exp, floating(kMathGrain, on_registers([](auto v) { return vmath::exp(v); }), x, out))
WEFT_UNARY_KERNEL(Log, floating(kMathGrain, on_registers([](auto v) { return vmath::log(v); }), x, out))
WEFT_UNARY_KERNEL(Log1p, floating(kMathGrain, on_registers([](auto v) { return vmath::log1p(v); }), x, out))
WEFT_UNARY_KERNEL(Tanh, floating(kMathGrain, on_registers([](auto v) { return vmath::tanh(v); }), x, out))
WEFT_UNARY_KERNEL(Erf, floating(kMathGrain, on_registers([](auto v) { return vmath::erf(v); }), x, out))
WEFT_UNARY_KERNEL(Expm1, floating(kMathGrain, on_registers([](auto v) { return vmath::expm1(v); }), x, out))
WEFT_UNARY_KERNEL(Exp2, floating(kMathGrain, on_registers([](auto v) { return vmath::exp2(v); }), x, out))
WEFT_UNARY_KERNEL(Log2, floating(kMathGrain, on_registers([](auto v) { return vmath::log2(v); }), x, out))
WEFT_UNARY_KERNEL(Log10, floating(kMathGrain, on_registers([](auto v) { return vmath::log10(v); }), x, out))
WEFT_UNARY_KERNEL(Atan, floating(kMathGrain, on_registers([](auto v) { return vmath::atan(v); }), x, out))
WEFT_UNARY_KERNEL(Sinh, floating(kMathGrain, on_registers([](auto v) { return vmath::sinh(v); }), x, out))
WEFT_UNARY_KERNEL(Cosh, floating(kMathGrain, on_registers([](auto v) { return vmath::cosh(v); }), x, out))
WEFT_UNARY_KERNEL(Asin, floating(kMathGrain, on_registers([](auto v) { return vmath::asin(v); }), x, out))
WEFT_UNARY_KERNEL(Acos, floating(kMathGrain, on_registers([](auto v) { return vmath::acos(v); }), x, out))
WEFT_UNARY_KERNEL(Asinh, floating(kMathGrain, on_registers([](auto v) { return vmath::asinh(v); }), x, out))
WEFT_UNARY_KERNEL(Acosh, floating(kMathGrain, on_registers([](auto v) { return vmath::acosh(v); }), x, out))
WEFT_UNARY_KERNEL(Atanh, floating(kMathGrain, on_registers([](auto v) { return vmath::atanh(v); }), x, out))
WEFT_UNARY_KERNEL(Erfc, floating(kMathGrain, on_registers([](auto v) { return vmath::erfc(v); }), x, out))
WEFT_UNARY_KERNEL(Tan, floating(kMathGrain, TangentOf{}, x, out))
WEFT_UNARY_KERNEL(Sin, floating(kMathGrain, on_registers(SineOf<0>{}), x, out))
WEFT_UNARY_KERNEL(Cos, floating(kMathGrain, on_registers(SineOf<1>{}), x, out))

}  // namespace weft
