#include "tensor/functions/distance.h"

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

Tensor at_least(const Tensor& norms, double eps) {
  return clip(norms, kept_above_zero(eps, norms.dtype()), std::nullopt);
}

}  // namespace

Tensor normalize(const Tensor& x, const NormalizeOptions& options) {
  ErrorFrame frame("normalize", x);
  return x / at_least(norm(x, options.p, options.axis, keepdim), options.eps);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis, double eps) {
  ErrorFrame frame("cosine_similarity", a, b);
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const int64_t place = normalize_axis_or_scalar(axis, shape.rank()), from_end = place - shape.rank();
  const DType dtype = promote(a.dtype(), b.dtype());
  const auto direction = [&](const Tensor& given) {
    const Tensor part = cast(given, dtype);  // a direction rounded to the smaller dtype would lose the other's digits
    // x is expanded only if it broadcasts along the axis, where its norm counts the repeated elements; along other axes
    // broadcasting after the division costs less.
    const bool whole =
        part.rank() >= -from_end && (part.rank() == 0 || part.size(from_end) == shape[static_cast<size_t>(place)]);
    const Tensor x = whole ? part : expand(part, shape), own = norm(x, 2, from_end, keepdim);
    // As in PyTorch, the lower bound eps of the norm does not change the gradient.
    return x / (own + (at_least(own, eps) - own).detach());
  };
  return sum(direction(a) * direction(b), from_end);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, KeepDim keep) {
  ErrorFrame frame("pairwise_distance", a, b);
  if (!is_floating(a.dtype()) && !is_floating(b.dtype()))  // whose differences may wrap around
    return cast(norm(cast(a, f64) - cast(b, f64) + eps, p, -1, keep), f32);
  return norm(a - b + eps, p, -1, keep);
}

}  // namespace weft
