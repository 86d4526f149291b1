#include "autograd/rule.h"

#include <algorithm>
#include <bit>

#include "autograd/op_node.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/copy.h"

namespace weft::autograd {

const void* RuleArguments::op() const { return node_.op_.get(); }

Tensor RuleArguments::input(int index) const {
  const auto at = static_cast<size_t>(index);
  return node_.saved_input(at, node_.edges_[at]);
}

Tensor RuleArguments::input_if_recording(int index) const {
  const auto at = static_cast<size_t>(index);
  if (node_.saved_inputs_.empty()) return {};
  const SavedInput& saved = node_.saved_inputs_[at];
  // Of a batch of gradients too: those of a recurrent layer's weights are formulas there, which read it.
  if (internal::modes().recording || is_batch_ || saved.recomputation.empty()) return input(index);
  return expand(zeros({}, saved.dtype, saved.recomputation.device()), saved.view.shape());
}

RuleArguments RuleArguments::knowing_batch() const {
  RuleArguments out = *this;
  out.is_batch_ = std::ranges::any_of(
      gradients_, [](const Tensor& g) { return g.defined() && g.device().kind == DeviceKind::vmap; });
  return out;
}

Tensor RuleArguments::output(int index) const {
  // The node's own output: its history is this node.
  const Edge self{NodePtr::share(const_cast<OpNode*>(&node_)), index};
  const auto at = static_cast<size_t>(index);
  const bool floating = is_floating(node_.metas_[at].dtype);
  return unpack(node_.saved_outputs_[at], floating ? self : Edge{}, node_.op_.name(), "output", index);
}

Tensor RuleArguments::widened(const Tensor& value) {
  return value.defined() && is_half_precision(value.dtype()) ? cast(value, f32) : value;
}

std::vector<Tensor> cast_all(std::vector<Tensor> tensors, DType dtype) {
  for (Tensor& tensor : tensors)
    if (tensor.defined()) tensor = cast(tensor, dtype);
  return tensors;
}

std::vector<Tensor> run_per_input(std::span<const InputRule> rules, const RuleArguments& a) {
  std::vector<Tensor> out(rules.size());
  const RuleArguments last = a.last();
  uint64_t left = a.needs() & ((uint64_t{1} << rules.size()) - 1);  // bit i: the gradient of input i is still to make
  const auto run_those = [&](uint64_t inputs) {
    for (; inputs != 0; inputs &= inputs - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(inputs));
      left &= ~(uint64_t{1} << i);
      out[i] = rules[i].run(left == 0 ? last : a);
    }
  };
  // An input that is computed again is released before the gradients are made that do not read it.
  if (const uint32_t recomputed = a.recomputed(); recomputed != 0) [[unlikely]]
    for (size_t i = 0; i < rules.size(); ++i)
      if ((rules[i].reads & recomputed) != 0) run_those(left & uint64_t{1} << i);
  run_those(left);
  return out;
}

InputType<0> RuleArguments::input_type(int index) const {
  const Edge& edge = node_.edges_[static_cast<size_t>(index)];
  const Meta* meta = edge.node->meta(edge.index);
  return {meta->shape, meta->dtype};
}

uint32_t RuleArguments::recomputed() const {
  // When recording, the recomputed values are kept anyway, and another order of the gradients would change the order of
  // sums in the next derivative.
  if (internal::modes().recording) return 0;
  uint32_t mask = 0;
  for (size_t i = 0; i < std::min<size_t>(node_.saved_inputs_.size(), 32); ++i)
    if (!node_.saved_inputs_[i].recomputation.empty()) mask |= 1u << i;
  return mask;
}

std::span<const View> RuleArguments::views() const { return {node_.views_.data(), node_.views_.size()}; }

Tensor adjoint_of_view(const AnyOp& op, const View& input, const Tensor& g) {
  return dispatch::apply(op::ViewAdjoint{op, input.shape()}, g);
}

std::vector<Tensor> ViewRule::run(const RuleArguments& a) const {
  const OpNode& node = a.node();
  const View& input = a.views()[0];
  const Tensor g = a.grad(0);
  // All of the input once and in order, as a slice of a whole axis is: nothing is copied.
  if (g.numel() == input.numel()) {
    const View part = op::ViewAdjoint{node.op(), input.shape()}.part_of(View::contiguous(input.shape()));
    if (!part.has_mask() && part.is_contiguous()) return {reshape(g, input.shape())};
  }
  return {adjoint_of_view(node.op(), input, g)};
}

}  // namespace weft::autograd
