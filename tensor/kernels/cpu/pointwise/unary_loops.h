// The loops of element-wise functions of one tensor, and the form of their kernel rows:
//
//   WEFT_UNARY_KERNEL(Exp, floating(kMathGrain, on_registers([](auto v) { return vmath::exp(v); }), x, out))
#pragma once

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

#define WEFT_UNARY_KERNEL(Op, ...) \
  void op::Op::cpu(const Operand& x, const Operand& out) const { __VA_ARGS__; }

namespace weft::kernels::cpu {

/// f32, f64, bf16 and f16, the halves computed in float.
template <class F> void floating(int64_t grain, const F& f, const Operand& x, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { elementwise<T, T>(grain, f, out, x); });
}
/// All dtypes but bool.
template <class F> void number(const F& f, const Operand& x, const Operand& out) {
  visit_number(x.dtype, [&]<class T>() { elementwise<T, T>(kCheapGrain, f, out, x); });
}
/// Any dtype to bool.
template <class F> void predicate(const F& f, const Operand& x, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { elementwise<bool, T>(kCheapGrain, f, out, x); });
}

}  // namespace weft::kernels::cpu
