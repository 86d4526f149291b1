#include "tensor/functions/lu.h"

#include <algorithm>
#include <limits>

#include "tensor/adjoints/linalg.h"
#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/view.h"
#include "tensor/ops/lu.h"

namespace weft {
namespace {

/// The factors of a, without history: ops that use them have the gradient of a.
std::array<Tensor, 2> factors_of(const Tensor& a) { return dispatch::apply(op::LuFactor{}, a.detach()); }

Tensor identity_like(const Tensor& a) {
  return broadcast(eye(a.size(-1), std::nullopt, a.dtype(), a.device()), a.shape());
}

/// x with a x = b, or its transpose's, from the factors of a. Batch axes broadcast.
Tensor solved_by(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed) {
  const Shape batch = adjoint::common_batch(lu, b);
  return adjoint::lu_solve(adjoint::with_batch(a, batch), adjoint::with_batch(lu, batch),
                           adjoint::with_batch(pivots, batch, 1), adjoint::with_batch(b, batch), transposed);
}

/// solve() for right sides that are matrices.
Tensor solved(const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tensor matrices = cast(a, dtype);
  adjoint::common_batch(a, b);                     // checks the batch axes before the factorization
  const auto [lu, pivots] = factors_of(matrices);  // once per matrix, however many right sides share it
  return solved_by(matrices, lu, pivots, cast(b, dtype), false);
}

/// f(a, b) for the arguments of solve(), as matrices to the left of the unknown.
template <class F> Tensor from_the_left(const Tensor& a, const Tensor& b, bool left, const F& f) {
  adjoint::check_square(a);
  const bool vectors = adjoint::are_vectors(b, a);
  if (vectors && !left)
    throw ShapeError(text("x a = b takes matrices b (..., k, n), not vectors of shape ", b.shape(),
                          "; solve with a transposed and left = true"));
  const bool fits = b.rank() >= (vectors ? 1 : 2) && b.size(vectors ? -1 : left ? -2 : -1) == a.size(-1);
  if (!fits)
    throw ShapeError(
        text("the right side must have ", a.size(-1), left ? " rows" : " columns", ", its shape is ", b.shape()));
  if (vectors) return squeeze(f(a, unsqueeze(b, -1)), -1);
  return left ? f(a, b) : transpose(f(transpose(a, -2, -1), transpose(b, -2, -1)), -2, -1);
}

/// The number, from 1, of the first zero on the diagonal of U, or 0.
Tensor info_of(const Tensor& lu) {
  const Tensor pivots = diagonal(lu.detach(), 0, -2, -1);
  const Tensor before = sum(cumprod(cast(pivots != 0.0, i64), -1), -1);  // how many stand before a zero
  return cast(where(before == pivots.size(-1), zeros_like(before), before + 1), i32);
}

/// solve_ex() for right sides that are matrices.
SolveExResult solved_or_nan(const Tensor& a, const Tensor& b, bool check_errors) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tensor matrices = cast(a, dtype), right = cast(b, dtype);
  adjoint::common_batch(a, b);
  const auto [lu, pivots] = factors_of(matrices);
  const Tensor info = info_of(lu), singular = unsqueeze(unsqueeze(info != 0, -1), -1);
  if (check_errors || !any(dispatch::all_samples(singular)).item<bool>())
    return {solved_by(matrices, lu, pivots, right, false), info};
  // Identity matrices replace singular factors, so that gradients have no NaN.
  const Tensor x = solved_by(matrices, where(singular, identity_like(lu), lu), pivots, right, false);
  return {where(singular, full({}, std::numeric_limits<double>::quiet_NaN(), dtype, a.device()), x), info};
}

/// An error unless `pivots` may belong to these factors.
void check_factors(const Tensor& lu, const Tensor& pivots) {
  if (lu.rank() < 2) throw ShapeError(text("it takes factors (..., m, n), not shape ", lu.shape()));
  Shape shape(lu.shape().begin(), lu.shape().end() - 1);
  shape[shape.size() - 1] = std::min(lu.size(-2), lu.size(-1));
  if (pivots.dtype() != i32) throw DtypeError(text("pivots must be i32, not ", pivots.dtype()));
  if (pivots.shape() != shape) throw ShapeError(text("pivots must have shape ", shape, ", not ", pivots.shape()));
}

}  // namespace

Tensor adjoint::lu_solve(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed) {
  return dispatch::apply(op::LuSolve{transposed}, a, lu, pivots, b);
}

