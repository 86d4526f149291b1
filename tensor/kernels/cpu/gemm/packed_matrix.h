// PackedMatrix: the right side of many small products, packed once (a recurrent layer multiplies each step's states by
// one weight). The innermost part is gemm_tile.h's.
#pragma once

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
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
  int64_t columns() const { return columns_; }

  /// c = a b on this thread: `rows` rows of a and c, `a_row` and `c_row` apart. Each element is summed along K in one
  /// order however many rows there are.
  void left_multiply(const T* a, int64_t a_row, int64_t rows, T* c, int64_t c_row) const {
    for (int64_t p = 0; p < panels_; ++p) {
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
  int64_t depth_, columns_, panels_;
  Scratch<T> values_;
};

}  // namespace weft::kernels::cpu
