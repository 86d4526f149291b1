#include "tensor/functions/cross_entropy.h"

#include "tensor/adjoints/cross_entropy.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cross_entropy.h"

namespace weft {

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  Frame frame("cross_entropy", logits, targets);
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0))
    throw Error(text("label smoothing ", options.label_smoothing, " must lie between 0 and 1"));
  if (options.weight.defined() && options.weight.requires_grad() && modes().recording)
    throw GradientError("the class weights take no gradient; pass weight.detach()");
  if (logits.rank() == 1 && targets.rank() == 0) {
    const Tensor loss = cross_entropy(unsqueeze(logits, 0), unsqueeze(targets, 0), options);
    return options.reduction == Reduction::none ? reshape(loss, {}) : loss;
  }
  const op::CrossEntropy op{{options.ignore_index, options.label_smoothing}};
  const auto [loss, counts] = dispatch::apply(op, logits, targets, options.weight);
  switch (options.reduction) {
    case Reduction::none: return loss;
    case Reduction::sum: return sum(loss);
    case Reduction::mean: break;
  }
  return div(sum(loss), sum(counts.detach()));
}

Tensor adjoint::cross_entropy_backward(const Tensor& scale, const Tensor& logits, const Tensor& targets,
                                       const Tensor& weight, int64_t ignore_index, double label_smoothing) {
  Frame frame("cross_entropy_backward", scale, logits, targets);
  return dispatch::apply(op::CrossEntropyBackward{{ignore_index, label_smoothing}}, scale, logits, targets, weight);
}

}  // namespace weft
