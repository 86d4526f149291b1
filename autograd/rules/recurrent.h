// Rules of recurrent layers.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/recurrent.h"
#include "tensor/ops/recurrent.h"

namespace weft::autograd {

namespace formulas {
/// {y, h, c} as a function of {projected, weight, bias, h0, c0}, step by step with public ops; c is undefined unless
/// the layer is an LSTM.
std::vector<Tensor> recurrent_formula(const op::RecurrentSetting& op, const std::vector<Tensor>& inputs,
                                      const Tensor& lengths);
}  // namespace formulas

WEFT_GRADIENT(Recurrent) = joint([](const op::Recurrent& op, Grad gy, GradOf<1> gh, GradOf<2> gc,
                                    IfRecording<0> projected, Input<1> weight, Input<2> bias, Input<3> h0, Input<4> c0,
                                    Input<5> lengths, Output y, OutputOf<3> gates, OutputOf<4> cells, Needs needs) {
  const auto d = adjoint::recurrent_backward({op, static_cast<int>(needs.mask & 0b11111)}, gy, gh, gc,
                                             {projected, weight, bias, h0, c0, lengths, y, gates, cells});
  return std::vector<Tensor>{d[0], d[1], d[2], d[3], d[4], Tensor()};
});

// The formula of the gradient is obtained by differentiating the formula of the layer.
WEFT_GRADIENT(RecurrentBackward) = joint([](const op::RecurrentBackward& op, Grad d0, GradOf<1> d1, GradOf<2> d2,
                                            GradOf<3> d3, GradOf<4> d4, Input<0> gy, Input<1> gh, Input<2> gc,
                                            Input<3> projected, Input<4> weight, Input<5> bias, Input<6> h0,
                                            Input<7> c0, Input<8> lengths, Needs needs) {
  const auto layer = [&](const std::vector<Tensor>& in) { return formulas::recurrent_formula(op, in, lengths); };
  std::vector<Tensor> out = differentiate(
      [&](const std::vector<Tensor>& in) {
        return differentiate(layer, {in.begin() + 3, in.end()}, {in[0], in[1], in[2]},
                             Needs{static_cast<uint64_t>(op.wanted)});
      },
      {gy, gh, gc, projected, weight, bias, h0, c0}, {d0, d1, d2, d3, d4}, needs);
  out.resize(12);
  return out;
});

}  // namespace weft::autograd
