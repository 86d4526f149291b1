#include "tensor/functions/cross_entropy.h"

#include "tensor/adjoints/cross_entropy.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cross_entropy.h"

namespace weft {
namespace {

/// Of targets that are distributions; a mean is over the rows, whatever they weigh.
Tensor soft_cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  if (logits.rank() == 0) throw ShapeError("logits must be (N, C, ...) or (C)");
  if (options.ignore_index >= 0)
    throw Error(text("ignore_index ", options.ignore_index, " is for targets that are classes, not probabilities"));
  const int64_t axis = logits.rank() == 1 ? 0 : 1, classes = logits.size(axis);
  if (options.weight.defined() && options.weight.shape() != Shape{classes})
    throw ShapeError(text("the class weights must be [", classes, "] ", logits.dtype(), ", not ",
                          options.weight.shape(), " ", options.weight.dtype()));
  Tensor t = targets;
  if (options.label_smoothing > 0)
    t = t * (1.0 - options.label_smoothing) + options.label_smoothing / static_cast<double>(classes);
  if (options.weight.defined()) t = t * reshape(options.weight, internal::shape_along(axis, logits.rank(), classes));
  const Tensor loss = neg(sum(t * log_softmax(logits, axis), axis));
  if (options.reduction == Reduction::none) return loss;
  return options.reduction == Reduction::sum ? sum(loss) : mean(loss);
}

/// In f32 and f64 logits and weights promote; 16 bits stay.
Tensor promoted_logits(const Tensor& logits, const Tensor& weight) {
  const bool half = is_half_precision(logits.dtype());
  if (!weight.defined() || half) return logits;
  return cast(logits, promote(logits.dtype(), weight.dtype()));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  ErrorFrame frame("cross_entropy", logits, targets);
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0))
    throw Error(text("label smoothing ", options.label_smoothing, " must lie between 0 and 1"));
  if (options.weight.defined() && internal::modes().recording && dispatch::needs_gradient(options.weight))
    throw GradientError("the class weights take no gradient; pass weight.detach()");
  if (logits.rank() == 1 && targets.rank() == 0) {
    const Tensor loss = cross_entropy(unsqueeze(logits, 0), unsqueeze(targets, 0), options);
    return options.reduction == Reduction::none ? reshape(loss, {}) : loss;
  }
  if (is_floating(targets.dtype()) && targets.shape() == logits.shape())
    return soft_cross_entropy(logits, targets, options);
  // Losses are f32 under Autocast; logits of 16 bits are read and their gradient written as they are.
  const op::CrossEntropy op{{options.ignore_index, options.label_smoothing}, internal::modes().autocast != f32};
  const auto [loss, counts] = dispatch::apply(op, promoted_logits(logits, options.weight), targets, options.weight);
  switch (options.reduction) {
    case Reduction::none: return loss;
    case Reduction::sum: return sum(loss);
    case Reduction::mean: break;
  }
  if (!is_half_precision(loss.dtype())) return div(sum(loss), sum(counts.detach()));
  // The sum of thousands of losses is more than f16 holds.
  return cast(div(sum(cast(loss, f32)), sum(cast(counts.detach(), f32))), loss.dtype());
}

Tensor adjoint::cross_entropy_backward(const Tensor& scale, const Tensor& logits, const Tensor& targets,
                                       const Tensor& weight, int64_t ignore_index, double label_smoothing) {
  ErrorFrame frame("cross_entropy_backward", scale, logits, targets);
  return dispatch::apply(op::CrossEntropyBackward{{ignore_index, label_smoothing}}, scale, logits, targets, weight);
}

}  // namespace weft
