#include "nn/layers/orthogonal.h"

#include "autograd/grad_mode.h"
#include "tensor/autocast.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/matrix_exp.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/view.h"

namespace weft::nn::detail {
namespace {

bool is_wide(const Tensor& weight) { return weight.size(-2) < weight.size(-1); }

/// `x` (..., n, k), k <= n, and n - k more columns, which fill(shape) gives.
template <class Fill> Tensor with_columns(const Tensor& x, const Fill& fill) {
  const int64_t missing = x.size(-2) - x.size(-1);
  if (missing == 0) return x;
  std::vector<int64_t> shape = x.shape().to_vector();
  shape.back() = missing;
  return cat({x, fill(Shape(shape))}, -1);
}

}  // namespace

Tensor orthogonal_base(const Tensor& weight) {
  if (weight.rank() < 2)
    throw ShapeError(text("a weight ", weight.shape(), " is no matrix, which has two axes or more"));
  NoGrad guard;
  const Autocast exact = Autocast::off();
  const Tensor tall = is_wide(weight) ? weight.t() : weight;
  // The random columns are almost surely independent of those of the weight.
  const auto [q, r] =
      qr(with_columns(tall, [&](const Shape& shape) { return randn(shape, tall.dtype()).to(tall.device()); }));
  const Tensor diagonal_of_r = diagonal(r, 0, -2, -1);
  // Signs as if the diagonal were positive: an orthogonal weight stays as it is.
  return (q * unsqueeze(where(diagonal_of_r < 0, -1.0, 1.0).to(q.dtype()), -2)).contiguous();
}

Tensor orthogonal_weight(const Tensor& original, const Tensor& base, OrthogonalMap map) {
  const Autocast exact = Autocast::off();
  const bool wide = is_wide(original);
  const Tensor tall = wide ? original.t() : original, lower = tril(tall);
  const Tensor square =
      with_columns(lower, [&](const Shape& shape) { return zeros(shape, lower.dtype(), lower.device()); });
  const Tensor skew = square - square.t();
  Tensor rotation;
  if (map == OrthogonalMap::matrix_exp) {
    rotation = matrix_exp(skew);
  } else {
    const Tensor identity = eye(skew.size(-1), skew.dtype(), skew.device());
    rotation = solve(identity - skew * 0.5, identity + skew * 0.5);
  }
  const Tensor weight = matmul(base, narrow(rotation, -1, 0, tall.size(-1)));
  return wide ? weight.t() : weight;
}

Tensor orthogonal_start(const Tensor& weight) {
  return (eye(weight.size(-2), weight.size(-1), weight.dtype(), weight.device()) * -1.0)
      .expand(weight.shape())
      .contiguous();
}

}  // namespace weft::nn::detail
