// The formula of cross entropy's fused backward kernel, with public ops.
#include "autograd/rules/cross_entropy.h"
#include "tensor/core/axis_lists.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {

Tensor cross_entropy_formula(const op::CrossEntropyBackward& op, const Tensor& scale, const Tensor& logits,
                             const Tensor& targets, const Tensor& weight) {
  const int64_t classes = logits.size(1);
  const Tensor ignored = targets == op.ignore_index;
  const Tensor safe = where(ignored, zeros_like(targets), targets);
  Tensor t = cast(movedim(one_hot(safe, classes), -1, 1), logits.dtype()) * (1.0 - op.label_smoothing) +
             op.label_smoothing / static_cast<double>(classes);
  if (weight.defined()) t = t * reshape(weight, internal::shape_along(1, logits.rank(), weight.numel()));
  t = where(unsqueeze(ignored, 1), zeros_like(t), t);
  const Tensor factor = where(ignored, zeros_like(scale), scale);  // infinite where a mean is over no target
  return unsqueeze(factor, 1) * (sum(t, 1, keepdim) * softmax(logits, 1) - t);
}

}  // namespace weft::autograd::formulas
