// Functions of one tensor whose doubles are the C library's: floats by registers, or the library's too.
#include <cmath>

#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/unary.h"

namespace weft {
using namespace kernels::cpu;

#define WEFT_LIBRARY_KERNEL(Op, function) \
  WEFT_UNARY_KERNEL(Op, floating(         \
                            kSlowGrain, [](auto v) { return std::function(v); }, x, out))

#define WEFT_VECTOR_KERNEL(Op, function) \
  WEFT_UNARY_KERNEL(Op, floating(kMathGrain, on_registers([](auto v) { return vmath::function(v); }), x, out))

WEFT_VECTOR_KERNEL(Asin, asin)
WEFT_VECTOR_KERNEL(Acos, acos)
WEFT_VECTOR_KERNEL(Atanh, atanh)
WEFT_VECTOR_KERNEL(Erfc, erfc)
WEFT_LIBRARY_KERNEL(Asinh, asinh)
WEFT_LIBRARY_KERNEL(Acosh, acosh)

}  // namespace weft
