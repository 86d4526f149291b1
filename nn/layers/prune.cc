#include "nn/layers/prune.h"

#include <cmath>

#include "tensor/core/axis_lists.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index_put.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

/// The number of elements or slices, of `size`, that `amount` removes.
int64_t count_of(const Scalar& amount, int64_t size) {
  if (!amount.is_floating()) {
    if (amount.to_int() < 0 || amount.to_int() > size)
      throw Error(text("the amount ", amount.to_int(), " is not in [0, ", size, "], the number of elements or slices"));
    return amount.to_int();
  }
  const double fraction = amount.to_double();
  if (!(fraction >= 0 && fraction <= 1)) throw Error(text("the amount ", fraction, " is not a fraction in [0, 1]"));
  return static_cast<int64_t>(std::nearbyint(fraction * static_cast<double>(size)));
}

/// 0 for the smallest of `scores` (n), else 1, in f32.
Tensor without_smallest(const Tensor& scores, const Scalar& amount) {
  const Tensor order = argsort(scores, 0);  // stable
  return index_fill(ones({scores.numel()}), 0, narrow(order, 0, 0, count_of(amount, scores.numel())), 0);
}

/// The mask in the shape and dtype of the weight, on its device.
Tensor made_like(const Tensor& mask, const Tensor& weight) {
  return reshape(mask, weight.shape()).to(weight.dtype()).to(weight.device());
}

/// A mask of slices along `axis`, in the weight's shape.
Tensor of_slices(const Tensor& mask, const Tensor& weight, int64_t axis) {
  const Shape shape = internal::shape_along(axis, weight.rank(), mask.numel());
  return made_like(mask.view(shape).expand(weight.shape()).contiguous(), weight);
}

Tensor flat(const Tensor& x) { return reshape(x.detach().cpu(), {x.numel()}); }

}  // namespace

Tensor l1_mask(const Tensor& weight, const Scalar& amount) {
  ErrorFrame frame("l1_mask", weight);
  return made_like(without_smallest(abs(flat(weight)), amount), weight);
}

Tensor random_mask(const Tensor& weight, const Scalar& amount) {
  ErrorFrame frame("random_mask", weight);
  return made_like(without_smallest(rand({weight.numel()}), amount), weight);
}

Tensor ln_structured_mask(const Tensor& weight, const Scalar& amount, double n, int64_t axis) {
  ErrorFrame frame("ln_structured_mask", weight);
  const int64_t at = normalize_axis(axis, weight.rank());
  const int64_t count = weight.size(at), length = count == 0 ? 0 : weight.numel() / count;
  const Tensor slices = reshape(movedim(weight.detach().cpu(), at, 0), {count, length});
  return of_slices(without_smallest(norm(slices, n, 1), amount), weight, at);
}

Tensor random_structured_mask(const Tensor& weight, const Scalar& amount, int64_t axis) {
  ErrorFrame frame("random_structured_mask", weight);
  const int64_t at = normalize_axis(axis, weight.rank());
  return of_slices(without_smallest(rand({weight.size(at)}), amount), weight, at);
}

std::vector<Tensor> global_l1_masks(const std::vector<Tensor>& weights, const Scalar& amount) {
  ErrorFrame frame("global_l1_masks");
  if (weights.empty()) return {};
  std::vector<Tensor> sizes;
  for (const Tensor& weight : weights) sizes.push_back(abs(flat(weight)));
  const Tensor mask = without_smallest(cat(sizes, 0), amount);
  std::vector<Tensor> out;
  int64_t begin = 0;
  for (const Tensor& weight : weights) {
    out.push_back(made_like(narrow(mask, 0, begin, weight.numel()), weight));
    begin += weight.numel();
  }
  return out;
}

Tensor detail::mask_of(const Tensor& mask, const Tensor& weight) {
  if (mask.shape() != weight.shape())
    throw ShapeError(text("the mask must be ", weight.shape(), " as the weight is, not ", mask.shape()));
  return (mask.detach() != 0).to(weight.device()).to(weight.dtype());
}

Tensor detail::masked(const Tensor& weight, const Tensor& mask) { return weight * mask; }

}  // namespace weft::nn
