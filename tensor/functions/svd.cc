#include "tensor/functions/svd.h"

#include <algorithm>

#include "tensor/adjoints/linalg.h"
#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/eig.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/svd.h"

namespace weft {
namespace {

/// The options' relative and absolute tolerance.
std::pair<double, double> tolerances(const Tensor& a, const PinvOptions& options) {
  const double atol = options.atol.value_or(0), given = options.rtol.value_or(0);
  if (!(atol >= 0)) throw Error(text("atol = ", atol, " must be 0 or more"));
  if (!(given >= 0)) throw Error(text("rtol = ", given, " must be 0 or more"));
  if (options.rtol || atol > 0 || a.rank() < 2) return {given, atol};
  const double epsilon = a.dtype() == f64 ? 0x1p-52 : 0x1p-23;
  return {epsilon * static_cast<double>(std::max(a.size(-1), a.size(-2))), atol};
}

/// Whether no diagonal element of the triangular factors r is negligible beside the largest.
bool has_full_rank(const Tensor& a, const Tensor& r) {
  if (r.numel() == 0) return true;
  const Tensor pivots = abs(diagonal(r.detach(), 0, -2, -1));
  const Tensor full = min(pivots, -1) > max(pivots, -1) * tolerances(a, {}).first;
  return all(dispatch::all_samples(full)).item<bool>();
}

/// The least-squares solution for matrices (..., m, n), m >= n. x is undefined if a matrix does not have full rank.
struct Solved {
  Tensor x, residuals;
};

Solved solve_by_factors(const Tensor& a, const Tensor& b) {
  const auto [q, r] = qr(a);
  if (!has_full_rank(a, r)) return {};
  const Tensor x = solve_triangular(r, adjoint::exact_matmul(transpose(q, -2, -1), b), {.upper = true});
  return {x, sum(square(adjoint::exact_matmul(a, x) - b), -2)};
}

/// The triangular factor of the matrix (a b) in parts: that of a is `r`; to its right is q^T b; below that is a
/// triangle whose columns have the norms of the residuals of b.
struct Triangles {
  Tensor r, qb, rest;
};

Triangles triangles_of(const Tensor& a, const Tensor& b) {
  const int64_t m = a.size(-2), n = a.size(-1), k = b.size(-1);
  const Shape batches = adjoint::common_batch(a, b);
  Tensor both = cat({adjoint::with_batch(a, batches), adjoint::with_batch(b, batches)}, -1);
  if (m < n + k) {  // rows of zeros do not change the triangle
    Shape shape = batches;
    shape.push_back(n + k - m), shape.push_back(n + k);
    both = cat({both, zeros(shape, both.dtype(), both.device())}, -2);
  }
  const Tensor triangle = qr(both, QrMode::r).r, upper = narrow(triangle, -2, 0, n), lower = narrow(triangle, -2, n, k);
  return {narrow(upper, -1, 0, n), narrow(upper, -1, n, k), narrow(lower, -1, n, k)};
}

/// The same without computing q, and so without gradients.
Solved solve_by_triangle(const Tensor& a, const Triangles& triangles) {
  const auto& [r, qb, rest] = triangles;
  if (!has_full_rank(a, r)) return {};
  return {solve_triangular(r, qb, {.upper = true}), sum(square(rest), -2)};
}

/// The solution of least norm, and the rank, for f32 or f64 matrices (m >= n) without full rank; computed without
/// gradients, in f64, from the triangular factor, which has the singular values of a and fewer rows. `triangles` are
/// those of (a b) in its own dtype; those of f32 are computed once more, in f64.
LstsqResult solve_deficient(const Tensor& a, const Tensor& b, const Triangles& triangles) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const auto [r, qb, rest] = dtype == f64 ? triangles : triangles_of(cast(a, f64), cast(b, f64));
  const auto [u, s, vh] = svd(r, false);
  const Tensor counts = s > max(s, -1, keepdim) * tolerances(a, {}).first;
  const Tensor inverse = where(counts, reciprocal(s), zeros({}, f64, a.device()));
  const Tensor turned = unsqueeze(inverse, -1) * adjoint::exact_matmul(transpose(u, -2, -1), qb);
  const Tensor x = cast(adjoint::exact_matmul(transpose(vh, -2, -1), turned), dtype);
  return {x, zeros({0}, dtype, a.device()), sum(counts, -1)};
}

/// The solution of least norm for f32 or f64 matrices with fewer rows than columns, computed in f64 by a^T = q r.
/// Undefined unless the rank is certainly full: the product of the Frobenius norms of r and of its inverse is an upper
/// bound of the ratio of the singular values.
Tensor solve_wide(const Tensor& a, const Tensor& b) {
  const auto [q, r] = qr(transpose(cast(a, f64), -2, -1));
  if (!has_full_rank(a, r)) return {};
  const Tensor one = eye(r.size(-1), std::nullopt, f64, a.device()), known = r.detach();
  const Tensor inverse = solve_triangular(known, one, {.upper = true});
  const auto squares = [](const Tensor& x) { return sum(square(x), {-2, -1}); };
  const double tolerance = tolerances(a, {}).first;
  const Tensor full = squares(known) * squares(inverse) * (tolerance * tolerance) < 1.0;
  if (!all(dispatch::all_samples(full)).item<bool>()) return {};
  const Tensor x = solve_triangular(transpose(r, -2, -1), cast(b, f64), {.upper = false});
  return cast(adjoint::exact_matmul(q, x), promote(a.dtype(), b.dtype()));
}

bool is_exact(const Tensor& x) { return x.dtype() == f32 || x.dtype() == f64; }

/// lstsq() for right sides that are matrices.
LstsqResult least_squares(const Tensor& a, const Tensor& b) {
  const Shape batch(a.shape().begin(), a.shape().end() - 2);
  const auto none = [&](const Tensor& x) { return zeros({0}, x.dtype(), a.device()); };
  const bool gradients = dispatch::may_need_gradient(a) || dispatch::may_need_gradient(b);
  const bool exact = is_exact(a) && is_exact(b) && a.numel() > 0;
  if (a.size(-2) >= a.size(-1)) {
    const bool by_factors = gradients || b.size(-1) > a.size(-1);
    const Triangles triangles = by_factors ? Triangles{} : triangles_of(a, b);
    const auto [x, residuals] = by_factors ? solve_by_factors(a, b) : solve_by_triangle(a, triangles);
    if (x.defined())
      return {x, a.size(-2) > a.size(-1) ? residuals : none(x), full(batch, a.size(-1), i64, a.device())};
    if (exact && !by_factors && adjoint::common_batch(a, b) == batch) return solve_deficient(a, b, triangles);
  } else if (constexpr int64_t kFewRows = 8; exact && a.size(-2) >= kFewRows) {  // for fewer rows, pinv() is faster
    if (const Tensor x = solve_wide(a, b); x.defined()) return {x, none(x), full(batch, a.size(-2), i64, a.device())};
  }
  const Tensor x = adjoint::exact_matmul(pinv(a), b);
  return {x, none(x), matrix_rank(a)};
}

}  // namespace

