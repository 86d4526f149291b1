#include "tensor/kernels/cpu/gemm/gemm.h"

#include <type_traits>

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/gemm/bf16_gemm.h"
#include "tensor/kernels/cpu/gemm/half_gemm.h"
#include "tensor/kernels/cpu/gemm/long_sums.h"
#include "tensor/kernels/cpu/gemm/loop_gemm.h"
#include "tensor/kernels/cpu/gemm/narrow_product.h"
#include "tensor/kernels/cpu/gemm/packed_gemm.h"
#include "tensor/kernels/cpu/gemm/product_parts.h"
#include "tensor/kernels/cpu/gemm/scratch_matrix.h"

namespace weft::kernels::cpu {
namespace {

/// A stride along an axis of size 1 never matters: give it the value that libraries accept.
template <class T> Matrix<T> normalized(Matrix<T> m) {
  if (m.columns == 1 && m.row_stride != 1) m.column_stride = 1;
  if (m.rows == 1 && m.column_stride == 1) m.row_stride = m.columns;
  if (m.rows == 1 && m.column_stride != 1) m.row_stride = 1;
  if (m.columns == 1 && m.row_stride == 1) m.column_stride = m.rows;
  return m;
}

template <class T> bool is_tiny(const Matrix<const T>& a, const Matrix<const T>& b) {
  // A single column fills one lane of a register: the smallest are sgemm's already.
  if (std::is_same_v<T, float> && b.columns == 1) return multiplications(a, b) <= 1000;
  return a.rows * b.columns <= kTinyProduct && multiplications(a, b) <= kTinyProduct;
}

/// Runs `product` on operands that libraries accept: what has other strides is copied first, and c copied back.
template <class T, class Product>
void with_blas_operands(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate, Product&& product) {
  a = normalized(a), b = normalized(b), c = normalized(c);
  if (!onednn::is_blas(a)) {
    const ScratchMatrix<T> copy(a);
    return with_blas_operands<T>(copy, b, c, accumulate, product);
  }
  if (!onednn::is_blas(b)) {
    const ScratchMatrix<T> copy(b);
    return with_blas_operands<T>(a, copy, c, accumulate, product);
  }
  if (!onednn::is_blas(c)) {
    const ScratchMatrix<T> dense(c.rows, c.columns);
    if (accumulate) copy_matrix<T, T>(c, dense);
    with_blas_operands<T>(a, b, dense, accumulate, product);
    return copy_matrix<T, T>(dense, c);
  }
  if (c.column_stride != 1 || c.row_stride < c.columns)
    return product(b.transposed(), a.transposed(), c.transposed(), accumulate);
  product(a, b, c, accumulate);
}

void f32_gemm(const Matrix<const float>& a, const Matrix<const float>& b, const Matrix<float>& c, bool accumulate) {
  if (loops_forced()) return loop_gemm<float>(a, b, c, accumulate);
  if (is_tiny(a, b)) return small_gemm<float>(a, b, c, accumulate);
  with_blas_operands(a, b, c, accumulate, [](auto left, auto right, auto out, bool add) {
    if (prefers_packed(left, right)) return packed_gemm<float>(left, right, out, add);
    if (!add && onednn::prefers_primitive(left, right, false) && onednn::biased_gemm(left, right, nullptr, out)) return;
    // Where both are transposed and c has few rows, sgemm takes up to forty times as long (oneDNN 2.6 with AVX-512).
    const bool few_rows = (out.rows < 64 || (out.rows < 256 && out.columns >= 64)) && left.columns > 1;
    if (few_rows && left.column_stride != 1 && right.column_stride != 1) {
      return f32_gemm(ScratchMatrix<float>(left), right, out, add);
    }
    // Parts of whole tiles of sgemm's. Its own threads are not used (see there), and are slower besides.
    constexpr int64_t kRows = 8, kColumns = 48;
    for_product_parts(out.rows, out.columns, kRows, kColumns, product_threads(left, right),
                      [&, left = left, right = right, out = out](int64_t i, int64_t j, int64_t rows, int64_t columns) {
                        onednn::sgemm(left.block(i, 0, rows, left.columns), right.block(0, j, right.rows, columns),
                                      out.block(i, j, rows, columns), add);
                      });
  });
}

/// f32 or f64, in weft's own kernels.
template <class T>
void own_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  if (loops_forced()) return loop_gemm<T>(a, b, c, accumulate);
  if (is_tiny(a, b)) return small_gemm<T>(a, b, c, accumulate);
  with_blas_operands(a, b, c, accumulate,
                     [](auto left, auto right, auto out, bool add) { packed_gemm<T>(left, right, out, add); });
}

/// bf16 and f16: everything in f32, rounded once at the end. Operands are tiny, unless loops are forced.
template <class T> void widened_gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  Scratch<float> left(checked_multiply(a.rows, a.columns)), right(checked_multiply(b.rows, b.columns));
  const ScratchMatrix<float> wide_c(c.rows, c.columns);
  const auto in_order_of = [](const Matrix<const T>& x, float* data) {  // the stride of 1 is of columns, or of rows
    return x.column_stride == 1 ? row_major(data, x.rows, x.columns) : row_major(data, x.columns, x.rows).transposed();
  };
  const auto wide_a = in_order_of(a, left.data()), wide_b = in_order_of(b, right.data());
  copy_matrix_serial<T, float>(a, wide_a);
  copy_matrix_serial<T, float>(b, wide_b);
  if (accumulate) copy_matrix_serial<T, float>(c, wide_c);
  f32_gemm(wide_a, wide_b, wide_c, accumulate);
  copy_matrix_serial<float, T>(wide_c, c);
}

