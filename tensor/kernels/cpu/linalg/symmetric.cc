#include "tensor/kernels/cpu/linalg/symmetric.h"

#include "tensor/kernels/cpu/linalg/divide.h"
#include "tensor/kernels/cpu/linalg/tridiagonal.h"

namespace weft::kernels::cpu::linalg {
namespace {

/// A power of two that brings `a` so near to 1 that no square overflows or vanishes.
template <class T> T scale_of(Matrix<const T> a) {
  T largest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i; j < a.columns; ++j) largest = std::max(largest, std::abs(a.at(i, j)));
  if (largest == 0) return 1;
  const int exponent = std::ilogb(largest);
  constexpr int kMost = std::is_same_v<T, float> ? 100 : 900;  // the scale itself is no denormal
  return std::abs(exponent) < 16 ? T{1} : std::ldexp(T{1}, -std::clamp(exponent, -kMost, kMost));
}

}  // namespace

template <class T> void symmetric_eigen(Matrix<T> a, double* values, const Matrix<T>* vectors) {
  const int64_t n = a.rows;
  if (n == 0) return;
  const T scale = scale_of<T>(a);
  if (scale != 1)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) a.at(i, j) *= scale;
  Scratch<double> beside(n);
  const Tridiagonal<T> reduced(a, values, beside.data());
  if (vectors == nullptr) {
    tridiagonal_values(values, beside.data(), n);
  } else {
    tridiagonal_vectors<T>(values, beside.data(), *vectors);
    reduced.transform(*vectors);
  }
  for (int64_t i = 0; i < n; ++i) values[i] /= static_cast<double>(scale);
}

template void symmetric_eigen(Matrix<float>, double*, const Matrix<float>*);
template void symmetric_eigen(Matrix<double>, double*, const Matrix<double>*);

}  // namespace weft::kernels::cpu::linalg
