#include "tensor/functions/qr.h"

#include <algorithm>
#include <vector>

#include "tensor/adjoints/linalg.h"
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

/// A few reflections, whose product is I - V T V^T. With D = diag(tau) and S the part of V^T V above its diagonal,
/// T = (I + D S)^-1 D, also where a tau is 0.
class Reflections {
 public:
  /// Those of columns [first, first + count) of a, which act on rows from `first` on.
  Reflections(const Tensor& a, const Tensor& tau, int64_t first, int64_t count) : first_(first) {
    const int64_t rows = a.size(-2) - first;
    const Tensor below = narrow(narrow(a, -2, first, rows), -1, first, count);
    v_ = tril(below, -1) + eye(rows, count, a.dtype(), a.device());
    tau_ = unsqueeze(narrow(tau, -1, first, count), -1);
    products_ = tau_ * adjoint::exact_matmul(transpose(v_, -2, -1), v_);
  }

  int64_t first() const { return first_; }

  /// From what the first columns of the product of all later reflections have beside an identity matrix (undefined if
  /// there are none later), the same for the product with these in front; `columns` of them.
  Tensor beside_identity(const Tensor& later, int64_t columns) const {
    const Tensor top = transpose(narrow(v_, -2, 0, columns), -2, -1);
    if (!later.defined()) return -adjoint::exact_matmul(v_, times_t(top, false));
    std::vector<Padding> widths(static_cast<size_t>(later.rank()));
    widths[widths.size() - 2] = widths.back() = {v_.size(-1), 0};
    const Tensor moved = pad(later, widths);
    const Tensor dots = adjoint::exact_matmul(transpose(v_, -2, -1), moved) + top;
    return moved - adjoint::exact_matmul(v_, times_t(dots, false));
  }

  /// The product with c, or of the transposed matrix with c, which has the same batch axes.
  Tensor times(const Tensor& c, bool transposed) const {
    const Tensor given = narrow(c, -2, first_, v_.size(-2));
    const Tensor dots = adjoint::exact_matmul(transpose(v_, -2, -1), given);
    const Tensor changed = given - adjoint::exact_matmul(v_, times_t(dots, transposed));
    return first_ == 0 ? changed : cat({narrow(c, -2, 0, first_), changed}, -2);
  }

 private:
  Tensor times_t(const Tensor& x, bool transposed) const {
    if (!transposed) return solve_triangular(products_, tau_ * x, {.upper = true, .unitriangular = true});
    return tau_ * solve_triangular(transpose(products_, -2, -1), x, {.upper = false, .unitriangular = true});
  }

  int64_t first_;
  Tensor v_, tau_;   // (..., rows, count), (..., count, 1)
  Tensor products_;  // D V^T V, whose part above the diagonal is D S
};

/// All reflections of a and tau, some at a time: T has as many rows and columns.
std::vector<Reflections> reflections_of(const Tensor& a, const Tensor& tau) {
  constexpr int64_t kCount = 64;
  const auto batch = [](const Tensor& x, int64_t inner) { return Shape(x.shape().begin(), x.shape().end() - inner); };
  const bool fits = a.rank() >= 2 && tau.rank() + 1 == a.rank() && batch(a, 2) == batch(tau, 1) &&
                    tau.size(-1) <= a.size(-1) && tau.size(-1) <= a.size(-2);
  if (!fits)
    throw ShapeError(text("it takes (..., m, n) and tau (..., k) with k <= m and k <= n, not shapes ", a.shape(),
                          " and ", tau.shape()));
  const DType dtype = promote(a.dtype(), tau.dtype());
  const Tensor vectors = cast(a, dtype), factors = cast(tau, dtype);
  std::vector<Reflections> out;
  for (int64_t first = 0, k = tau.size(-1); first == 0 || first < k; first += kCount)
    out.emplace_back(vectors, factors, first, std::min(kCount, k - first));
  return out;
}

/// The product of these reflections, in this order or (transposed) the other one, with c.
Tensor times_all(const std::vector<Reflections>& reflections, const Tensor& c, bool transposed) {
  Tensor x = c;
  for (size_t i = 0; i < reflections.size(); ++i)
    x = reflections[transposed ? i : reflections.size() - 1 - i].times(x, transposed);
  return x;
}

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
  const std::vector<Reflections> reflections = reflections_of(a, tau);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m < n) throw ShapeError(text("it takes at least as many rows as columns, not shape ", a.shape()));
  Tensor beside;
  for (size_t i = reflections.size(); i-- > 0;)
    beside = reflections[i].beside_identity(beside, n - reflections[i].first());
  return beside + eye(m, n, beside.dtype(), beside.device());
}

Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& c, bool left, bool transposed) {
  ErrorFrame frame("ormqr", a, tau, c);
  const std::vector<Reflections> reflections = reflections_of(a, tau);
  if (c.rank() < 2 || c.size(left ? -2 : -1) != a.size(-2))
    throw ShapeError(
        text("c must have ", a.size(-2), left ? " rows" : " columns", " as a has rows, its shape is ", c.shape()));
  const Tensor given = adjoint::with_batch(c, adjoint::common_batch(a, c));
  if (left) return times_all(reflections, given, transposed);
  return transpose(times_all(reflections, transpose(given, -2, -1), !transposed), -2, -1);
}

}  // namespace weft
