#include "tensor/functions/low_rank.h"

#include <algorithm>

#include "tensor/adjoints/matmul.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

void check_matrices(const Tensor& a) {
  if (a.rank() < 2) throw ShapeError(text("it takes matrices (..., rows, columns), not shape ", a.shape()));
}

/// svd_lowrank() of matrices with at least as many rows as columns.
LowRankResult low_rank(const Tensor& a, int64_t q, int64_t niter, Generator& generator) {
  if (niter < 0) throw Error(text("niter must be 0 or more, not ", niter));
  const int64_t n = a.size(-1);
  if (a.size(-2) < n) {
    auto [u, s, v] = low_rank(transpose(a, -2, -1), q, niter, generator);
    return {v, s, u};
  }
  const Tensor at = transpose(a, -2, -1), drawn = randn({n, std::min(q, n)}, generator, a.dtype(), a.device());
  Tensor basis = qr(adjoint::exact_matmul(a, drawn)).q;
  for (int64_t i = 0; i < niter; ++i) {
    basis = qr(adjoint::exact_matmul(at, basis)).q;
    basis = qr(adjoint::exact_matmul(a, basis)).q;
  }
  const auto [u, s, vh] = svd(adjoint::exact_matmul(transpose(basis, -2, -1), a), false);
  return {adjoint::exact_matmul(basis, u), s, transpose(vh, -2, -1)};
}

}  // namespace

LowRankResult svd_lowrank(const Tensor& a, const SvdLowrankOptions& options) {
  ErrorFrame frame("svd_lowrank", a);
  check_matrices(a);
  if (options.q < 0) throw Error(text("q must be 0 or more, not ", options.q));
  return low_rank(options.m.defined() ? a - options.m : a, options.q, options.niter,
                  detail::generator_or_default(options.generator));
}

LowRankResult pca_lowrank(const Tensor& a, const PcaLowrankOptions& options) {
  ErrorFrame frame("pca_lowrank", a);
  check_matrices(a);
  const int64_t most = std::min(a.size(-2), a.size(-1)), q = options.q.value_or(std::min<int64_t>(6, most));
  if (q < 0 || q > most) throw Error(text("q must lie between 0 and min(m, n) = ", most, ", not be ", q));
  return low_rank(options.center ? a - mean(a, -2, keepdim) : a, q, options.niter,
                  detail::generator_or_default(options.generator));
}

}  // namespace weft
