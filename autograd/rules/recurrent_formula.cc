// The formula of recurrent layers, with public ops.
#include "autograd/rules/recurrent.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {
namespace {

struct State {
  Tensor h, c;
};

/// The next state; p is the inputs' part of the gates, q the states'.
State step(Recurrence kind, const Tensor& p, const Tensor& q, const State& last) {
  const int64_t hidden = last.h.size(1);
  const auto gate = [&](const Tensor& x, int64_t i) { return narrow(x, 1, i * hidden, hidden); };
  switch (kind) {
    case Recurrence::rnn_tanh: return {tanh(p + q), {}};
    case Recurrence::rnn_relu: return {relu(p + q), {}};
    case Recurrence::gru: {
      const Tensor r = sigmoid(gate(p, 0) + gate(q, 0)), z = sigmoid(gate(p, 1) + gate(q, 1));
      const Tensor n = tanh(gate(p, 2) + r * gate(q, 2));
      return {n + z * (last.h - n), {}};
    }
    case Recurrence::lstm: break;
  }
  const Tensor g = p + q;
  const Tensor c = sigmoid(gate(g, 1)) * last.c + sigmoid(gate(g, 0)) * tanh(gate(g, 2));
  return {sigmoid(gate(g, 3)) * tanh(c), c};
}

}  // namespace

std::vector<Tensor> recurrent_formula(const op::RecurrentSetting& op, const std::vector<Tensor>& in,
                                      const Tensor& lengths) {
  const Tensor &projected = in[0], &weight = in[1];
  const int64_t n = projected.size(0), length = projected.size(1), hidden = weight.size(1);
  const bool cell = op.kind == Recurrence::lstm;
  const Tensor zero = zeros({n, hidden}, projected.dtype(), projected.device());
  State state{in[3].defined() ? in[3] : zero, cell && !in[4].defined() ? zero : in[4]};
  std::vector<Tensor> outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t t = op.reverse ? length - 1 - i : i;
    State next = step(op.kind, select(projected, 1, t), linear(state.h, weight, in[2]), state);
    Tensor y = next.h;
    if (lengths.defined()) {
      const Tensor counts = unsqueeze(lengths > t, 1);
      y = where(counts, y, zero);
      next.h = where(counts, next.h, state.h);
      if (cell) next.c = where(counts, next.c, state.c);
    }
    outputs[static_cast<size_t>(t)] = y;
    state = next;
  }
  const Tensor y = length == 0 ? zeros({n, 0, hidden}, projected.dtype(), projected.device()) : stack(outputs, 1);
  return {y, state.h, state.c};
}

}  // namespace weft::autograd::formulas
