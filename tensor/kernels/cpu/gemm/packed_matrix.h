// PackedMatrix and PackedHalves: the right side of many small products, packed once (a recurrent layer multiplies each
// step's states by one weight). The innermost part is gemm_tile.h's, or that of products of bf16.
#pragma once

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/gemm/bf16_products.h"
#include "tensor/kernels/cpu/gemm/gemm_tile.h"

namespace weft::kernels::cpu {

/// b (K, N) in panels as wide as a tile. T: float or double.
template <class T> class PackedMatrix {
 public:
  explicit PackedMatrix(const Matrix<const T>& b)
      : depth_(b.rows), columns_(b.columns), panels_(ceil_div(columns_, kWidth)), values_(panels_ * depth_ * kWidth) {
    for (int64_t p = 0; p < panels_; ++p) {
      const int64_t width = std::min(kWidth, columns_ - p * kWidth);
      const Matrix<T> panel{values_.data() + p * depth_ * kWidth, depth_, kWidth, kWidth, 1};
      if (width < kWidth) std::fill_n(panel.data, depth_ * kWidth, T(0));
      copy_matrix<T, T>(b.block(0, p * kWidth, depth_, width), panel.block(0, 0, depth_, width));
    }
  }
  /// What left_multiply() writes: so many rows, and so many values of each.
  int64_t rows_written(int64_t rows) const { return rows; }
  int64_t columns_written() const { return columns_; }

  /// c = a b on this thread: `rows` rows of a and c, `a_row` and `c_row` apart. Each element is summed along K in one
  /// order however many rows there are.
  void left_multiply(const T* a, int64_t a_row, int64_t rows, T* c, int64_t c_row) const {
    int64_t p = 0;
    if (rows == 1) p = few_rows<1>(a, a_row, c, c_row);
    if (rows == 2) p = few_rows<2>(a, a_row, c, c_row);
    if (rows == 3) p = few_rows<3>(a, a_row, c, c_row);
    for (; p < panels_; ++p) {
      const int64_t width = std::min(kWidth, columns_ - p * kWidth), vectors = ceil_div(width, kLanes);
      const int64_t most = kGemmTileRows[static_cast<size_t>(vectors - 1)], strips = ceil_div(rows, most);
      const auto last = static_cast<int>(width - (vectors - 1) * kLanes);
      for (int64_t s = 0; s < strips; ++s) {
        const int64_t from = rows * s / strips, count = rows * (s + 1) / strips - from;
        gemm_tile_function<T>(
            count, vectors)({depth_, a + from * a_row, a_row, 1, values_.data() + p * depth_ * kWidth, kWidth,
                             c + from * c_row + p * kWidth, c_row, last, nullptr, 0, nullptr});
      }
    }
  }

 private:
  static constexpr int64_t kLanes = simd::kLanes<T>, kWidth = kGemmTileVectors * kLanes;

  /// The product of kRows rows by the first panels, as many at a time as have eight sums: with fewer, the CPU waits for
  /// one addition before it begins the next. Returns the first panel that is left.
  template <int kRows> [[gnu::noinline]] int64_t few_rows(const T* a, int64_t a_row, T* c, int64_t c_row) const {
    constexpr int kPanels = ceil_div(8, kRows * kGemmTileVectors), kVectors = kPanels * kGemmTileVectors;
    int64_t p = 0;
    for (; (p + kPanels) * kWidth <= columns_; p += kPanels) {
      simd::Vec<T> sums[kRows][kVectors] = {};
      const T* b = values_.data() + p * depth_ * kWidth;
      for (int64_t k = 0; k < depth_; ++k, b += kWidth)
        for (int v = 0; v < kVectors; ++v) {
          const T* at = b + v / kGemmTileVectors * depth_ * kWidth + v % kGemmTileVectors * kLanes;
          const auto right = simd::in_register(simd::load<T>(at));
          for (int r = 0; r < kRows; ++r) sums[r][v] += a[r * a_row + k] * right;
        }
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) simd::store<T>(c + r * c_row + p * kWidth + v * kLanes, sums[r][v]);
    }
    return p;
  }

  int64_t depth_, columns_, panels_;
  Scratch<T> values_;
};

/// b (K, N) of bf16 in panels of four tiles. The left side is rounded to bf16; sums are f32.
class PackedHalves {
 public:
  explicit PackedHalves(const Matrix<const BFloat16>& b)
      : rows_(b.rows), depth_(amx::padded(b.rows)), columns_(amx::padded(b.columns)), values_(depth_ / 2 * columns_) {
    if (depth_ != b.rows || columns_ != b.columns) std::fill_n(values_.data(), depth_ / 2 * columns_, 0u);
    for (int64_t j = 0; j < b.columns; j += kWidth)
      bf16::pack(b.block(0, j, b.rows, std::min(kWidth, b.columns - j)), panel(j), width(j));
  }
  int64_t rows_written(int64_t rows) const { return Bf16Products::padded_rows(rows); }
  int64_t columns_written() const { return columns_; }

  /// As PackedMatrix::left_multiply(); c has room for rows_written() rows and columns_written() columns.
  void left_multiply(const float* a, int64_t a_row, int64_t rows, float* c, int64_t c_row) const {
    const int64_t height = rows_written(rows);
    const Scratch<BFloat16> left(height * depth_);
    for (int64_t r = 0; r < height; ++r) {
      BFloat16* to = left.data() + r * depth_;
      const int64_t filled = r < rows ? rows_ : 0;
      if (filled > 0) narrow(a + r * a_row, to, filled);
      std::fill(to + filled, to + depth_, BFloat16());
    }
    const Bf16Products product;
    for (int64_t j = 0; j < columns_; j += kWidth)
      product(left.data(), depth_, panel(j), width(j), c + j, c_row, height, width(j), depth_, false);
  }

 private:
  static constexpr int64_t kWidth = 64;  // amx.h: four tiles
  int64_t width(int64_t j) const { return std::min(kWidth, columns_ - j); }
  uint32_t* panel(int64_t j) const { return values_.data() + j * (depth_ / 2); }
  int64_t rows_, depth_, columns_;
  Scratch<uint32_t> values_;
};

}  // namespace weft::kernels::cpu
