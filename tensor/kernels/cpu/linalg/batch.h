// Batches of matrices (..., rows, columns): which of them an error names. Small ones are computed together, one in each
// lane of registers: loops over their few columns would not fill one.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

#include "tensor/core/error.h"
#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/base/vector_math.h"

namespace weft::kernels::cpu {

/// A result's vector or number `index`: results are row-major.
template <class T> T* vector_of(const Operand& x, int64_t index) { return x.data<T>() + offset_of(x, index, 1); }
template <class T> T& number_of(const Operand& x, int64_t index) { return x.data<T>()[offset_of(x, index, 0)]; }

/// Matrices of one size, one per lane: element (i, j) of each is a lane of register (i, j).
template <class T> class LaneMatrices {
 public:
  static constexpr int64_t N = simd::kLanes<T>;
  using V = simd::Vec<T>;
  LaneMatrices(int64_t rows, int64_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}

  V& at(int64_t i, int64_t j) const { return values_.data()[i * columns_ + j]; }

  void set_identity() {
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t j = 0; j < columns_; ++j) at(i, j) = simd::splat<T>(T(i == j ? 1 : 0));
  }
  /// Matrices [first, first + count) of x, N at most; lanes that are left repeat the last.
  void load(const Operand& x, int64_t first, int64_t count) {
    Matrix<const T> from[N];
    for (int64_t k = 0; k < N; ++k) from[k] = matrix_of<const T>(x, first + std::min(k, count - 1));
    if (const int64_t step = dense_step(from, count); step != 0)
      return simd::transpose_copy<T>(from[0].data, step, memory(), N, N, rows_ * columns_);
    const bool one = std::all_of(from, from + N, [&](const auto& m) { return m.data == from[0].data; });
    for (int64_t i = 0; one && i < rows_; ++i)
      for (int64_t j = 0; j < columns_; ++j) at(i, j) = simd::splat<T>(from[0].at(i, j));
    for (int64_t k = 0; !one && k < N; ++k)
      for (int64_t i = 0; i < rows_; ++i)
        for (int64_t j = 0; j < columns_; ++j) at(i, j)[k] = from[k].at(i, j);
  }
  void store(const Operand& out, int64_t first, int64_t count) const {
    Matrix<T> to[N];
    for (int64_t k = 0; k < count; ++k) to[k] = matrix_of<T>(out, first + k);
    if (const int64_t step = dense_step(to, count); step != 0)
      return simd::transpose_copy<T>(memory(), N, to[0].data, step, rows_ * columns_, N);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < rows_; ++i)
        for (int64_t j = 0; j < columns_; ++j) to[k].at(i, j) = at(i, j)[k];
  }

 private:
  T* memory() const { return reinterpret_cast<T*>(values_.data()); }
  /// From one of N dense matrices to the next; 0 where they are not dense, fewer, or not at one distance.
  template <class M> int64_t dense_step(const M* of, int64_t count) const {
    if (count < N || of[0].column_stride != 1 || of[0].row_stride != columns_) return 0;
    const int64_t step = of[1].data - of[0].data;
    for (int64_t k = 2; k < N; ++k)
      if (of[k].data - of[k - 1].data != step) return 0;
    return step;
  }

  int64_t rows_, columns_;
  Scratch<V> values_;
};

/// Whether a batch of matrices goes through LaneMatrices: many, and small. (With 16 rows and columns what is worked on
/// stays in the L1 cache.)
template <class T> bool fills_lanes(const Operand& x, int64_t most = 16) {
  return x.size(x.rank() - 2) <= most && x.size(x.rank() - 1) <= most && batch_count(x) >= LaneMatrices<T>::N / 2;
}

/// f(first, count) for all of a batch, as many at a time as there are lanes; a matrix costs about `work` operations.
template <class T, class F> void for_lanes_of_matrices(int64_t count, double work, F&& f) {
  constexpr int64_t N = LaneMatrices<T>::N;
  for_each_matrix(ceil_div(count, N), work, [&](int64_t i) { f(i * N, std::min(N, count - i * N)); });
}

/// The first matrix that cannot be worked on, whichever thread finds one.
class FirstFailure {
 public:
  void report(int64_t index) {
    int64_t known = first_.load();
    while (index < known && !first_.compare_exchange_weak(known, index)) {
    }
  }
  /// Throws `the matrix is singular`, `matrix 3 of the batch is singular`, `matrix [1, 0] of the batch is singular`.
  void check(const Operand& x, const char* what) const {
    const int64_t first = first_.load();
    if (first == kNone) return;
    throw Error(text(x.rank() == 2 ? "the matrix" : text("matrix ", place(x, first), " of the batch"), " ", what));
  }

 private:
  static std::string place(const Operand& x, int64_t index) {
    if (x.rank() == 3) return text(index);
    Shape at;
    for (int64_t axis = x.rank() - 2; axis-- > 0; index /= x.size(axis)) at.insert(0, index % x.size(axis));
    return text(at);
  }
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> first_ = kNone;
};

}  // namespace weft::kernels::cpu
