// Functions of one tensor that are the C library's.
#include <cmath>

#include "tensor/kernels/cpu/pointwise/unary_loops.h"
#include "tensor/ops/unary.h"

namespace weft {
using namespace kernels::cpu;

#define WEFT_LIBRARY_KERNEL(Op, function) \
  WEFT_UNARY_KERNEL(Op, floating(         \
                            kSlowGrain, [](auto v) { return std::function(v); }, x, out))

WEFT_LIBRARY_KERNEL(Asin, asin)
WEFT_LIBRARY_KERNEL(Acos, acos)
WEFT_LIBRARY_KERNEL(Asinh, asinh)
WEFT_LIBRARY_KERNEL(Acosh, acosh)
WEFT_LIBRARY_KERNEL(Atanh, atanh)
WEFT_LIBRARY_KERNEL(Erfc, erfc)

}  // namespace weft
