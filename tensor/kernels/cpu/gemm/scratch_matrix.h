// ScratchMatrix: a row-major matrix in memory of its own.
#pragma once

#include <type_traits>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// A row-major matrix without gaps in scratch memory, which lives as long as this. Copies of the Matrix that it is do
/// not own that memory.
template <class T> class ScratchMatrix : public Matrix<T> {
 public:
  /// Uninitialized.
  ScratchMatrix(int64_t rows, int64_t columns)
      : Matrix<T>(row_major<T>(nullptr, rows, columns)), memory_(checked_multiply(rows, columns)) {
    this->data = memory_.data();
  }
  /// A copy of a matrix of any strides, converted.
  template <class From> explicit ScratchMatrix(const Matrix<From>& from) : ScratchMatrix(from.rows, from.columns) {
    copy_matrix<std::remove_const_t<From>, T>(from, *this);
  }

 private:
  Scratch<T> memory_;
};

}  // namespace weft::kernels::cpu
