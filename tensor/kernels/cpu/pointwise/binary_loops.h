// The loop of element-wise functions of two floating tensors, and the form of the kernel rows of all functions of two:
//
//   WEFT_BINARY_KERNEL(Hypot, floating_pair(kCheapGrain, HypotOf{}, a, b, out))
#pragma once

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

#define WEFT_BINARY_KERNEL(Op, ...) \
  void op::Op::cpu(const Operand& a, const Operand& b, const Operand& out) const { __VA_ARGS__; }

namespace weft::kernels::cpu {

/// Two operands of one dtype: f32, f64, bf16 and f16, the halves computed in float.
template <class F>
void floating_pair(int64_t grain, const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_floating(a.dtype, [&]<class T>() { elementwise<T, T, T>(grain, f, out, a, b); });
}

}  // namespace weft::kernels::cpu
