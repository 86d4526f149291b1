#include "tensor/ops/linear.h"

#include <type_traits>

#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/gemm/gemm.h"

namespace weft::kernels::cpu {
namespace {

/// Every row of `out` becomes the bias.
template <class T> void fill_rows(const Operand& bias, Matrix<T> out) {
  copy_matrix<T, T>({bias.data<T>(), out.rows, out.columns, 0, bias.stride(0)}, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// Any strides. The bias is part of the sum: half precision rounds once. K = 0 gives the bias.
void op::Linear::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_number(out.dtype, [&]<class T>() {
    const auto rows = matrix_of<const T>(x, 0), columns = matrix_of<const T>(weight, 0).transposed();
    const auto result = matrix_of<T>(out, 0);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, BFloat16>)
      if (bias.defined() && bias.stride(0) == 1 && biased_gemm(rows, columns, bias.data<T>(), result)) return;
    if (bias.defined()) fill_rows<T>(bias, result);
    gemm<T>(rows, columns, result, bias.defined());
  });
}

}  // namespace weft