/// Whether products of bf16 may take weft's own tile: the CPU has vdpbf16ps, and not AMX, for which oneDNN has kernels.
bool has_own_tile() { return bf16::has_fast_instruction() && !onednn::has_amx(); }

/// Whether weft's own tile for vdpbf16ps is faster than oneDNN's product, by sizes and strides alone. It is faster for
/// few multiplications, and for enough rows to pay for the packing of b. oneDNN is faster where b's columns leave most
/// of a register empty, and in tall products of short rows, unless a's column stride is 1.
bool prefers_own_tile(const Matrix<const BFloat16>& a, const Matrix<const BFloat16>& b) {
  if (!has_own_tile()) return false;
  if (is_tiny(a, b)) return true;
  if (b.columns < 16) return false;
  if (multiplications(a, b) <= 1 << 18) return a.column_stride == 1 || a.rows >= 16;
  return a.rows >= 256 && a.columns >= 128 && (a.rows <= 4096 || a.columns >= 384 || a.column_stride != 1);
}

/// bf16 with instructions for it where the CPU has fast ones; all else widened on the way to f32's. Operands as
/// libraries take them.
template <class T>
void fast_half_gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate,
                    const T* bias = nullptr) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (prefers_own_tile(a, b)) return bf16::gemm<T>(a, b, c, accumulate, bias);
    if (onednn::bf16_gemm(a, b, c, accumulate, bias)) return;
    if (has_own_tile()) return bf16::gemm<T>(a, b, c, accumulate, bias);
  }
  half_gemm<T, T>(a, b, c, accumulate, bias);
}

