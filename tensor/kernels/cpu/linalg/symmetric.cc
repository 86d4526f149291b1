#include "tensor/kernels/cpu/linalg/symmetric.h"

#include <array>
#include <cmath>

#include "tensor/kernels/cpu/linalg/tridiagonal.h"
#include "tensor/kernels/cpu/linalg/tridiagonal_eigen.h"

namespace weft::kernels::cpu::linalg {
namespace {

/// Two powers of two whose product brings `a` near to 1: one alone might not be a normal number.
template <class T> std::array<T, 2> scales_of(Matrix<const T> a) {
  T largest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i; j < a.columns; ++j) largest = std::max(largest, std::abs(a.at(i, j)));
  const int exponent = largest == 0 ? 0 : -std::ilogb(largest);
  if (std::abs(exponent) < 16) return {1, 1};
  return {std::ldexp(T{1}, exponent / 2), std::ldexp(T{1}, exponent - exponent / 2)};
}

}  // namespace

template <class T> void symmetric_eigen(Matrix<T> a, double* values, const Matrix<T>* vectors) {
  const int64_t n = a.rows;
  if (n == 0) return;
  const auto [first, second] = scales_of<T>(a);
  if (first != 1)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) a.at(i, j) = a.at(i, j) * first * second;
  Scratch<double> beside(n);
  const Tridiagonal<T> reduced(a, values, beside.data());
  if (vectors == nullptr) {
    tridiagonal_values(values, beside.data(), n);
  } else {
    tridiagonal_vectors<T>(values, beside.data(), *vectors);
    reduced.transform(*vectors);
  }
  for (int64_t i = 0; i < n; ++i) values[i] = values[i] / static_cast<double>(first) / static_cast<double>(second);
}

template void symmetric_eigen(Matrix<float>, double*, const Matrix<float>*);
template void symmetric_eigen(Matrix<double>, double*, const Matrix<double>*);

}  // namespace weft::kernels::cpu::linalg
