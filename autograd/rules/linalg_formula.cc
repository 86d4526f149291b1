// Gradients of determinants and factorizations, with public ops.
#include <cmath>

#include "autograd/rules/linalg.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matrix_exp.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::autograd::formulas {
namespace {

/// 1 / (x_j - x_i) at (i, j), and 0 on the diagonal.
Tensor inverse_differences(const Tensor& x) {
  const Tensor differences = unsqueeze(x, -2) - unsqueeze(x, -1);
  const Tensor one = eye(x.size(-1), std::nullopt, x.dtype(), x.device());
  return where(one > 0.0, zeros({}, x.dtype(), x.device()), 1.0 / where(one > 0.0, one, differences));
}

/// The sum of what is defined.
Tensor total(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

Tensor without_diagonal(const Tensor& x) {
  const Tensor one = eye(x.size(-1), std::nullopt, x.dtype(), x.device());
  return where(one > 0.0, zeros({}, x.dtype(), x.device()), x);
}

}  // namespace

/// The inverse, or the cofactors of what is singular. Of a batch each matrix has its own: in place of one of the other
/// kind stands one that both ways can differentiate, whatever its values were.
Tensor det_rule(const Tensor& g, const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& y) {
  const auto by_inverse = [&](const Tensor& matrices, const Tensor& factors) {
    return unsqueeze(unsqueeze(g * y, -1), -1) * adjoint::inverse_transposed(matrices, factors, pivots);
  };
  const Tensor singular = any(diagonal(lu, 0, -2, -1) == 0.0, -1);
  if (!any(dispatch::all_samples(singular)).item<bool>()) return by_inverse(a, lu);
  const int64_t n = a.size(-1);
  const Tensor each = unsqueeze(unsqueeze(g, -1), -1), which = unsqueeze(unsqueeze(singular, -1), -1);
  // Its singular values differ, and their product is below e.
  const Tensor values = arange(0, n, 1, a.dtype(), a.device()) / static_cast<double>(n * n) + 1.0;
  const Tensor regular = adjoint::diagonal_matrix(values);
  return where(which, each * adjoint::cofactors(where(which, a, regular)),
               by_inverse(where(which, regular, a), where(which, regular, lu)));
}

/// For square a = p l u: p l^-T [tril(l^T gl, -1) + triu(gu u^T)] u^-T, as l^-1 p^T da u^-1 = l^-1 dl + du u^-1. A tall
/// matrix also has the rows p gl u^-T below these, a wide one the columns p l^-T gu beside them, where gl and gu are
/// the gradients of the other rows of l or columns of u; their products with l or u are subtracted inside the brackets.
Tensor lu_factor_rule(const Tensor& g, const Tensor& lu, const Tensor& pivots) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = pivots.size(-1);
  const Tensor top = narrow(g, -2, 0, k), square = narrow(top, -1, 0, k), right = narrow(top, -1, k, n - k);
  const Tensor below = narrow(g, -2, k, m - k);
  const Tensor lower = tril(narrow(lu, -1, 0, k), -1) + eye(m, k, lu.dtype(), lu.device());
  const Tensor upper = triu(narrow(lu, -2, 0, k)), factors = narrow(narrow(lu, -2, 0, k), -1, 0, k);
  Tensor by_l = matmul(narrow(lower, -2, 0, k).t(), tril(square, -1));
  Tensor by_u = matmul(triu(square), narrow(upper, -1, 0, k).t());
  if (m > n) by_u = by_u - matmul(narrow(lower, -2, k, m - k).t(), below);
  if (m < n) by_l = by_l - matmul(right, narrow(upper, -1, k, n - k).t());
  const auto by_inverse_l = [&](const Tensor& x) {
    return solve_triangular(factors.t(), x, {.upper = true, .unitriangular = true});
  };
  const auto by_inverse_u = [&](const Tensor& x) {
    return solve_triangular(factors.t(), x, {.upper = false, .left = false});
  };
  const Tensor middle = tril(by_l, -1) + triu(by_u);
  if (m > n) return adjoint::permute_rows(by_inverse_u(cat({by_inverse_l(middle), below}, -2)), pivots, false);
  const Tensor beside = by_inverse_u(middle);
  return adjoint::permute_rows(by_inverse_l(m < n ? cat({beside, right}, -1) : beside), pivots, false);
}