/// c = a b (+ c) for one column b, where a's rows or columns are contiguous. False where it is no such product: nothing
/// was done. (1u: products of 16 bits would be computed as int, and overflow.)
template <class U>
bool column_product(const Matrix<const U>& a, const Matrix<const U>& b, const Matrix<U>& c, bool accumulate) {
  const bool dots = a.column_stride == 1 && b.row_stride == 1;
  if (b.columns != 1 || (!dots && a.row_stride != 1)) return false;
  parallel_for(a.rows, ceil_div(int64_t{1} << 17, a.columns), [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin, terms = a.columns;
    const Scratch<U> memory(rows);
    U* __restrict const sums = memory.data();  // bytes may alias everything else
    std::fill_n(sums, rows, U{0});
    if (dots) {
      const U* __restrict const factor = b.data;
      for (int64_t i = 0; i < rows; ++i) {
        const U* __restrict const row = &a.at(begin + i, 0);
        U sum = 0;
        for (int64_t k = 0; k < terms; ++k) sum = static_cast<U>(sum + 1u * row[k] * factor[k]);
        sums[i] = sum;
      }
    } else {
      for (int64_t k = 0; k < terms; ++k) {
        const U* __restrict const column = &a.at(begin, k);
        const U factor = b.at(k, 0);
        for (int64_t i = 0; i < rows; ++i) sums[i] = static_cast<U>(sums[i] + 1u * column[i] * factor);
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      U& to = c.at(begin + i, 0);
      to = static_cast<U>(accumulate ? to + sums[i] : sums[i]);
    }
  });
  return true;
}

/// The same for up to `most` columns b, of which tiles would leave most empty: one after the other, for rows of a that
/// stay in the cache.
template <class U>
bool product_of_few_columns(const Matrix<const U>& a, const Matrix<const U>& b, const Matrix<U>& c, bool accumulate,
                            int64_t most) {
  constexpr int64_t kLeastTerms = std::max<int64_t>(16, 48 / sizeof(U)), kBytes = 1 << 14, kFewRows = 64;
  if (column_product<U>(a, b, c, accumulate)) return true;
  if (a.column_stride != 1 && a.rows < kFewRows) most = std::min<int64_t>(most, a.rows < kFewRows / 4 ? 2 : 4);
  if (b.columns > most || a.columns < kLeastTerms || (a.column_stride != 1 && a.row_stride != 1)) return false;
  const Scratch<U> memory(checked_multiply(b.columns, b.rows));
  const Matrix<U> columns = row_major(memory.data(), b.columns, b.rows).transposed();
  copy_matrix_serial<U, U>(b, columns);
  const int64_t fit = kBytes / static_cast<int64_t>(sizeof(U));  // columns of a are read in long runs
  const int64_t together = a.column_stride == 1 ? std::max<int64_t>(16, fit / a.columns) : fit;
  parallel_for(ceil_div(a.rows, together), ceil_div(int64_t{1} << 17, together * a.columns * b.columns),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin * together; i < std::min(end * together, a.rows); i += together)
                   for (int64_t j = 0; j < b.columns; ++j) {
                     const int64_t rows = std::min(together, a.rows - i);
                     column_product<U>(a.block(i, 0, rows, a.columns), columns.block(0, j, b.rows, 1),
                                       c.block(i, j, rows, 1), accumulate);
                   }
               });
  return true;
}

/// Integers as unsigned ones of their size, so that overflow wraps around.
template <class T> void wrapping_gemm(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, bool accumulate) {
  using U = std::make_unsigned_t<T>;
  const Matrix<const U> a = as_elements<const U>(left), b = as_elements<const U>(right);
  const Matrix<U> c = as_elements<U>(out);
  // Few rows leave most of a tile empty.
  constexpr int64_t kFewRows = 4, kFewColumns = 8, kOneThread = 1 << 18;
  const bool few_rows = a.rows <= kFewRows && b.column_stride == 1 && multiplications(a, b) <= kOneThread;
  if (a.rows > 1 && b.columns > 1 && (is_tiny(a, b) || few_rows)) return small_gemm<U>(a, b, c, accumulate);
  if (product_of_few_columns<U>(a, b, c, accumulate, kFewColumns)) return;
  if (product_of_few_columns<U>(b.transposed(), a.transposed(), c.transposed(), accumulate, kFewRows)) return;
  loop_gemm<U>(a, b, c, accumulate);
}

/// Empty products (oneDNN would divide by zero) and those of one or two columns. False where it is neither: nothing was
/// done.
template <class T>
bool needs_no_tiles(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  if (c.rows == 0 || c.columns == 0) return true;
  if (a.columns == 0) {
    if (!accumulate)
      for (int64_t i = 0; i < c.rows; ++i)
        for (int64_t j = 0; j < c.columns; ++j) c.at(i, j) = T{};
    return true;
  }
  if constexpr (!std::is_integral_v<T>) return !loops_forced() && narrow_product<T, T>(a, b, c, accumulate);
  return false;
}

}  // namespace

template <class T>
void own_gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  if (!needs_no_tiles(a, b, c, accumulate)) own_product<T>(a, b, c, accumulate);
}

