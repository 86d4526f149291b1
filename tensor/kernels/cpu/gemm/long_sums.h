// Products whose sums have more elements than one running sum in f32 can take, or than one thread should.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/narrow_product.h"
#include "tensor/kernels/cpu/gemm/scratch_matrix.h"

namespace weft::kernels::cpu {

/// A sum in f32 that is longer is taken in parts, whose sums are added in f64: one that runs on in f32 stops growing
/// where it is 2^24 times what is added. Products of few results are sums in few registers, or in one: shorter parts.
inline constexpr int64_t kLongestSum = 1 << 18, kLongestOfFew = 1 << 16, kPartOfFew = 1 << 14, kFewResults = 64;

inline bool has_few_results(int64_t rows, int64_t columns) {
  return rows <= kFewResults && columns <= kFewResults / rows;
}
/// Few results of f64 are taken in parts as well: threads share these, and each is a narrow_product().
template <class T> bool is_long_sum(const Matrix<const T>& a, const Matrix<const T>& b) {
  if (has_few_results(a.rows, b.columns)) return a.columns > kLongestOfFew;
  return std::is_same_v<Compute<T>, float> && a.columns > kLongestSum;
}

/// c = a b of a part of the sum.
template <class T> void part_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Compute<T>>& c) {
  if constexpr (!is_half<T>) {
    gemm<T>(a, b, c);
  } else {
    if (!loops_forced() && narrow_product<T, float>(a, b, c, false)) return;
    gemm<float>(ScratchMatrix<float>(a), ScratchMatrix<float>(b.transposed()).transposed(), c);
  }
}

/// gemm() of f32, f64, bf16 or f16 for a long sum.
template <class T>
void gemm_by_parts(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  using C = Compute<T>;
  for (const auto& x : {a, b}) (void)checked_bytes(checked_multiply(x.rows, x.columns), sizeof(C));
  const bool few = has_few_results(c.rows, c.columns);
  const int64_t parts = ceil_div(a.columns, few ? kPartOfFew : kLongestSum), length = ceil_div(a.columns, parts);
  const int64_t together = few ? std::min<int64_t>(parts, 1024) : 1;  // parts of few results are computed together
  const int64_t size = checked_multiply(c.rows, c.columns);
  const Scratch<double> sums(size);
  const Scratch<C> products(together * size);
  std::fill_n(sums.data(), size, 0.0);
  for (int64_t first = 0; first < parts; first += together) {
    const int64_t count = std::min(together, parts - first);
    parallel_for(count, few ? 4 : 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = (first + i) * length, own = std::clamp<int64_t>(a.columns - k, 0, length);
        part_product<T>(a.block(0, k, a.rows, own), b.block(k, 0, own, b.columns),
                        row_major(products.data() + i * size, c.rows, c.columns));
      }
    });
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < size; ++j) sums.data()[j] += static_cast<double>(products.data()[i * size + j]);
  }
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      T& to = c.at(i, j);
      const double before = accumulate ? static_cast<double>(static_cast<C>(to)) : 0;
      to = static_cast<T>(static_cast<C>(before + sums.data()[i * c.columns + j]));
    }
}

}  // namespace weft::kernels::cpu
