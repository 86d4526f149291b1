#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/compare.h"

namespace weft {
using namespace kernels::cpu;

void op::Where::cpu(const Operand& condition, const Operand& a, const Operand& b, const Operand& out) const {
  visit_size(out.dtype, [&]<class T>() {
    elementwise<T, bool, T, T>(
        kCheapGrain, [](uint8_t c, T x, T y) { return c != 0 ? x : y; }, out, condition, a, b);
  });
}

}  // namespace weft
