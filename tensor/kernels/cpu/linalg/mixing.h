// Merging two solved halves of a divided matrix: its vectors lie in rows, and most rows are zero in one half.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/scratch_matrix.h"

namespace weft::kernels::cpu::linalg {

/// The places of d in ascending order of its values.
inline std::vector<int64_t> ascending(const double* d, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [d](int64_t a, int64_t b) { return d[a] < d[b]; });
  return order;
}

/// Which columns of a row are not zero: those of the first half, all, those of the second.
enum class Half : uint8_t { kFirst, kBoth, kSecond };

/// The order in which rows are multiplied: those of one kind come together, so that products leave out zeros.
class MixingOrder {
 public:
  /// Of the rows `kept`; kinds[i] is that of row i.
  MixingOrder(std::vector<int64_t> kept, const std::vector<Half>& kinds)
      : kept_(std::move(kept)), place_(kept_.size()) {
    int64_t counts[3] = {};
    for (const int64_t i : kept_) ++counts[static_cast<int>(kinds[static_cast<size_t>(i)])];
    int64_t begins[3] = {0, counts[0], counts[0] + counts[1]};
    second_ = begins[1], first_rows_ = begins[2];
    for (size_t i = 0; i < kept_.size(); ++i)
      place_[i] = begins[static_cast<int>(kinds[static_cast<size_t>(kept_[i])])]++;
  }

  int64_t count() const { return std::ssize(kept_); }
  /// Where the factors of row kept[i] belong.
  const int64_t* place() const { return place_.data(); }

  /// out (count rows) = mix times the rows of q that are kept, of which the first half has `m` columns.
  template <class T> void mix_rows(Matrix<const T> mix, Matrix<T> q, int64_t m, Matrix<T> out) const {
    const int64_t n = q.columns, k = count(), second_rows = k - second_;
    const ScratchMatrix<T> firsts(first_rows_, m), seconds(second_rows, n - m);
    for (size_t i = 0; i < kept_.size(); ++i) {
      const int64_t from = kept_[i], to = place_[i];
      if (to < first_rows_) std::copy_n(&q.at(from, 0), m, firsts.data + to * m);
      if (to >= second_) std::copy_n(&q.at(from, m), n - m, seconds.data + (to - second_) * (n - m));
    }
    gemm<T>(mix.block(0, 0, k, first_rows_), firsts, out.block(0, 0, k, m));
    gemm<T>(mix.block(0, second_, k, second_rows), seconds, out.block(0, m, k, n - m));
  }

 private:
  std::vector<int64_t> kept_, place_;
  int64_t second_ = 0, first_rows_ = 0;
};

/// Row order[i] of `from` becomes row i of `to`.
template <class T> void copy_rows(Matrix<T> from, const std::vector<int64_t>& order, Matrix<T> to) {
  parallel_for(std::ssize(order), 1 + 32768 / (to.columns + 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(&from.at(order[static_cast<size_t>(i)], 0), to.columns, &to.at(i, 0));
  });
}

/// x = c x + s y, y = c y - s x
template <class T> void turn_rows(T* x, T* y, int64_t n, T c, T s) {
  for (int64_t k = 0; k < n; ++k) {
    const T old = x[k];
    x[k] = c * old + s * y[k];
    y[k] = c * y[k] - s * old;
  }
}

}  // namespace weft::kernels::cpu::linalg
