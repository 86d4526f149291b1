#include "tensor/ops/matrix_exp.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/blocked_lu.h"

namespace weft::kernels::cpu {
namespace {

/// Row-major square matrices in one block of scratch.
template <class T> class Room {
 public:
  Room(int64_t n, int64_t count) : n_(n), memory_(checked_multiply(checked_multiply(n, n), count)) {}
  Matrix<T> operator[](int64_t i) const { return row_major(memory_.data() + i * n_ * n_, n_, n_); }

 private:
  int64_t n_;
  Scratch<T> memory_;
};

/// out = sum_k c_k a_k, and c_0 times the identity.
template <class T, size_t N>
void combine(Matrix<T> out, T identity, const std::array<std::pair<T, Matrix<T>>, N>& terms) {
  for (int64_t i = 0; i < out.rows * out.rows; ++i) {
    T sum = 0;
    for (const auto& [factor, matrix] : terms) sum += factor * matrix.data[i];
    out.data[i] = sum;
  }
  for (int64_t i = 0; i < out.rows; ++i) out.at(i, i) += identity;
}

template <class T> T one_norm(Matrix<const T> a) {
  T largest = 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    T sum = 0;
    for (int64_t i = 0; i < a.rows; ++i) sum += std::abs(a.at(i, j));
    if (sum > largest || std::isnan(sum)) largest = sum;
  }
  return largest;
}

/// The diagonal Padé approximant of order 13 of e^a, where a is matrix 0 of `room`, which has six more; a is lost.
template <class T> Matrix<T> pade_approximant(const Room<T>& room) {
  constexpr double b[] = {64764752532480000,
                          32382376266240000,
                          7771770303897600,
                          1187353796428800,
                          129060195264000,
                          10559470521600,
                          670442572800,
                          33522128640,
                          1323241920,
                          40840800,
                          960960,
                          16380,
                          182,
                          1};
  const auto c = [&](int i) { return static_cast<T>(b[i] / b[0]); };
  const Matrix<T> a = room[0], a2 = room[1], a4 = room[2], a6 = room[3], x = room[4], u = room[5], v = room[6];
  const int64_t n = a.rows;
  gemm<T>(a, a, a2), gemm<T>(a2, a2, a4), gemm<T>(a2, a4, a6);
  using Terms = std::array<std::pair<T, Matrix<T>>, 3>;
  combine<T>(x, 0, Terms{{{c(13), a6}, {c(11), a4}, {c(9), a2}}});
  combine<T>(v, c(1), Terms{{{c(7), a6}, {c(5), a4}, {c(3), a2}}});
  gemm<T>(a6, x, v, true);
  gemm<T>(a, v, u);
  combine<T>(x, 0, Terms{{{c(12), a6}, {c(10), a4}, {c(8), a2}}});
  combine<T>(v, c(0), Terms{{{c(6), a6}, {c(4), a4}, {c(2), a2}}});
  gemm<T>(a6, x, v, true);
  for (int64_t i = 0; i < n * n; ++i) {  // (v - u)^-1 (v + u)
    const T odd = u.data[i], even = v.data[i];
    a.data[i] = even - odd, x.data[i] = even + odd;
  }
  std::vector<int32_t> pivots(static_cast<size_t>(n));
  linalg::lu_in_place<T>(a, pivots.data());
  linalg::solve_factored<T>(a, pivots.data(), x);
  return x;
}

/// Scaling and squaring: e^a = (e^(a / 2^k))^(2^k) (Higham 2005, algorithm 2.3).
template <class T> void exponential(Matrix<const T> from, Matrix<T> out) {
  const int64_t n = from.rows;
  if (n == 1) {  // of infinities too
    out.at(0, 0) = std::exp(from.at(0, 0));
    return;
  }
  const Room<T> room(n, 7);
  const Matrix<T> a = room[0];
  copy_matrix<T, T>(from, a);
  const T norm = one_norm<T>(a);
  if (!std::isfinite(norm)) {  // also where the norm of finite elements overflows: nothing is known of the result
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) out.at(i, j) = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  int halvings = 0;
  std::frexp(norm / T(5.37), &halvings);
  halvings = std::max(halvings, 0);
  for (int64_t i = 0; i < n * n; ++i) a.data[i] = std::ldexp(a.data[i], -halvings);
  Matrix<T> result = pade_approximant(room), other = room[1];
  for (; halvings > 0; --halvings, std::swap(result, other)) gemm<T>(result, result, other);
  copy_matrix<T, T>(result, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void MatrixExp::cpu(const Operand& a, const Operand& out) const {
  if (a.numel() == 0) return;
  const double n = static_cast<double>(a.size(a.rank() - 1));
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 10 * n * n * n,
                    [&](int64_t i) { exponential<T>(matrix_of<const T>(a, i), matrix_of<T>(out, i)); });
  });
}

}  // namespace weft::op
