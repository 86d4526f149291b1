#include "tensor/kernels/cpu/base/matrix.h"

#include "tensor/kernels/cpu/base/transpose.h"

namespace weft::kernels::cpu::detail {
namespace {

constexpr int64_t kCopyTile = 32;

/// One tile of a copy from a row stride of 1 to a column stride of 1: through registers or a buffer, since rows a
/// power of two apart map to few sets of the L1 cache.
template <class From, class To> void transpose_tile(Matrix<const From> from, Matrix<To> to) {
  if constexpr (std::is_same_v<From, To>)
    if (from.row_stride == 1 && to.column_stride == 1)
      return simd::transpose_copy(from.data, from.column_stride, to.data, to.row_stride, to.columns, to.rows);
  To buffer[kCopyTile * kCopyTile];
  for (int64_t j = 0; j < to.columns; ++j)
    for (int64_t i = 0; i < to.rows; ++i)
      buffer[i * kCopyTile + j] = static_cast<To>(from.data[i * from.row_stride + j * from.column_stride]);
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j)
      to.data[i * to.row_stride + j * to.column_stride] = buffer[i * kCopyTile + j];
}

}  // namespace

template <class From, class To> void copy_elements(Matrix<const From> from, Matrix<To> to) {
  if (to.row_stride == 1 && to.column_stride != 1) from = from.transposed(), to = to.transposed();
  if (from.column_stride == 1 && from.row_stride == to.columns && to.column_stride == 1 && to.row_stride == to.columns)
    return copy_run(from.data, to.data, to.rows * to.columns);
  if (from.column_stride == 1 || from.column_stride < from.row_stride) {  // both are read in order
    for (int64_t i = 0; i < to.rows; ++i) {
      const From* in = from.data + i * from.row_stride;
      To* out = to.data + i * to.row_stride;
      if (from.column_stride == 1 && to.column_stride == 1)
        copy_run(in, out, to.columns);
      else
        for (int64_t j = 0; j < to.columns; ++j)
          // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): an empty matrix, which has no memory, has no columns
          out[j * to.column_stride] = static_cast<To>(in[j * from.column_stride]);
    }
    return;
  }
  if constexpr (std::is_same_v<From, To>)
    if (from.row_stride == 1 && to.column_stride == 1 &&
        simd::copy_interleaved(from.data, from.column_stride, to.data, to.row_stride, to.columns, to.rows))
      return;
  for (int64_t i = 0; i < to.rows; i += kCopyTile)
    for (int64_t j = 0; j < to.columns; j += kCopyTile) {
      const int64_t rows = std::min(kCopyTile, to.rows - i), columns = std::min(kCopyTile, to.columns - j);
      transpose_tile<From, To>(from.block(i, j, rows, columns), to.block(i, j, rows, columns));
    }
}

template <class From, class To> void copy_elements_on_threads(Matrix<const From> from, Matrix<To> to) {
  if (to.rows == 0 || to.columns == 0) return;
  if (to.rows < to.columns) return copy_elements_on_threads<From, To>(from.transposed(), to.transposed());
  const int64_t grain = std::max<int64_t>(32, 32768 / to.columns);
  if (to.rows < 2 * grain) return copy_elements<From, To>(from, to);
  parallel_for(to.rows, grain, [&](int64_t begin, int64_t end) {
    copy_elements<From, To>(from.block(begin, 0, end - begin, to.columns), to.block(begin, 0, end - begin, to.columns));
  });
}

#define WEFT_COPIES(FROM, TO)                                            \
  template void copy_elements<FROM, TO>(Matrix<const FROM>, Matrix<TO>); \
  template void copy_elements_on_threads<FROM, TO>(Matrix<const FROM>, Matrix<TO>);
#define WEFT_COPIES_AND_BACK(A, B) WEFT_COPIES(A, B) WEFT_COPIES(B, A)
WEFT_COPIES(uint8_t, uint8_t)
WEFT_COPIES(uint16_t, uint16_t)
WEFT_COPIES(uint32_t, uint32_t)
WEFT_COPIES(uint64_t, uint64_t)
WEFT_COPIES_AND_BACK(float, double)
WEFT_COPIES_AND_BACK(float, BFloat16)
WEFT_COPIES_AND_BACK(float, Float16)
WEFT_COPIES_AND_BACK(double, BFloat16)
WEFT_COPIES_AND_BACK(double, Float16)
WEFT_COPIES_AND_BACK(BFloat16, Float16)
#undef WEFT_COPIES_AND_BACK
#undef WEFT_COPIES

}  // namespace weft::kernels::cpu::detail
