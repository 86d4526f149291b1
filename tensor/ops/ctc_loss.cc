#include "tensor/ops/ctc_loss.h"

namespace weft::op {
namespace {

void check(int64_t blank, const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
           const Operand& target_lengths) {
  if (log_probs.rank() != 3) throw ShapeError(text("log_probs must be (T, N, C), not ", log_probs.shape()));
  const int64_t n = log_probs.size(1), classes = log_probs.size(2);
  if (targets.rank() != 2 || targets.size(0) != n)
    throw ShapeError(text("targets must be (", n, ", S), not ", targets.shape()));
  for (const Operand* x : {&targets, &input_lengths, &target_lengths})
    if (!is_integer(x->dtype)) throw DtypeError(text("targets and lengths must be integers, not ", x->dtype));
  for (const Operand* x : {&input_lengths, &target_lengths})
    if (x->shape() != Shape{n}) throw ShapeError(text("lengths must be [", n, "], not ", x->shape()));
  if (blank < 0 || blank >= classes)
    throw IndexError(text("blank ", blank, " is out of range for ", classes, " classes"));
}

}  // namespace

Spec CtcLoss::infer(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
                    const Operand& target_lengths) const {
  check(blank, log_probs, targets, input_lengths, target_lengths);
  return spec_of({log_probs.size(1)}, log_probs.dtype);
}

Spec CtcLossBackward::infer(const Operand& g, const Operand& log_probs, const Operand& targets,
                            const Operand& input_lengths, const Operand& target_lengths) const {
  check(blank, log_probs, targets, input_lengths, target_lengths);
  if (g.shape() != input_lengths.shape())
    throw ShapeError(text("g must be ", input_lengths.shape(), ", not ", g.shape()));
  return spec_like(log_probs);
}

}  // namespace weft::op
