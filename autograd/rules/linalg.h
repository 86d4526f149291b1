// Rules of linear algebra. First square systems: for x = a^-1 b, the gradients satisfy da = -db x^T. Then
// factorizations; tensor/functions names the sources of their formulas.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/linalg.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/view.h"
#include "tensor/ops/eig.h"
#include "tensor/ops/lu.h"
#include "tensor/ops/matrix_exp.h"
#include "tensor/ops/qr.h"
#include "tensor/ops/svd.h"
#include "tensor/ops/triangular.h"

namespace weft::autograd {

namespace formulas {
Tensor det_rule(const Tensor& g, const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& y);
Tensor lu_factor_rule(const Tensor& g, const Tensor& lu, const Tensor& pivots);
Tensor cholesky_rule(const op::Cholesky& op, const Tensor& g, const Tensor& y, const Tensor& info);
Tensor qr_rule(const op::Qr& op, const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r);
Tensor svd_rule(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u, const Tensor& s,
                const Tensor& vh);
Tensor pinv_rule(const op::Pinv& op, const Tensor& g, const Tensor& a, const Tensor& y);
Tensor eigh_rule(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v);
Tensor eig_rule(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v);
Tensor matrix_exp_rule(const Tensor& g, const Tensor& a);
}  // namespace formulas

WEFT_GRADIENT(LuFactor) = per_input(  //
    [](Grad g, Output lu, OutputOf<1> pivots) { return formulas::lu_factor_rule(g, lu, pivots); });
WEFT_GRADIENT(PivotOrder) = not_differentiable("integers");

WEFT_GRADIENT(LuSolve) = joint([](const op::LuSolve& op, Grad g, Input<0> a, Input<1> lu, Input<2> pivots, Output x,
                                  Needs needs) {
  const Tensor db = adjoint::lu_solve(a, lu, pivots, g, !op.transposed);
  Tensor da;
  if (needs[0]) da = op.transposed ? -matmul(x, db.t()) : -matmul(db, x.t());
  return std::vector<Tensor>{da, Tensor(), Tensor(), db};
});

WEFT_GRADIENT(Det) = per_input(  //
    [](Grad g, Input<0> a, Input<1> lu, Input<2> pivots, Output y) { return formulas::det_rule(g, a, lu, pivots, y); },
    no_gradient, no_gradient);

WEFT_GRADIENT(Slogdet) = per_input(
    [](GradOf<1> g, Input<0> a, Input<1> lu, Input<2> pivots) {
      if (!g.defined()) return Tensor();
      return unsqueeze(unsqueeze(g, -1), -1) * adjoint::inverse_transposed(a, lu, pivots);
    },
    no_gradient, no_gradient);

WEFT_GRADIENT(Cholesky) = per_input([](const op::Cholesky& op, Grad g, Output y, OutputOf<1> info) {
  return formulas::cholesky_rule(op, g, y, info);
});

WEFT_GRADIENT(SolveTriangular) = joint([](const op::SolveTriangular& op, Grad g, Input<0> a, Output x, Needs needs) {
  const Tensor db = solve_triangular(a.t(), g, {.upper = !op.upper, .unitriangular = op.unit});
  Tensor da;
  const int64_t skipped = op.unit ? 1 : 0;
  if (needs[0]) da = -matmul(db, x.t());
  if (needs[0]) da = op.upper ? adjoint::upper_part(da, skipped) : adjoint::lower_part(da, -skipped);
  return std::vector<Tensor>{da, db};
});

WEFT_GRADIENT(Qr) = per_input([](const op::Qr& op, Grad gq, GradOf<1> gr, Output q, OutputOf<1> r) {
  return formulas::qr_rule(op, gq, gr, q, r);
});

WEFT_GRADIENT(Geqrf) = not_differentiable("qr() has a gradient");

WEFT_GRADIENT(Svd) = per_input([](Grad gu, GradOf<1> gs, GradOf<2> gvh, Output u, OutputOf<1> s, OutputOf<2> vh) {
  return formulas::svd_rule(gu, gs, gvh, u, s, vh);
});

WEFT_GRADIENT(Pinv) = per_input([](const op::Pinv& op, Grad g, Input<0> a, Output y) {
  return formulas::pinv_rule(op, g, a, y);
});

WEFT_GRADIENT(Eigh) = per_input([](Grad gw, GradOf<1> gv, Output w, OutputOf<1> v) {
  return formulas::eigh_rule(gw, gv, w, v);
});

WEFT_GRADIENT(Eig) = per_input([](Grad gw, GradOf<1> gv, Output w, OutputOf<1> v) {
  return formulas::eig_rule(gw, gv, w, v);
});

WEFT_GRADIENT(MatrixExp) = per_input([](Grad g, Input<0> a) { return formulas::matrix_exp_rule(g, a); });

}  // namespace weft::autograd
