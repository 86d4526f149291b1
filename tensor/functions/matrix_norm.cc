#include "tensor/functions/matrix_norm.h"

#include <cmath>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

/// The two axes of the matrices, in the order given: rows, columns.
std::pair<int64_t, int64_t> matrix_axes(const Tensor& a, const Axes& axes) {
  if (axes.list().size() != 2) throw IndexError(text("matrices lie on two axes, not on ", axes.list()));
  const int64_t rows = normalize_axis(axes.list()[0], a.rank()), columns = normalize_axis(axes.list()[1], a.rank());
  if (rows == columns) throw IndexError(text("axis ", axes.list()[1], " is given twice"));
  return {rows, columns};
}

/// `x`, a value per matrix, with the two axes put back.
Tensor kept(const Tensor& x, int64_t rows, int64_t columns, KeepDim keep) {
  if (!keep.value) return x;
  return unsqueeze(unsqueeze(x, std::min(rows, columns)), std::max(rows, columns));
}

Tensor singular_values(const Tensor& a, int64_t rows, int64_t columns) {
  IntList order = internal::other_axes(a.rank(), {rows, columns});
  order.push_back(rows), order.push_back(columns);
  return svdvals(permute(a, order));
}

}  // namespace

Tensor vector_norm(const Tensor& x, double p, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("vector_norm", x);
  if (p == 0) {
    const Tensor counted = x != 0.0;
    if (!dispatch::may_need_gradient(x)) return sum(cast(counted, x.dtype()), axes, keep);
    return sum(where(counted, ones_like(x), sign(x)), axes, keep);  // sign: 0, with a gradient of 0
  }
  if (p == -INFINITY) return min(abs(x), axes, keep);
  return norm(x, p, axes, keep);
}

Tensor matrix_norm(const Tensor& a, MatrixNorm which, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("matrix_norm", a);
  const auto [rows, columns] = matrix_axes(a, axes);
  if (which == MatrixNorm::frobenius) return norm(a, 2, {rows, columns}, keep);
  return kept(sum(singular_values(a, rows, columns), -1), rows, columns, keep);
}

Tensor matrix_norm(const Tensor& a, double p, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("matrix_norm", a);
  const auto [rows, columns] = matrix_axes(a, axes);
  const double kind = std::abs(p);
  if (kind != 1 && kind != 2 && kind != INFINITY)
    throw Error(text("p must be 1, 2 or infinity, or one of these negated, not ", p));
  const auto extreme = [&](const Tensor& x, int64_t axis) {
    if (p > 0 && x.size(axis) == 0) return sum(x, axis);  // the largest of no norms is 0
    return p > 0 ? max(x, axis) : min(x, axis);
  };
  if (kind == 2) return kept(extreme(singular_values(a, rows, columns), -1), rows, columns, keep);
  const int64_t summed = kind == 1 ? rows : columns, other = kind == 1 ? columns : rows;
  return kept(extreme(sum(abs(a), summed), other > summed ? other - 1 : other), rows, columns, keep);
}

Tensor cond(const Tensor& a, std::optional<double> p) {
  ErrorFrame frame("cond", a);
  if (p && std::abs(*p) != 2) return matrix_norm(a, *p) * matrix_norm(inv(a), *p);
  const Tensor s = svdvals(a);
  if (s.size(-1) == 0) return sum(s, -1);  // 0 of no values, as in PyTorch
  const Tensor largest = max(s, -1), smallest = min(s, -1);
  return p && *p < 0 ? smallest / largest : largest / smallest;
}

Tensor cond(const Tensor& a, MatrixNorm which) {
  ErrorFrame frame("cond", a);
  return matrix_norm(a, which) * matrix_norm(inv(a), which);
}

Tensor renorm(const Tensor& x, double p, int64_t axis, double most) {
  ErrorFrame frame("renorm", x);
  if (x.rank() < 2) throw ShapeError(text("2 axes or more are needed, not shape ", x.shape()));
  if (!(p > 0)) throw Error(text("p = ", p, " must be positive"));
  if (!(most >= 0)) throw Error(text("the largest norm ", most, " must be 0 or more"));
  if (is_half_precision(x.dtype())) return cast(renorm(cast(x, f32), p, axis, most), x.dtype());
  const IntList others = internal::other_axes(x.rank(), {normalize_axis(axis, x.rank())});
  const Tensor norms = vector_norm(x, p, others, keepdim);
  return x * where(norms > most, most / (norms + 1e-7), ones_like(norms));  // PyTorch's small number
}

}  // namespace weft