/// With phi(x) the lower triangle and half the diagonal: l^-T sym(phi(l^T g)) l^-1 (Murray 2016, equation 10). A
/// matrix that is not positive definite has the gradient 0: an identity matrix replaces its factor, which is NaN.
Tensor cholesky_rule(const op::Cholesky& op, const Tensor& g, const Tensor& y, const Tensor& info) {
  Tensor l = op.upper ? y.t() : y;
  const Tensor known = op.checked ? Tensor() : unsqueeze(unsqueeze(info == 0, -1), -1);
  if (known.defined()) l = where(known, l, eye(l.size(-1), std::nullopt, l.dtype(), l.device()));
  const Tensor product = matmul(l.t(), adjoint::lower_part(op.upper ? g.t() : g));
  const Tensor lower = adjoint::lower_part(product, -1);
  const Tensor middle = (lower + lower.t() + adjoint::diagonal_matrix(diagonal(product, 0, -2, -1))) * 0.5;
  const Tensor half = solve_triangular(l.t(), middle, {.upper = true});
  const Tensor out = solve_triangular(l, half, {.upper = false, .left = false});
  return known.defined() ? where(known, out, zeros({}, out.dtype(), out.device())) : out;
}

/// [gq + q copyltu(r gr^T - gq^T q)] r^-T, where copyltu mirrors the lower triangle (Walter and Lehmann 2018).
Tensor qr_rule(const op::Qr& op, const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  if (!op.vectors) throw GradientError("QrMode::r has no gradient; use QrMode::reduced");
  if (op.complete && q.size(-1) > r.size(-1))
    throw GradientError("QrMode::complete has no gradient where there are more rows than columns; use QrMode::reduced");
  const Tensor product =
      total(gr.defined() ? matmul(r, gr.t()) : Tensor(), gq.defined() ? -matmul(gq.t(), q) : Tensor());
  const Tensor mirrored = adjoint::lower_part(product) + adjoint::lower_part(product, -1).t();
  const Tensor right = total(gq, matmul(q, mirrored));
  return solve_triangular(r.t(), right, {.upper = false, .left = false});
}

/// Townsend 2016, section 1.1, with gradients of what lies beside u and v where a is not square.
Tensor svd_rule(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u, const Tensor& s,
                const Tensor& vh) {
  const int64_t k = s.size(-1);
  if ((gu.defined() && u.size(-1) > k) || (gvh.defined() && vh.size(-2) > k))
    throw GradientError("full_matrices has no gradient where it adds columns to u or rows to vh; leave them out");
  const Tensor v = vh.t();
  Tensor middle;
  if (gs.defined()) middle = adjoint::diagonal_matrix(gs);
  const Tensor row = unsqueeze(s, -2), column = unsqueeze(s, -1);
  if (gu.defined() || gvh.defined()) {
    // Divided by s_j^2 - s_i^2 in two steps: the squares may be beyond what the dtype holds.
    const Tensor one = eye(k, std::nullopt, s.dtype(), s.device());
    const Tensor inverse = inverse_differences(s), sums = where(one > 0.0, one, row + column);
    const auto add = [&](const Tensor& product, const Tensor& values) {
      middle = total(middle, (product - product.t()) * (values / sums) * inverse);
    };
    if (gu.defined()) add(matmul(u.t(), gu), row);
    if (gvh.defined()) add(matmul(vh, gvh.t()), column);
  }
  if (!middle.defined()) return {};
  const Tensor left = u.size(-1) > k ? narrow(u, -1, 0, k) : u, right = vh.size(-2) > k ? narrow(vh, -2, 0, k) : vh;
  Tensor out = matmul(matmul(left, middle), right);
  if (gu.defined() && u.size(-2) > k) {  // the part of gu outside of u's columns
    const Tensor scaled = gu / row;
    out = out + matmul(scaled - matmul(u, matmul(u.t(), scaled)), vh);
  }
  if (gvh.defined() && v.size(-2) > k) {
    const Tensor scaled = gvh / column;
    out = out + matmul(u, scaled - matmul(matmul(scaled, v), vh));
  }
  return out;
}

