#include "tensor/batching/rule.h"

#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::batching {

Tensor Call::whole(size_t i) const {
  const Batch& input = inputs[i];
  if (input.batched || !input.x.defined()) return input.x;
  Shape shape = input.x.shape();
  shape.insert(0, size());
  return expand(unsqueeze(input.x, 0), shape);
}

std::vector<Tensor> Call::whole() const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < inputs.size(); ++i) out.push_back(whole(i));
  return out;
}

std::vector<Tensor> Call::apply(const std::vector<Batch>& list) const {
  std::vector<Tensor> tensors;
  for (const Batch& x : list) tensors.push_back(x.x);
  return apply_erased(info, op, tensors, level.below);
}

std::vector<Tensor> one_by_one(const Call& call) {
  std::vector<std::vector<Tensor>> samples(static_cast<size_t>(call.info.outputs));
  for (int64_t b = 0; b < call.size(); ++b) {
    std::vector<Tensor> inputs;
    for (const Batch& x : call.inputs) inputs.push_back(x.batched ? select(x.x, 0, b) : x.x);
    const std::vector<Tensor> results = apply_erased(call.info, call.op, inputs, call.level.below);
    for (size_t i = 0; i < results.size(); ++i) samples[i].push_back(unsqueeze(results[i], 0));
  }
  std::vector<Tensor> out;
  if (call.size() > 0) {
    for (const std::vector<Tensor>& list : samples) out.push_back(cat(list, 0));
    return out;
  }
  // No sample: infer says what one would give.
  std::vector<Operand> operands;
  std::vector<View> views(call.inputs.size());
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Batch& x = call.inputs[i];
    const IntList shape = x.x.defined() ? x.x.shape() : Shape();
    if (x.x.defined()) views[i] = View::contiguous(x.batched ? Shape(shape.begin() + 1, shape.end()) : shape);
    operands.push_back(x.x.defined() ? operand(x.x).with(views[i]) : Operand());
  }
  std::vector<Spec> specs(samples.size());
  call.info.infer(call.op, operands, specs.data());
  for (const Spec& spec : specs) {
    Shape shape = spec.view.shape();
    shape.insert(0, 0);
    out.push_back(zeros(shape, spec.dtype, call.level.below));
  }
  return out;
}

Tensor fold(const Tensor& x) { return flatten(x, 0, 1); }

Tensor unfold_batch(const Tensor& x, int64_t size) { return unflatten(x, 0, {size, size == 0 ? 0 : x.size(0) / size}); }

Tensor as_column(const Tensor& x) { return unsqueeze(x, 1); }

bool may_fold(const Call& call, uint32_t mask) {
  if (call.size() == 0) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (!(mask >> i & 1u) && call.is_batched(i)) return false;
  return true;
}

std::vector<Tensor> fold_inputs(const Call& call, uint32_t mask) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool folds = (mask >> i & 1u) && call.inputs[i].x.defined();
    out.push_back(folds ? fold(call.whole(i)) : call.inputs[i].x);
  }
  return out;
}

std::vector<Tensor> unfold_all(std::vector<Tensor> results, int64_t size) {
  for (Tensor& x : results) x = unfold_batch(x, size);
  return results;
}

Tensor placeholder(const Call& call, const Tensor& like) {
  return zeros({call.size(), 0}, like.dtype(), like.device());
}

}  // namespace weft::batching
