#include "tensor/functions/qr.h"

#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/view.h"
#include "tensor/ops/qr.h"

namespace weft {
namespace {

/// The product I - V T V^T of reflections. With D = diag(tau) and S the part of V^T V above its diagonal,
/// T = (I + D S)^-1 D, also where a tau is 0.
class Reflections {
 public:
  Reflections(const Tensor& a, const Tensor& tau) {
    const bool fits =
        a.rank() >= 2 && tau.rank() + 1 == a.rank() &&
        Shape(a.shape().begin(), a.shape().end() - 2) == Shape(tau.shape().begin(), tau.shape().end() - 1) &&
        tau.size(-1) <= a.size(-1) && tau.size(-1) <= a.size(-2);
    if (!fits)
      throw ShapeError(text("it takes (..., m, n) and tau (..., k) with k <= m and k <= n, not shapes ", a.shape(),
                            " and ", tau.shape()));
    const int64_t m = a.size(-2), k = tau.size(-1);
    const DType dtype = promote(a.dtype(), tau.dtype());
    v_ = tril(narrow(cast(a, dtype), -1, 0, k), -1) + eye(m, k, dtype, a.device());
    tau_ = unsqueeze(cast(tau, dtype), -1);
    products_ = tau_ * adjoint::exact_matmul(transpose(v_, -2, -1), v_);
  }

  /// The first n columns.
  Tensor columns(int64_t n) const {
    const Tensor one = eye(v_.size(-2), n, v_.dtype(), v_.device());
    return one - adjoint::exact_matmul(v_, times_t(transpose(narrow(v_, -2, 0, n), -2, -1), false));
  }
  /// The product with c, or of the transposed matrix with c.
  Tensor times(const Tensor& c, bool transposed) const {
    return c - adjoint::exact_matmul(v_, times_t(adjoint::exact_matmul(transpose(v_, -2, -1), c), transposed));
  }

 private:
  Tensor times_t(const Tensor& x, bool transposed) const {
    if (!transposed) return solve_triangular(products_, tau_ * x, {.upper = true, .unitriangular = true});
    return tau_ * solve_triangular(transpose(products_, -2, -1), x, {.upper = false, .unitriangular = true});
  }

  Tensor v_, tau_;   // (..., m, k), (..., k, 1)
  Tensor products_;  // D V^T V, whose part above the diagonal is D S
};

}  // namespace

QrResult qr(const Tensor& a, QrMode mode) {
  ErrorFrame frame("qr", a);
  const bool wide = a.rank() >= 2 && a.size(-2) < a.size(-1);
  const int64_t m = wide ? a.size(-2) : 0;
  const op::Qr op{.complete = mode == QrMode::complete && !wide, .vectors = mode != QrMode::r || wide};
  auto [q, r] = dispatch::apply(op, wide ? narrow(a, -1, 0, m) : a);
  // What is right of the square that was factorized follows from it.
  if (wide) r = cat({r, adjoint::exact_matmul(transpose(q, -2, -1), narrow(a, -1, m, a.size(-1) - m))}, -1);
  return {mode == QrMode::r ? Tensor() : q, r};
}

GeqrfResult geqrf(const Tensor& a) {
  ErrorFrame frame("geqrf", a);
  if (a.rank() < 2 || a.size(-2) >= a.size(-1)) {
    auto [factors, tau] = dispatch::apply(op::Geqrf{}, a);
    return {factors, tau};
  }
  const int64_t m = a.size(-2);
  const auto [factors, tau] = dispatch::apply(op::Geqrf{}, narrow(a, -1, 0, m));
  const Tensor rest = narrow(a, -1, m, a.size(-1) - m).detach();  // no gradient, as of the columns before them
  return {cat({factors, ormqr(factors, tau, rest, true, true)}, -1), tau};
}

Tensor householder_product(const Tensor& a, const Tensor& tau) {
  ErrorFrame frame("householder_product", a, tau);
  const Reflections reflections(a, tau);
  if (a.size(-2) < a.size(-1))
    throw ShapeError(text("it takes at least as many rows as columns, not shape ", a.shape()));
  return reflections.columns(a.size(-1));
}

Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool transposed) {
  ErrorFrame frame("ormqr", a, tau, c);
  const Reflections reflections(a, tau);
  if (c.rank() < 2 || c.size(left ? -2 : -1) != a.size(-2))
    throw ShapeError(
        text("c must have ", a.size(-2), left ? " rows" : " columns", " as a has rows, its shape is ", c.shape()));
  if (left) return reflections.times(c, transposed);
  return transpose(reflections.times(transpose(c, -2, -1), !transposed), -2, -1);
}

}  // namespace weft