/// Golub and Pereyra 1973, equation 4.12: of y = a^+, -y da y + y y^T da^T (1 - a y) + (1 - y a) da^T y^T y,
/// transposed. No product is a square of a's longer side. If `hermitian`, it is the symmetric part of that, for the
/// matrix that the lower triangle of a describes.
Tensor pinv_rule(const op::Pinv& op, const Tensor& g, const Tensor& a, const Tensor& y) {
  if (op.hermitian) {
    const Tensor out = pinv_rule({op.rtol, op.atol}, g, tril(a) + tril(a, -1).t(), y);
    return (out + out.t()) * 0.5;
  }
  const Tensor yt = y.t(), gt = g.t();
  if (a.size(-2) < a.size(-1)) {
    const Tensor first = matmul(matmul(yt, g), yt);
    const Tensor second = matmul(matmul(gt - matmul(matmul(a, y), gt), y), yt);
    const Tensor third = matmul(matmul(yt, y), gt - matmul(matmul(gt, y), a));
    return second + third - first;
  }
  const Tensor first = matmul(yt, matmul(g, yt));
  const Tensor second = matmul(gt - matmul(a, matmul(y, gt)), matmul(y, yt));
  const Tensor third = matmul(yt, matmul(y, gt - matmul(gt, matmul(y, a))));
  return second + third - first;
}

/// v (diag(gw) + (v^T gv) / (w_j - w_i)) v^T (Giles 2008, section 3.1).
Tensor eigh_rule(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v) {
  Tensor middle;
  if (gw.defined()) middle = adjoint::diagonal_matrix(gw);
  if (gv.defined()) {
    const Tensor product = matmul(v.t(), gv);
    // Its skew part: a change of a symmetric matrix turns the vectors and does nothing else to them.
    middle = total(middle, (product - product.t()) * 0.5 * inverse_differences(w));
  }
  return middle.defined() ? matmul(matmul(v, middle), v.t()) : Tensor();
}

/// v^-T (diag(gw) + (v^T gv - v^T v diag(v^T gv)) / (w_j - w_i)) v^T: vectors keep their length.
Tensor eig_rule(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v) {
  Tensor middle;
  if (gw.defined()) middle = adjoint::diagonal_matrix(gw);
  if (gv.defined()) {
    const Tensor product = matmul(v.t(), gv);
    const Tensor lengths = matmul(v.t(), v) * unsqueeze(diagonal(product, 0, -2, -1), -2);
    middle = total(middle, without_diagonal(product - lengths) * inverse_differences(w));
  }
  return middle.defined() ? solve(v.t(), matmul(middle, v.t())) : Tensor();
}

/// The upper right block of exp([[a^T, g], [0, a^T]]) (Mathias 1996). It is linear in g, whose elements are brought
/// down to 1: matrix_exp() halves a matrix of large norm so often that a^T would lose its digits.
Tensor matrix_exp_rule(const Tensor& g, const Tensor& a) {
  if (g.numel() == 0) return g;
  const Tensor at = a.t(), size = clip(norm(g.detach(), INFINITY, {-2, -1}, keepdim), 1.0);
  const int64_t n = a.size(-1);
  const Tensor doubled = cat({cat({at, g / size}, -1), cat({zeros_like(at), at}, -1)}, -2);
  return narrow(narrow(matrix_exp(doubled), -2, 0, n), -1, n, n) * size;
}

}  // namespace weft::autograd::formulas
