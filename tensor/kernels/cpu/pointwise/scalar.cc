// Arithmetic of a tensor with a number.
#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/unary.h"

namespace weft::kernels::cpu {
namespace {

// out = f(x, value), the value in the type the kernel computes in.
template <class F> void number(const F& f, const Operand& x, const Scalar& value, const Operand& out) {
  visit_number(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    elementwise<T, T>(kCheapGrain, few_instructions([&f, v = scalar_as<C>(value)](C e) { return f(e, v); }), out, x);
  });
}

template <class F> void floating(const F& f, const Operand& x, const Scalar& value, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() {
    using C = Compute<T>;
    elementwise<T, T>(kCheapGrain, few_instructions([&f, v = scalar_as<C>(value)](C e) { return f(e, v); }), out, x);
  });
}

// Whether a cheaper function took the exponent.
bool pow_special(const Operand& x, double exponent, const Operand& out) {
  if (exponent == 2) return op::Square{}.cpu(x, out), true;
  if (!is_floating(x.dtype)) return false;
  if (exponent == 0.5) return op::Sqrt{}.cpu(x, out), true;
  if (exponent == -0.5) return op::Rsqrt{}.cpu(x, out), true;
  if (exponent == -1) return op::Reciprocal{}.cpu(x, out), true;
  if (exponent == 3) return floating([](auto v, auto) { return v * v * v; }, x, 3, out), true;
  if (exponent == -2) return floating([](auto v, auto) { return 1 / (v * v); }, x, -2, out), true;
  if (exponent == 1) return floating([](auto v, auto) { return v; }, x, 1, out), true;
  return false;
}

/// out = the power of x and the value, of which `kValueIsBase` says which is the base. An integer base may wrap as the
/// result does; an exponent may not.
template <bool kValueIsBase> void powers(const Operand& x, const Scalar& value, const Operand& out) {
  visit_number(x.dtype, [&]<class T>() {
    using Value = std::conditional_t<std::is_integral_v<T> && !kValueIsBase, int64_t, Compute<T>>;
    const auto power_of = [v = scalar_as<Value>(value)](auto e) {
      if constexpr (std::is_arithmetic_v<decltype(e)>) {
        return kValueIsBase ? power(v, e) : power(e, v);
      } else {
        const decltype(e) all = vmath::splat<decltype(e)>(v);
        return kValueIsBase ? vmath::pow(all, e) : vmath::pow(e, all);
      }
    };
    elementwise<T, T>(kSlowGrain, on_registers(power_of), out, x);
  });
}

void pow_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  if (!pow_special(x, value.to_double(), out)) powers<false>(x, value, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

// clang-format off
WEFT_UNARY_KERNEL(AddScalar, number([](auto e, auto v) { return wrapping_add(e, v); }, x, value, out))
WEFT_UNARY_KERNEL(RsubScalar, number([](auto e, auto v) { return wrapping_sub(v, e); }, x, value, out))
WEFT_UNARY_KERNEL(MulScalar, number([](auto e, auto v) { return wrapping_mul(e, v); }, x, value, out))
WEFT_UNARY_KERNEL(DivScalar, floating([](auto e, auto v) { return e / v; }, x, value, out))
WEFT_UNARY_KERNEL(RdivScalar, floating([](auto e, auto v) { return v / e; }, x, value, out))
WEFT_UNARY_KERNEL(PowScalar, pow_scalar(x, value, out))
WEFT_UNARY_KERNEL(RpowScalar, powers<true>(x, value, out))
// clang-format on

}  // namespace weft
