#include "tensor/ops/matmul.h"

#include <array>
#include <type_traits>

#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/merge_axes.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/rounded_matrix.h"

namespace weft::kernels::cpu {
namespace {

/// A batch axis: its size and the strides of a, b and out along it.
struct BatchAxis {
  int64_t size;
  std::array<int64_t, 3> stride;
};

template <class T> struct Batched {
  Matrix<const T> a, b;
  Matrix<T> out;
  std::array<BatchAxis, kMaxAxes> axes;
  int count = 0;
};

/// Batch axes without those of size 1, adjacent ones merged where one stride per operand describes both.
template <class T> void add_axis(Batched<T>& p, BatchAxis axis) {
  if (axis.size == 1) return;
  if (p.count > 0) {
    BatchAxis& outer = p.axes[static_cast<size_t>(p.count - 1)];
    if (merges(outer.stride.data(), axis.stride.data(), axis.size, 3)) {
      outer = {outer.size * axis.size, axis.stride};
      return;
    }
  }
  p.axes[static_cast<size_t>(p.count++)] = axis;
}

/// Folds the innermost batch axis into the rows (where b is shared) or the columns (where a is) if strides allow.
template <class T> void fold(Batched<T>& p) {
  while (p.count > 0) {
    const BatchAxis& axis = p.axes[static_cast<size_t>(p.count - 1)];
    const auto [in_a, in_b, in_out] = axis.stride;
    // A single row has no stride of its own: it takes the batch's.
    const int64_t a_rows = p.a.rows == 1 ? in_a : p.a.row_stride, out_rows = p.a.rows == 1 ? in_out : p.out.row_stride;
    const int64_t b_columns = p.b.columns == 1 ? in_b : p.b.column_stride;
    const int64_t out_columns = p.b.columns == 1 ? in_out : p.out.column_stride;
    if (in_b == 0 && in_a == a_rows * p.a.rows && in_out == out_rows * p.out.rows) {
      p.a.row_stride = a_rows, p.out.row_stride = out_rows;
      p.a.rows *= axis.size, p.out.rows *= axis.size;
    } else if (in_a == 0 && in_b == b_columns * p.b.columns && in_out == out_columns * p.out.columns) {
      p.b.column_stride = b_columns, p.out.column_stride = out_columns;
      p.b.columns *= axis.size, p.out.columns *= axis.size;
    } else {
      return;
    }
    --p.count;
  }
}

template <class T> Matrix<T> innermost(const Operand& x) {
  const int64_t r = x.rank();
  return {x.data<T>(), x.size(r - 2), x.size(r - 1), x.stride(r - 2), x.stride(r - 1)};
}

/// Products of kN x kN matrices with kColumns columns along a batch axis: a call of gemm() for each would take longer
/// than the product.
template <class T, int kN, int kColumns>
void small_squares(const BatchAxis& axis, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out) {
  parallel_for(axis.size, 4096, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *left = a.data + i * axis.stride[0], *right = b.data + i * axis.stride[1];
      T sums[kN][kColumns] = {};
      for (int k = 0; k < kN; ++k)
        for (int r = 0; r < kN; ++r)
          for (int c = 0; c < kColumns; ++c)
            sums[r][c] += left[r * a.row_stride + k * a.column_stride] * right[k * b.row_stride + c * b.column_stride];
      T* to = out.data + i * axis.stride[2];
      for (int r = 0; r < kN; ++r)
        for (int c = 0; c < kColumns; ++c) to[r * out.row_stride + c * out.column_stride] = sums[r][c];
    }
  });
}
/// The same of rows with columns: dot products of up to kLongestSmallDot terms, a few side by side.
constexpr int64_t kLongestSmallDot = 16;
template <class T>
void small_dots(const BatchAxis& axis, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out) {
  constexpr int64_t kTogether = 16;
  parallel_for(axis.size, 4096, [=](int64_t begin, int64_t end) {
    const auto some = [&](int64_t i, int64_t count) __attribute__((always_inline)) {
      T sums[kTogether] = {};
      const T *left = a.data + i * axis.stride[0], *right = b.data + i * axis.stride[1];
      for (int64_t k = 0; k < a.columns; ++k, left += a.column_stride, right += b.row_stride)
        for (int64_t r = 0; r < count; ++r) sums[r] += left[r * axis.stride[0]] * right[r * axis.stride[1]];
      for (int64_t r = 0; r < count; ++r) out.data[(i + r) * axis.stride[2]] = sums[r];
    };
    int64_t i = begin;
    for (; i + kTogether <= end; i += kTogether) some(i, kTogether);
    if (i < end) some(i, end - i);
  });
}
/// False where it is no batch of such products: nothing was done.
template <class T>
bool small_products(const BatchAxis& axis, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out) {
  if (a.rows == 1 && b.columns > 1)
    return small_products({axis.size, {axis.stride[1], axis.stride[0], axis.stride[2]}}, b.transposed(), a.transposed(),
                          out.transposed());
  if (a.rows == 1 && b.columns == 1 && a.columns <= kLongestSmallDot) return small_dots(axis, a, b, out), true;
  if (a.rows != a.columns) return false;
  if (b.columns == a.rows && a.rows == 2) return small_squares<T, 2, 2>(axis, a, b, out), true;
  if (b.columns == a.rows && a.rows == 3) return small_squares<T, 3, 3>(axis, a, b, out), true;
  if (b.columns != 1) return false;
  // Larger ones are no faster so where their columns are contiguous (10 x 10: 24 instead of 21 ns).
  switch (a.rows) {
    case 2: return small_squares<T, 2, 1>(axis, a, b, out), true;
    case 3: return small_squares<T, 3, 1>(axis, a, b, out), true;
    case 4: return small_squares<T, 4, 1>(axis, a, b, out), true;
    case 5: return small_squares<T, 5, 1>(axis, a, b, out), true;
    case 6: return small_squares<T, 6, 1>(axis, a, b, out), true;
    case 7: return small_squares<T, 7, 1>(axis, a, b, out), true;
    case 8: return small_squares<T, 8, 1>(axis, a, b, out), true;
    case 9: return small_squares<T, 9, 1>(axis, a, b, out), true;
    default: return false;
  }
}

