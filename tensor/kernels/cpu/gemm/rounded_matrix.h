// RoundedMatrix: a matrix of one floating dtype as a product of another takes it.
#pragma once

#include <optional>

#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// The matrix `x` (rank 2) with elements rounded to T: where it lies if it has them already, else a dense copy in its
/// memory order that lives as long as this.
template <class T> class RoundedMatrix {
 public:
  explicit RoundedMatrix(const Operand& x) {
    visit_floating(x.dtype, [&]<class From>() {
      const auto from = matrix_of<const From>(x, 0);
      if constexpr (std::is_same_v<From, T>)
        matrix_ = from;
      else
        round<From>(from);
    });
  }
  const Matrix<const T>& matrix() const { return matrix_; }

 private:
  template <class From> void round(const Matrix<const From>& from) {
    copy_.emplace(checked_multiply(from.rows, from.columns));
    const bool columns_first = from.row_stride == 1 && from.column_stride != 1;
    const Matrix<T> dense = columns_first ? row_major(copy_->data(), from.columns, from.rows).transposed()
                                          : row_major(copy_->data(), from.rows, from.columns);
    copy_matrix<From, T>(from, dense);
    matrix_ = dense;
  }

  std::optional<Scratch<T>> copy_;
  Matrix<const T> matrix_{};
};

}  // namespace weft::kernels::cpu
