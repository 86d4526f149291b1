#include "tensor/functions/triangular.h"

#include "tensor/adjoints/linalg.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/triangular.h"

namespace weft {

Tensor cholesky(const Tensor& a, bool upper) {
  ErrorFrame frame("cholesky", a);
  return dispatch::apply(op::Cholesky{upper}, a)[0];
}

CholeskyExResult cholesky_ex(const Tensor& a, bool upper, bool check_errors) {
  ErrorFrame frame("cholesky_ex", a);
  auto [l, info] = dispatch::apply(op::Cholesky{upper, check_errors}, a);
  return {l, info};
}

Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper) {
  ErrorFrame frame("cholesky_solve", b, l);
  adjoint::check_square(l);
  const Tensor other = transpose(l, -2, -1);
  const Tensor& lower = upper ? other : l;
  const Tensor half = solve_triangular(lower, b, {.upper = false});
  return solve_triangular(upper ? l : other, half, {.upper = true});
}

Tensor cholesky_inverse(const Tensor& l, bool upper) {
  ErrorFrame frame("cholesky_inverse", l);
  adjoint::check_square(l);
  return cholesky_solve(eye(l.size(-1), std::nullopt, l.dtype(), l.device()), l, upper);
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options) {
  ErrorFrame frame("solve_triangular", a, b);
  adjoint::check_square(a);
  if (b.rank() < 2)
    throw ShapeError(
        text("the right side must be matrices (..., ", options.left ? "n, k" : "k, n", "), not shape ", b.shape()));
  if (!options.left)
    return transpose(
        solve_triangular(transpose(a, -2, -1), transpose(b, -2, -1), {!options.upper, true, options.unitriangular}), -2,
        -1);
  const DType dtype = promote(a.dtype(), b.dtype());
  const Shape batch = adjoint::common_batch(a, b);
  return dispatch::apply(op::SolveTriangular{options.upper, options.unitriangular},
                         adjoint::with_batch(cast(a, dtype), batch), adjoint::with_batch(cast(b, dtype), batch));
}

}  // namespace weft