/// (Not inlined: its frame would slow down small products.)
template <class T> [[gnu::noinline]] void run_batches(const Operand& a, const Operand& b, const Operand& out) {
  Batched<T> p{innermost<T>(a), innermost<T>(b), innermost<T>(out), {}, 0};
  for (int64_t i = 0; i + 2 < a.rank(); ++i) add_axis(p, {a.size(i), {a.stride(i), b.stride(i), out.stride(i)}});
  fold(p);
  int64_t batches = 1;
  for (int i = 0; i < p.count; ++i) batches *= p.axes[static_cast<size_t>(i)].size;
  const auto one = [&](int64_t index) {
    Matrix<const T> one_a = p.a, one_b = p.b;
    Matrix<T> one_out = p.out;
    for (int i = p.count - 1; i >= 0; --i) {
      const BatchAxis& axis = p.axes[static_cast<size_t>(i)];
      // The outermost axis takes what is left: a division costs as much as a tenth of a small product.
      const int64_t at = i > 0 ? index % axis.size : index;
      if (i > 0) index /= axis.size;
      one_a.data += at * axis.stride[0], one_b.data += at * axis.stride[1], one_out.data += at * axis.stride[2];
    }
    gemm<T>(one_a, one_b, one_out);
  };
  if (batches == 1) return one(0);
  if constexpr (std::is_floating_point_v<T>)
    if (p.count == 1 && !loops_forced() && small_products(p.axes[0], p.a, p.b, p.out)) return;
  if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int)) {  // unsigned: overflow wraps around
    using U = std::make_unsigned_t<T>;
    if (p.count == 1 && !loops_forced() &&
        small_products<U>(p.axes[0], as_elements<const U>(p.a), as_elements<const U>(p.b), as_elements<U>(p.out)))
      return;
  }
  for_each_matrix(batches, multiplications(p.a, p.b), one, 64 * 64 * 64);
}

template <class T> void product(const Operand& a, const Operand& b, const Operand& out) {
  if (out.rank() == 2)
    gemm<T>(innermost<const T>(a), innermost<const T>(b), innermost<T>(out));
  else
    run_batches<T>(a, b, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// The batch axes are equal (broadcast ones have stride 0). Transposed operands are read in place; strides that no
/// library takes are packed first. Batches that strides allow are folded into one product. K = 0 gives zeros. What
/// computes each dtype: gemm.h.
void op::Matmul::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_number(out.dtype, [&]<class T>() { product<T>(a, b, out); });
}

/// Any strides. Operands of another dtype are rounded to copies in their memory order.
void op::RoundedMatmul::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(operands, [&]<class T>() {
    const RoundedMatrix<T> left(a), right(b);
    if (result == operands) return gemm<T>(left.matrix(), right.matrix(), matrix_of<T>(out, 0));
    if constexpr (is_half<T>) widening_gemm<T>(left.matrix(), right.matrix(), matrix_of<float>(out, 0));
  });
}

}  // namespace weft
