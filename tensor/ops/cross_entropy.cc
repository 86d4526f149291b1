// Cross entropy. With s the label smoothing, w the class weights (or 1) and C classes, the target y stands for the
// distribution t = (1 - s) w[y] onehot(y) + s / C w, and its loss is -sum(t log_softmax(logits)).
#include "tensor/ops/cross_entropy.h"

#include "tensor/kernels/cpu/rowwise/cross_entropy.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  Frame frame("cross_entropy", logits, targets);
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0))
    throw Error(text("label smoothing ", options.label_smoothing, " must lie between 0 and 1"));
  if (options.weight.defined() && options.weight.requires_grad() && modes().recording)
    throw GradientError("the class weights take no gradient; pass weight.detach()");
  const op::CrossEntropy op{options.ignore_index, options.label_smoothing};
  if (logits.rank() == 1 && targets.rank() == 0) {
    const Tensor loss = cross_entropy(unsqueeze(logits, 0), unsqueeze(targets, 0), options);
    return options.reduction == Reduction::none ? reshape(loss, {}) : loss;
  }
  const auto [loss, counts] = apply(op, logits, targets, options.weight);
  switch (options.reduction) {
    case Reduction::none: return loss;
    case Reduction::sum: return sum(loss);
    case Reduction::mean: break;
  }
  return div(sum(loss), sum(counts.detach()));
}

Tensor cross_entropy_backward(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight,
                              int64_t ignore_index, double label_smoothing) {
  Frame frame("cross_entropy_backward", scale, logits, targets);
  return apply(op::CrossEntropyBackward{ignore_index, label_smoothing}, scale, logits, targets, weight);
}

namespace op {
namespace {

void check(const Tensor& logits, const Tensor& targets, const Tensor& weight) {
  check_dtype(logits, is_floating(logits.dtype()), "floating logits");
  if (!is_integer(targets.dtype()))
    throw DtypeError(text("the targets are ", targets.dtype(), "; they must be class indices, e.g. i64"));
  Shape expected = logits.shape();
  if (expected.size() < 2) throw ShapeError(text("logits must be (N, C, ...), not ", logits.shape()));
  expected.erase(1);
  if (targets.shape() != expected)
    throw ShapeError(
        text("targets for logits ", logits.shape(), " must have shape ", expected, ", not ", targets.shape()));
  if (weight.defined() && (weight.shape() != Shape{logits.size(1)} || weight.dtype() != logits.dtype()))
    throw ShapeError(
        text("the class weights must be [", logits.size(1), "] ", logits.dtype(), ", not ", describe(weight)));
}

}  // namespace

std::array<Spec, 2> CrossEntropy::infer(const Tensor& logits, const Tensor& targets, const Tensor& weight) const {
  check(logits, targets, weight);
  const Spec rows = spec_of(targets.shape(), logits.dtype());
  return {rows, rows};
}
void CrossEntropy::run(const Tensor& logits, const Tensor& targets, const Tensor& weight,
                       std::array<Tensor, 2>& out) const {
  const cpu::Operand counts = operand(out[1]);
  cpu::cross_entropy(operand(logits), 1, operand(targets), OptionalOperand(weight).get(),
                     {ignore_index, label_smoothing}, operand(out[0]), &counts);
}

Spec CrossEntropyBackward::infer(const Tensor& scale, const Tensor& logits, const Tensor& targets,
                                 const Tensor& weight) const {
  check(logits, targets, weight);
  check_same_shape(scale, targets);
  return spec_like(logits);
}
void CrossEntropyBackward::run(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight,
                               Tensor& out) const {
  cpu::cross_entropy_backward(operand(scale), operand(logits), 1, operand(targets), OptionalOperand(weight).get(),
                              {ignore_index, label_smoothing}, operand(out));
}

}  // namespace op
}  // namespace weft
