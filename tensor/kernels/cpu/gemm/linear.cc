#include "tensor/ops/linear.h"

#include <algorithm>
#include <type_traits>

#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/rounded_matrix.h"

namespace weft::kernels::cpu {
namespace {

/// Every row of `out` becomes the bias.
template <class T> void fill_rows(const Operand& bias, Matrix<T> out) {
  if (out.columns == 1 && out.row_stride == 1) {
    std::fill_n(out.data, out.rows, *bias.data<T>());
    return;
  }
  copy_matrix<T, T>({bias.data<T>(), out.rows, out.columns, 0, bias.stride(0)}, out);
}

/// x's rows times the weight, both of dtype T as the bias is.
template <class T>
void rows_times_weight(const Operand& x, const Matrix<const T>& weight, const Operand& bias, const Operand& out) {
  const auto rows = matrix_of<const T>(x, 0), columns = weight.transposed();
  const auto result = matrix_of<T>(out, 0);
  if constexpr (std::is_same_v<T, float> || is_half<T>)
    if (bias.defined() && bias.stride(0) == 1 && biased_gemm(rows, columns, bias.data<T>(), result)) return;
  if (bias.defined()) fill_rows<T>(bias, result);
  gemm<T>(rows, columns, result, bias.defined());
}

/// The same with a weight and a bias whose values are rounded to T first.
template <class T>
void rows_times_rounded(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) {
  const RoundedMatrix<T> rounded(weight);
  if (!bias.defined() || bias.dtype == out.dtype) return rows_times_weight<T>(x, rounded.matrix(), bias, out);
  const Scratch<T> values(bias.size(0));
  copy_matrix_serial<float, T>({bias.data<float>(), 1, bias.size(0), 0, bias.stride(0)},
                               row_major(values.data(), 1, bias.size(0)));
  const View dense = View::contiguous(bias.shape());
  rows_times_weight<T>(x, rounded.matrix(), {values.data(), &dense, out.dtype, bias.device}, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// Any strides. The bias is part of the sum: half precision rounds once. K = 0 gives the bias.
void op::Linear::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_number(out.dtype, [&]<class T>() {
    if constexpr (is_half<T>) return rows_times_rounded<T>(x, weight, bias, out);
    rows_times_weight<T>(x, matrix_of<const T>(weight, 0), bias, out);
  });
}

}  // namespace weft