template <class T> void gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  if (needs_no_tiles(a, b, c, accumulate)) return;
  if constexpr (!std::is_integral_v<T>)
    if (is_long_sum(a, b)) return gemm_by_parts(a, b, c, accumulate);
  if constexpr (std::is_same_v<T, float>) {
    f32_gemm(a, b, c, accumulate);
  } else if constexpr (std::is_same_v<T, double>) {
    own_product<double>(a, b, c, accumulate);
  } else if constexpr (std::is_integral_v<T>) {
    wrapping_gemm(a, b, c, accumulate);
  } else {
    const bool packs = std::is_same_v<T, BFloat16> && has_own_tile();  // at less than three copies in f32 cost
    if (loops_forced() || (is_tiny(a, b) && !packs)) return widened_gemm(a, b, c, accumulate);
    with_blas_operands(a, b, c, accumulate,
                       [](auto left, auto right, auto out, bool add) { fast_half_gemm<T>(left, right, out, add); });
  }
}

namespace {

/// Whether libraries take the operands of a product as they are, after this.
template <class T, class Out> bool normalize_for_library(Matrix<const T>& a, Matrix<const T>& b, Matrix<Out>& c) {
  if (c.rows == 0 || c.columns == 0 || a.columns == 0 || is_tiny(a, b) || loops_forced()) return false;
  if (is_long_sum(a, b)) return false;
  a = normalized(a), b = normalized(b), c = normalized(c);
  const bool rows_out = c.column_stride == 1 && c.row_stride >= c.columns;
  return rows_out && onednn::is_blas(a) && onednn::is_blas(b);
}

}  // namespace

template <class H> void widening_gemm(const Matrix<const H>& a, const Matrix<const H>& b, const Matrix<float>& c) {
  auto left = a, right = b;
  auto out = c;
  if (normalize_for_library(left, right, out)) {
    if (narrow_product<H, float>(left, right, out, false)) return;
    if constexpr (std::is_same_v<H, BFloat16>) {
      if (prefers_own_tile(left, right)) return bf16::gemm<float>(left, right, out, false);
      if (onednn::bf16_gemm(left, right, out)) return;
    }
    return half_gemm<H, float>(left, right, out, false);
  }
  gemm<float>(ScratchMatrix<float>(a), ScratchMatrix<float>(b), c);
}
template void widening_gemm(const Matrix<const BFloat16>&, const Matrix<const BFloat16>&, const Matrix<float>&);
template void widening_gemm(const Matrix<const Float16>&, const Matrix<const Float16>&, const Matrix<float>&);

namespace {

template <class H> bool biased_half_gemm(Matrix<const H> a, Matrix<const H> b, const H* bias, Matrix<H> c) {
  if (is_narrow_dots(a, b)) return false;  // gemm(), added to the bias, is faster
  if (!normalize_for_library(a, b, c)) return false;
  fast_half_gemm<H>(a, b, c, false, bias);
  return true;
}

}  // namespace

bool biased_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, const BFloat16* bias, Matrix<BFloat16> c) {
  return biased_half_gemm<BFloat16>(a, b, bias, c);
}
bool biased_gemm(Matrix<const Float16> a, Matrix<const Float16> b, const Float16* bias, Matrix<Float16> c) {
  return biased_half_gemm<Float16>(a, b, bias, c);
}

bool biased_gemm(Matrix<const float> a, Matrix<const float> b, const float* bias, Matrix<float> c) {
  if (is_narrow_dots(a, b)) return false;
  if (!normalize_for_library(a, b, c)) return false;
  if (prefers_packed(a, b)) {
    packed_gemm<float>(a, b, c, false, bias);
    return true;
  }
  return onednn::prefers_primitive(a, b, bias != nullptr) && onednn::biased_gemm(a, b, bias, c);
}

#define WEFT_GEMM(T) template void gemm<T>(const Matrix<const T>&, const Matrix<const T>&, const Matrix<T>&, bool);
WEFT_GEMM(float)
WEFT_GEMM(double)
WEFT_GEMM(BFloat16)
WEFT_GEMM(Float16)
WEFT_GEMM(int64_t)
WEFT_GEMM(int32_t)
WEFT_GEMM(int16_t)
WEFT_GEMM(int8_t)
WEFT_GEMM(uint8_t)
#undef WEFT_GEMM
template void own_gemm<float>(const Matrix<const float>&, const Matrix<const float>&, const Matrix<float>&, bool);
template void own_gemm<double>(const Matrix<const double>&, const Matrix<const double>&, const Matrix<double>&, bool);

}  // namespace weft::kernels::cpu