Tensor solve(const Tensor& a, const Tensor& b, bool left) {
  ErrorFrame frame("solve", a, b);
  return from_the_left(a, b, left, solved);
}

SolveExResult solve_ex(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  ErrorFrame frame("solve_ex", a, b);
  Tensor info;
  const Tensor result = from_the_left(a, b, left, [&](const Tensor& matrices, const Tensor& right) {
    const auto [x, found] = solved_or_nan(matrices, right, check_errors);
    info = found;
    return x;
  });
  return {result, info};
}

Tensor inv(const Tensor& a) {
  ErrorFrame frame("inv", a);
  adjoint::check_square(a);
  const auto [lu, pivots] = factors_of(a);
  return adjoint::lu_solve(a, lu, pivots, identity_like(lu), false);
}

InvExResult inv_ex(const Tensor& a, bool check_errors) {
  ErrorFrame frame("inv_ex", a);
  adjoint::check_square(a);
  const auto [x, info] = solved_or_nan(a, identity_like(a), check_errors);
  return {x, info};
}

LuResult lu(const Tensor& a) {
  ErrorFrame frame("lu", a);
  const auto [factors, pivots] = dispatch::apply(op::LuFactor{}, a);
  return lu_unpack(factors, pivots);
}

LuFactorResult lu_factor(const Tensor& a) {
  ErrorFrame frame("lu_factor", a);
  auto [factors, pivots] = dispatch::apply(op::LuFactor{.checked = true}, a);
  return {factors, pivots};
}

LuFactorExResult lu_factor_ex(const Tensor& a, bool check_errors) {
  ErrorFrame frame("lu_factor_ex", a);
  auto [factors, pivots] = dispatch::apply(op::LuFactor{check_errors}, a);
  return {factors, pivots, info_of(factors)};
}

LuResult lu_unpack(const Tensor& lu, const Tensor& pivots, bool unpack_data, bool unpack_pivots) {
  ErrorFrame frame("lu_unpack", lu, pivots);
  dispatch::check_accepted(lu.dtype(), op::kFactorization.accepts);
  check_factors(lu, pivots);
  const int64_t m = lu.size(-2), k = pivots.size(-1);
  LuResult out;
  if (unpack_pivots) {
    const Tensor order = dispatch::apply(op::PivotOrder{m, true}, pivots);
    out.p = cast(unsqueeze(order, -1) == arange(0, m, 1, i64, lu.device()), lu.dtype());
  }
  if (unpack_data) {
    out.l = tril(narrow(lu, -1, 0, k), -1) + eye(m, k, lu.dtype(), lu.device());
    out.u = triu(narrow(lu, -2, 0, k));
  }
  return out;
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool transposed) {
  ErrorFrame frame("lu_solve", lu, pivots, b);
  adjoint::check_square(lu);
  check_factors(lu, pivots);
  if (b.rank() < 2 || b.size(left ? -2 : -1) != lu.size(-1))
    throw ShapeError(
        text("the right side must have ", lu.size(-1), left ? " rows" : " columns", ", its shape is ", b.shape()));
  dispatch::apply(op::PivotOrder{lu.size(-1), false}, pivots);  // checks the range of each pivot
  const DType dtype = promote(lu.dtype(), b.dtype());
  const Tensor factors = cast(lu, dtype);
  // The gradient of op::LuSolve is that of the matrix.
  Tensor a = factors.detach();
  if (dispatch::may_need_gradient(factors)) {
    const auto [p, l, u] = lu_unpack(factors, pivots, true, false);
    a = adjoint::permute_rows(adjoint::exact_matmul(l, u), pivots, false);
  }
  const Tensor right = cast(left ? b : transpose(b, -2, -1), dtype);
  const Tensor x = solved_by(a, factors.detach(), pivots, right, transposed == left);
  return left ? x : transpose(x, -2, -1);
}

Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& axes) {
  ErrorFrame frame("tensorsolve", a, b);
  IntList to;
  for (int64_t i = 0; i < axes.rank(); ++i) to.push_back(i - axes.rank());
  const Tensor moved = movedim(a, axes, to);
  if (moved.rank() < b.rank()) throw ShapeError("a must have at least as many axes as b");
  const Shape shape(moved.shape().begin() + b.rank(), moved.shape().end());
  if (checked_numel(shape) != b.numel() || moved.numel() != checked_multiply(b.numel(), b.numel()))
    throw ShapeError(text("the last sizes of a, ", shape, ", must have the product of b's, ", b.numel(),
                          ", and so must those before them"));
  return reshape(solve(reshape(moved, {b.numel(), b.numel()}), reshape(b, {b.numel()})), shape);
}