SvdResult svd(const Tensor& a, bool full_matrices) {
  ErrorFrame frame("svd", a);
  auto [u, s, vh] = dispatch::apply(op::Svd{full_matrices}, a);
  return {u, s, vh};
}

Tensor svdvals(const Tensor& a) {
  ErrorFrame frame("svdvals", a);
  // The gradient needs the singular vectors.
  return dispatch::apply(op::Svd{false, dispatch::may_need_gradient(a)}, a)[1];
}

Tensor pinv(const Tensor& a, const PinvOptions& options) {
  ErrorFrame frame("pinv", a);
  const auto [rtol, atol] = tolerances(a, options);
  return dispatch::apply(op::Pinv{rtol, atol, options.hermitian}, a);
}

Tensor matrix_rank(const Tensor& a, const PinvOptions& options) {
  ErrorFrame frame("matrix_rank", a);
  const auto [rtol, atol] = tolerances(a, options);
  const Tensor s = options.hermitian ? abs(eigvalsh(a.detach())) : svdvals(a.detach());
  if (s.numel() == 0) return zeros(Shape(s.shape().begin(), s.shape().end() - 1), i64, a.device());
  return sum(s > maximum(max(s, -1, keepdim) * rtol, full({}, atol, s.dtype(), a.device())), -1);
}

LstsqResult lstsq(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("lstsq", a, b);
  const bool vectors = adjoint::are_vectors(b, a);
  const Tensor columns = vectors ? unsqueeze(b, -1) : b;
  if (a.rank() < 2 || columns.rank() < 2 || a.size(-2) != columns.size(-2))
    throw ShapeError(
        text("it takes (..., m, n) and (..., m, k) or (..., m), not shapes ", a.shape(), " and ", b.shape()));
  LstsqResult out = least_squares(a, columns);
  if (!vectors) return out;
  // No residuals, of shape (0), stay as they are.
  return {squeeze(out.solution, -1), squeeze(out.residuals, -1), out.rank};
}

}  // namespace weft
