#include "tensor/ops/qr.h"

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/reflectors.h"
#include "tensor/kernels/cpu/linalg/tall_panel.h"

namespace weft::kernels::cpu {
namespace {

/// qr() of few columns, where q has no more than these.
template <class T> void panel_qr(Matrix<const T> a, Matrix<T> q, Matrix<T> r) {
  const linalg::TallPanel<T> panel(a);
  panel.factor();
  copy_matrix_serial<T, T>(panel.r(), r);
  if (q.columns == 0) return;
  const ScratchMatrix<T> identity(q.columns, q.columns);
  linalg::set_identity<T>(identity);
  panel.multiply(Matrix<const T>(identity), q);
}

/// Whether panel_qr() is faster: q of short matrices of more columns is products of whole tiles.
bool prefers_panel(int64_t m, int64_t n, int64_t columns_of_q) {
  constexpr int64_t kFew = 10, kTall = 5;
  return linalg::is_tall_panel(m, n) && (columns_of_q == 0 || n <= kFew || m >= kTall * n);
}

/// Without columns, q is not computed.
template <class T> void qr(Matrix<const T> a, Matrix<T> q, Matrix<T> r) {
  const int64_t m = a.rows, n = a.columns;
  if (r.rows == n && n > 0 && prefers_panel(m, n, q.columns)) return panel_qr<T>(a, q, r);
  const ScratchMatrix<T> left(a), v(m, n), t(linalg::kReflected, n);
  linalg::reflect_blocks<T>(left, v, t);
  if (q.columns > 0) linalg::first_columns<T>(v, t, q);
  linalg::copy_upper_triangle<T>(left, r);
}

/// The reflections of `a`, as op::Geqrf says.
template <class T> void factor(Matrix<const T> a, Matrix<T> factors, T* tau) {
  const int64_t m = a.rows, n = a.columns;
  const ScratchMatrix<T> left(a), v(m, n), t(linalg::kReflected, n);
  linalg::reflect_blocks<T>(left, v, t);
  for (int64_t j = 0; j < n; ++j) tau[j] = t.at(j % linalg::kReflected, j);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) factors.at(i, j) = j >= i ? left.at(i, j) : v.at(i, j);
}

/// The reflection I - tau v v^T of elements [j, rows) of column j, lane by lane, as linalg::reflection(): v takes their
/// place, and beta, an element of R, is the second result.
template <class T> auto lane_reflection(const LaneMatrices<T>& m, int64_t rows, int64_t j) {
  using V = simd::Vec<T>;
  struct Reflection {
    V tau, beta;
  };
  V largest{}, rest{}, sum{};
  for (int64_t i = j; i < rows; ++i) {
    const V x = m.at(i, j), size = x < 0 ? -x : x;
    largest = ((size > largest) | (size != size)) ? size : largest;
    if (i > j) rest = ((size > rest) | (size != size)) ? size : rest;
  }
  for (int64_t i = j; i < rows; ++i) sum += (m.at(i, j) / largest) * (m.at(i, j) / largest);
  constexpr T kLeast = linalg::kLeastSquares<T>;                         // a power of two
  const V none = V{} + 1, up = largest < kLeast ? none / kLeast : none;  // numbers below it may lose digits
  const V alpha = m.at(j, j) * up, length = largest * up * vmath::square_root(sum);
  const auto flat = rest == 0;  // nothing to reflect
  const V beta = flat ? alpha : alpha < 0 ? length : -length, divisor = flat ? none : alpha - beta;
  for (int64_t i = j + 1; i < rows; ++i) m.at(i, j) = m.at(i, j) * up / divisor;
  return Reflection{flat ? V{} : (beta - alpha) / beta, beta / up};
}

/// qr() of a few small matrices, one per lane; q may be null.
template <class T> void qr_lanes(const Operand& a, int64_t first, int64_t count, const Operand* q, const Operand& r) {
  using V = simd::Vec<T>;
  const int64_t m = a.size(a.rank() - 2), n = a.size(a.rank() - 1), width = q ? q->size(q->rank() - 1) : 0;
  LaneMatrices<T> v(m, n), left(r.size(r.rank() - 2), n);
  const Scratch<V> tau(n);
  v.load(a, first, count);
  // target column c -= tau v_j (v_j . c), v_j's first element being 1.
  const auto reflect = [&](int64_t j, const LaneMatrices<T>& target, int64_t c) {
    V dot = target.at(j, c);
    for (int64_t i = j + 1; i < m; ++i) dot += v.at(i, j) * target.at(i, c);
    dot *= tau.data()[j];
    target.at(j, c) -= dot;
    for (int64_t i = j + 1; i < m; ++i) target.at(i, c) -= dot * v.at(i, j);
  };
  for (int64_t j = 0; j < n; ++j) {
    const auto [scale, beta] = lane_reflection(v, m, j);
    tau.data()[j] = scale;
    v.at(j, j) = beta;
    for (int64_t c = j + 1; c < n; ++c) reflect(j, v, c);
  }
  for (int64_t i = 0; i < r.size(r.rank() - 2); ++i)
    for (int64_t j = 0; j < n; ++j) left.at(i, j) = j >= i ? v.at(i, j) : V{};
  left.store(r, first, count);
  if (!q) return;
  LaneMatrices<T> found(m, width);
  found.set_identity();
  for (int64_t j = n; j-- > 0;)
    for (int64_t c = j; c < width; ++c) reflect(j, found, c);
  found.store(*q, first, count);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Qr::cpu(const Operand& a, const Operand& q, const Operand& r) const {
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  visit_precision(a.dtype, [&]<class T>() {
    if (a.numel() > 0 && fills_lanes<T>(a))
      return for_lanes_of_matrices<T>(batch_count(a), 4 * m * n * n, [&](int64_t first, int64_t count) {
        qr_lanes<T>(a, first, count, vectors ? &q : nullptr, r);
      });
    for_each_matrix(batch_count(a), 4 * m * n * n, [&](int64_t i) {
      qr<T>(matrix_of<const T>(a, i), vectors ? matrix_of<T>(q, i) : Matrix<T>{}, matrix_of<T>(r, i));
    });
  });
}

void Geqrf::cpu(const Operand& a, const Operand& factors, const Operand& tau) const {
  if (a.numel() == 0) return;
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 2 * m * n * n, [&](int64_t i) {
      factor<T>(matrix_of<const T>(a, i), matrix_of<T>(factors, i), vector_of<T>(tau, i));
    });
  });
}

}  // namespace weft::op
