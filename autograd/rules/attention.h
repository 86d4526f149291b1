// Rules of attention.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/attention.h"
#include "tensor/ops/attention.h"

namespace weft::autograd {

namespace detail {
/// Attention of {q, k, v, mask}, with public ops.
Tensor attention_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs);
/// {dq, dk, dv} of {g, q, k, v, mask}.
std::vector<Tensor> attention_backward_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs);
/// The same of {qkv, mask}, and dqkv of {g, qkv, mask}.
Tensor packed_attention_formula(const op::PackedAttention& op, const std::vector<Tensor>& inputs);
Tensor packed_attention_backward_formula(const op::PackedAttentionBackward& op, const std::vector<Tensor>& inputs);
}  // namespace detail

// A mask that is trained (a position bias) takes the formula: the kernel never has the gradients of all scores at once.
WEFT_GRADIENT(Attention) = joint([](const op::Attention& op, Grad g, Input<0> q, Input<1> k, Input<2> v, Input<3> mask,
                                    OutputOf<1> largest, OutputOf<2> factor, Needs needs) -> std::vector<Tensor> {
  if (mask.defined() && needs[3])
    return differentiate(
        [&](const std::vector<Tensor>& in) { return std::vector{detail::attention_formula(op.setting, in)}; },
        {q, k, v, mask}, {g}, needs);
  const auto d = adjoint::attention_backward(g, q, k, v, mask, largest, factor, op.setting);
  return {d[0], d[1], d[2], Tensor()};
});

WEFT_GRADIENT(AttentionBackward) = joint([](const op::AttentionBackward& op, Grad dq, GradOf<1> dk, GradOf<2> dv,
                                            Input<0> g, Input<1> q, Input<2> k, Input<3> v, Input<4> mask,
                                            Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return detail::attention_backward_formula(op.setting, in); },
                    {g, q, k, v, mask}, {dq, dk, dv}, needs);
  out.resize(7);
  return out;
});

WEFT_GRADIENT(PackedAttention) = joint([](const op::PackedAttention& op, Grad g, Input<0> qkv, Input<1> mask,
                                          OutputOf<1> largest, OutputOf<2> factor, Needs needs) -> std::vector<Tensor> {
  if (mask.defined() && needs[1])
    return differentiate(
        [&](const std::vector<Tensor>& in) { return std::vector{detail::packed_attention_formula(op, in)}; },
        {qkv, mask}, {g}, needs);
  return {adjoint::packed_attention_backward(g, qkv, mask, largest, factor, op.heads, op.setting), Tensor()};
});

WEFT_GRADIENT(PackedAttentionBackward) = joint([](const op::PackedAttentionBackward& op, Grad dqkv, Input<0> g,
                                                  Input<1> qkv, Input<2> mask, Needs needs) {
  std::vector<Tensor> out = differentiate(
      [&](const std::vector<Tensor>& in) { return std::vector{detail::packed_attention_backward_formula(op, in)}; },
      {g, qkv, mask}, {dqkv}, needs);
  out.resize(5);
  return out;
});

}  // namespace weft::autograd