Tensor tensorinv(const Tensor& x, int64_t count) {
  ErrorFrame frame("tensorinv", x);
  if (count < 1 || count > x.rank())
    throw ShapeError(text("count must lie between 1 and the ", x.rank(), " axes, not be ", count));
  const Shape first(x.shape().begin(), x.shape().begin() + count), last(x.shape().begin() + count, x.shape().end());
  const int64_t rows = checked_numel(first), columns = checked_numel(last);
  if (rows != columns)
    throw ShapeError(text("the products of ", first, " and ", last, " must be equal, not ", rows, " and ", columns));
  Shape shape = last;
  for (const int64_t size : first) shape.push_back(size);
  return reshape(inv(reshape(x, {rows, columns})), shape);
}

Tensor adjoint::permute_rows(const Tensor& x, const Tensor& pivots, bool transposed) {
  const Tensor order = dispatch::apply(op::PivotOrder{x.size(-2), !transposed}, pivots);
  return gather(x, -2, expand(unsqueeze(order, -1), x.shape()));
}

Tensor adjoint::inverse_transposed(const Tensor& a, const Tensor& lu, const Tensor& pivots) {
  return lu_solve(a, lu, pivots, identity_like(a), true);
}

Tensor det(const Tensor& a) {
  ErrorFrame frame("det", a);
  adjoint::check_square(a);
  const auto [lu, pivots] = factors_of(a);
  return dispatch::apply(op::Det{}, a, lu, pivots);
}

SlogdetResult slogdet(const Tensor& a) {
  ErrorFrame frame("slogdet", a);
  adjoint::check_square(a);
  const auto [lu, pivots] = factors_of(a);
  auto [sign, log] = dispatch::apply(op::Slogdet{}, a, lu, pivots);
  return {sign.detach(), log};
}

Tensor logdet(const Tensor& a) {
  ErrorFrame frame("logdet", a);
  const auto [sign, log] = slogdet(a);
  // Added, so that the gradient is what it is for a positive determinant.
  const Tensor nan = full_like(sign, std::numeric_limits<double>::quiet_NaN());
  return log + where(sign < 0.0, nan, zeros_like(sign));
}

Tensor adjoint::cofactors(const Tensor& a) {
  const auto [u, s, vh] = svd(a, false);
  const Tensor sign = det(u.detach()) * det(vh.detach());
  // The product of all s but one: a row of s for each, with 1 in its place.
  const int64_t n = a.size(-1);
  const Tensor one = eye(n, std::nullopt, a.dtype(), a.device());
  const Tensor others = prod(where(one > 0.0, one, unsqueeze(s, -2)), -1);
  return matmul(u * unsqueeze(others * unsqueeze(sign, -1), -2), vh);
}

Tensor adjoint::lower_part(const Tensor& x, int64_t offset) {
  const Tensor rows = unsqueeze(arange(0, x.size(-2), 1, i64, x.device()), 1);
  const Tensor columns = arange(0, x.size(-1), 1, i64, x.device());
  return where(columns <= rows + offset, x, zeros({}, x.dtype(), x.device()));
}
Tensor adjoint::upper_part(const Tensor& x, int64_t offset) {
  return transpose(lower_part(transpose(x, -2, -1), -offset), -2, -1);
}
Tensor adjoint::diagonal_matrix(const Tensor& x) {
  const Tensor one = eye(x.size(-1), std::nullopt, x.dtype(), x.device());
  return where(one > 0.0, unsqueeze(x, -1), zeros({}, x.dtype(), x.device()));
}

void adjoint::check_square(const Tensor& a) {
  if (a.rank() < 2 || a.size(-1) != a.size(-2))
    throw ShapeError(text("it takes square matrices (..., n, n), not shape ", a.shape()));
}
bool adjoint::are_vectors(const Tensor& b, const Tensor& a) {
  return b.rank() == 1 || (b.rank() + 1 == a.rank() && b.shape() == Shape(a.shape().begin(), a.shape().end() - 1));
}
Shape adjoint::common_batch(const Tensor& a, const Tensor& b) {
  return broadcast_shapes(Shape(a.shape().begin(), a.shape().end() - 2), Shape(b.shape().begin(), b.shape().end() - 2));
}
Tensor adjoint::with_batch(const Tensor& x, const Shape& batch, int64_t inner) {
  Shape shape = batch;
  for (int64_t i = inner; i > 0; --i) shape.push_back(x.size(-i));
  return x.shape() == shape ? x : broadcast(x, shape);
}

}  // namespace weft
