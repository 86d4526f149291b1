// Inverse functions, and what else is computed in double.
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/unary.h"

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Asin, floating(kMathGrain, on_registers([](auto v) { return vmath::asin(v); }), x, out))
WEFT_UNARY_KERNEL(Acos, floating(kMathGrain, on_registers([](auto v) { return vmath::acos(v); }), x, out))
WEFT_UNARY_KERNEL(Asinh, floating(kMathGrain, on_registers([](auto v) { return vmath::asinh(v); }), x, out))
WEFT_UNARY_KERNEL(Acosh, floating(kMathGrain, on_registers([](auto v) { return vmath::acosh(v); }), x, out))
WEFT_UNARY_KERNEL(Atanh, floating(kMathGrain, on_registers([](auto v) { return vmath::atanh(v); }), x, out))
WEFT_UNARY_KERNEL(Erfc, floating(kMathGrain, on_registers([](auto v) { return vmath::erfc(v); }), x, out))

}  // namespace weft
