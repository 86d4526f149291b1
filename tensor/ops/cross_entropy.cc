#include "tensor/ops/cross_entropy.h"

namespace weft::op {
namespace {

void check(const Operand& logits, const Operand& targets, const Operand& weight) {
  if (!is_integer(targets.dtype))
    throw DtypeError(text("the targets are ", targets.dtype, "; they must be class indices, e.g. i64"));
  Shape expected = logits.shape();
  if (expected.size() < 2) throw ShapeError(text("logits must be (N, C, ...), not ", logits.shape()));
  expected.erase(1);
  if (targets.shape() != expected)
    throw ShapeError(text("targets for logits ", logits.shape(), " must have shape ", expected, ", not ",
                          targets.shape(),
                          targets.shape() == logits.shape() ? ", which takes distributions of a floating dtype" : ""));
  if (weight.defined() && weight.shape() != Shape{logits.size(1)})
    throw ShapeError(text("the class weights must be [", logits.size(1), "] ", logits.dtype, ", not ", weight.shape(),
                          " ", weight.dtype));
  if (weight.defined()) check_dtype(weight, is_floating(weight.dtype), "class weights of floating dtypes");
}

}  // namespace

std::array<Spec, 2> CrossEntropy::infer(const Operand& logits, const Operand& targets, const Operand& weight) const {
  check(logits, targets, weight);
  const bool half = is_half_precision(logits.dtype);
  const Spec rows = spec_of(targets.shape(), half && widens ? f32 : logits.dtype);
  return {rows, rows};
}

Spec CrossEntropyBackward::infer(const Operand& scale, const Operand& logits, const Operand& targets,
                                 const Operand& weight) const {
  check(logits, targets, weight);
  check_same_shape(scale, targets);
  check_dtype(scale, is_floating(scale.dtype), "gradients of floating dtypes");
  return spec_like(logits);
}

}  // namespace weft::op
