#include "tensor/ops/qr.h"

#include <cmath>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/reflectors.h"

namespace weft::kernels::cpu {
namespace {

template <class T> void qr(Matrix<const T> a, Matrix<T> q, Matrix<T> r) {
  const int64_t m = a.rows, n = a.columns;
  Scratch<T> work(checked_multiply(m, n)), reflectors(checked_multiply(m, n)),
      factors(checked_multiply(linalg::kReflected, n));
  const Matrix<T> left = row_major(work.data(), m, n), v = row_major(reflectors.data(), m, n);
  const Matrix<T> t = row_major(factors.data(), linalg::kReflected, n);
  copy_matrix<T, T>(a, left);
  linalg::reflect_blocks<T>(left, v, t);
  linalg::first_columns<T>(v, t, q);
  for (int64_t i = 0; i < r.rows; ++i)
    for (int64_t j = 0; j < n; ++j) r.at(i, j) = j >= i ? left.at(i, j) : T{0};
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Qr::cpu(const Operand& a, const Operand& q, const Operand& r) const {
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 4 * m * n * n,
                    [&](int64_t i) { qr<T>(matrix_of<const T>(a, i), matrix_of<T>(q, i), matrix_of<T>(r, i)); });
  });
}

}  // namespace weft::op
