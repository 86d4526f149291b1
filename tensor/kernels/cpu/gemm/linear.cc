#include "tensor/kernels/cpu/gemm/linear.h"

#include <type_traits>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/gemm/gemm.h"

namespace weft::kernels::cpu {
namespace {

template <class T>
Matrix<T> matrix_of(const Operand& x) {
  return {x.data<T>(), x.size(0), x.size(1), x.stride(0), x.stride(1)};
}

/// Every row of `out` becomes the bias.
template <class T>
void fill_rows(const Operand& bias, Matrix<T> out) {
  copy_matrix<T, T>({bias.data<T>(), out.rows, out.columns, 0, bias.stride(0)}, out);
}

}  // namespace

void linear(const Operand& x, const Operand& weight, const Operand* bias, const Operand& out) {
  if (out.numel() == 0) return;
  visit_dtype(out.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      throw DtypeError("products accept floating and integer dtypes, not bool");
    } else {
      const auto rows = matrix_of<const T>(x), columns = matrix_of<const T>(weight).transposed();
      const auto result = matrix_of<T>(out);
      if constexpr (std::is_same_v<T, float>)
        if (bias != nullptr && bias->stride(0) == 1 && biased_gemm(rows, columns, bias->data<T>(), result)) return;
      if (bias != nullptr) fill_rows<T>(*bias, result);
      gemm<T>(rows, columns, result, bias != nullptr);
    }
  });
}

}  // namespace weft::kernels::cpu
