#include "tensor/functions/statistics.h"

#include <cmath>

#include "tensor/adjoints/linalg.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/matmul.h"
#include "tensor/ops/reduce.h"

namespace weft {
namespace {

/// The distances between the rows of a and those of b, without storing the differences. p is 0, 1, 2 or infinity.
Tensor distances(const Tensor& a, const Tensor& b, double p) {
  const Shape batch = adjoint::common_batch(a, b);
  return dispatch::apply(op::Cdist{p}, adjoint::with_batch(a, batch), adjoint::with_batch(b, batch));
}

}  // namespace

Tensor amax(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("amax", x);
  return max(x, axes, keep);
}
Tensor amin(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("amin", x);
  return min(x, axes, keep);
}
MinAndMax aminmax(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("aminmax", x);
  return {min(x, axes, keep), max(x, axes, keep)};
}

Tensor nansum(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("nansum", x);
  if (!is_floating(x.dtype())) return sum(x, axes, keep);
  return dispatch::apply(op::NanSum{{axes.normalized(x.rank()), keep.value}}, x);
}

Tensor nanmean(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("nanmean", x);
  dispatch::check_accepted(x.dtype(), kFloating);
  // In f32 where the sum or the count would not fit.
  const Tensor wide = is_half_precision(x.dtype()) ? cast(x, f32) : x;
  const Tensor count = sum(logical_not(isnan(x)), axes, keep);
  return cast(nansum(wide, axes, keep) / cast(count, wide.dtype()), x.dtype());
}

Tensor count_nonzero(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("count_nonzero", x);
  return sum(x.dtype() == boolean ? detach(x) : detach(x) != 0, axes, keep);
}

VarMean var_mean(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  ErrorFrame frame("var_mean", x);
  return {var(x, axes, correction, keep), mean(x, axes, keep)};
}
StdMean std_mean(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  ErrorFrame frame("std_mean", x);
  return {stddev(x, axes, correction, keep), mean(x, axes, keep)};
}

Tensor cov(const Tensor& x, int64_t correction) {
  ErrorFrame frame("cov", x);
  if (x.rank() > 2) throw ShapeError(text("the variables are the rows of a matrix, not of shape ", x.shape()));
  // Sums of 16 bits may exceed them: they are rounded once.
  if (is_half_precision(x.dtype())) return cast(cov(cast(x, f32), correction), x.dtype());
  const Tensor values = is_integer(x.dtype()) ? cast(x, f32) : x;
  const Tensor rows = x.rank() == 2 ? values : reshape(values, {1, x.numel()});
  const Tensor off = rows - mean(rows, 1, keepdim);
  // A scale, not a division by a number that may be below 0: PyTorch's convention.
  const double degrees = std::max(0.0, static_cast<double>(rows.size(1) - correction));
  const Tensor out = matmul(off, transpose(off, 0, 1)) / degrees;
  return rows.size(0) == 1 ? reshape(out, {}) : out;  // PyTorch's convention
}

Tensor corrcoef(const Tensor& x) {
  ErrorFrame frame("corrcoef", x);
  if (is_half_precision(x.dtype())) return cast(corrcoef(cast(x, f32)), x.dtype());
  const Tensor c = cov(x);
  if (c.rank() == 0) return c / c;
  const Tensor deviation = sqrt(diagonal(c));
  return clip(c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0), -1.0, 1.0);
}

Tensor dist(const Tensor& a, const Tensor& b, double p) {
  ErrorFrame frame("dist", a, b);
  return norm(a - b, p);
}

Tensor cdist(const Tensor& a, const Tensor& b, double p) {
  ErrorFrame frame("cdist", a, b);
  if (a.rank() < 2 || b.rank() < 2) throw ShapeError("rows of matrices are compared: two axes or more");
  if (a.size(-1) != b.size(-1)) throw ShapeError(text("rows differ in length: ", a.size(-1), " and ", b.size(-1)));
  if (!(p >= 0)) throw Error(text("p must be 0 or more, not ", p));
  if (p == 0 || p == 1 || p == 2 || std::isinf(p)) return distances(a, b, p);
  return norm(unsqueeze(a, -2) - unsqueeze(b, -3), p, -1);
}

Tensor pdist(const Tensor& x, double p) {
  ErrorFrame frame("pdist", x);
  if (x.rank() != 2) throw ShapeError(text("rows of a matrix are compared, not shape ", x.shape()));
  const int64_t n = x.size(0);
  const Tensor pairs = triu_indices(n, n, 1, x.device());
  return index_select(reshape(cdist(x, x, p), {n * n}), 0, select(pairs, 0, 0) * n + select(pairs, 0, 1));
}

}  // namespace weft
