#include "tensor/kernels/cpu/where.h"

#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/elementwise.h"

namespace weft::kernels::cpu {

void where(const Operand& condition, const Operand& a, const Operand& b, const Operand& out) {
  visit_size(out.dtype, [&]<class T>() {
    elementwise<T, bool, T, T>(
        kCheapGrain, [](uint8_t c, T x, T y) { return c != 0 ? x : y; }, out, condition, a, b);
  });
}

}  // namespace weft::kernels::cpu
