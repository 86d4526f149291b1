// Batching of recurrent layers: the batch axis is merged into the axis of rows (N).
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/recurrent.h"

namespace weft::batching {

namespace detail {
/// Merges the batch axis into the rows (axis 0) of the inputs. weight and bias must be the same for all samples. An
/// input of shape [0] stays as it is.
inline std::vector<Tensor> recurrent_inputs(const Call& call, uint32_t weights) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool alone = weights >> i & 1u;
    const Tensor& x = call.inputs[i].x;
    const bool none = x.defined() && x.numel() == 0 && x.rank() == (call.is_batched(i) ? 2 : 1);
    inputs.push_back(alone || !x.defined() ? x : none ? zeros({0}, x.dtype(), x.device()) : fold(call.whole(i)));
  }
  return inputs;
}
/// A result with the rows of all samples.
inline Tensor recurrent_result(const Tensor& x, int64_t size) {
  return x.shape() == Shape{0} ? zeros({size, 0}, x.dtype(), x.device()) : unfold_batch(x, size);
}
inline std::vector<Tensor> recurrent_results(std::vector<Tensor> out, int64_t size) {
  for (Tensor& x : out) x = recurrent_result(x, size);
  return out;
}

/// The state before each step of y (N, L, H), (N, L, H); zero where a row has no such step.
inline Tensor states_before(bool reverse, const Tensor& y, const Tensor& h0, const Tensor& lengths) {
  const int64_t length = y.size(1);
  if (length == 0) return y;
  const Tensor none = zeros({y.size(0), 1, y.size(2)}, y.dtype(), y.device());
  const Tensor first = h0.defined() ? unsqueeze(h0, 1) : none;
  if (!lengths.defined())
    return reverse ? cat({slice(y, 1, 1), first}, 1) : cat({first, slice(y, 1, 0, length - 1)}, 1);
  const Tensor t = unsqueeze(arange(0, length, 1, i64, y.device()), -1), count = reshape(lengths, {-1, 1, 1});
  // Beyond a row's length, y is zero or not meaningful.
  if (reverse) return where(t == count - 1, first, cat({slice(y, 1, 1), none}, 1));
  return where(t < count, cat({first, slice(y, 1, 0, length - 1)}, 1), none);
}

/// The gradients of weights that are the same for all samples, separately for each sample. The gradient of the weight
/// is a product, over all steps of the sample's rows, of the gradient of the states' part of the gates and the previous
/// states.
inline std::vector<Tensor> recurrent_gradients(const op::RecurrentBackward& op, const Call& call) {
  const std::vector<Tensor> in = recurrent_inputs(call, 0b110000);
  const Tensor &projected = in[3], &weight = in[4], &bias = in[5], &y = in[9];
  op::RecurrentBackward of_rows = op;
  of_rows.wanted = (op.wanted & ~0b110) | 1;
  std::vector<Tensor> out = call.run(of_rows, in);
  const Tensor before = states_before(op.reverse, y, in[6], in[8]);
  Tensor gates = out[0];
  if (op.kind == Recurrence::gru) {
    // In the last gate, the states' part is multiplied by the reset gate. The reset gate is recomputed, because the
    // saved one has no history at the level of the batch tensors.
    const int64_t hidden = y.size(2);
    const Tensor states =
        linear(before, narrow(weight, 0, 0, hidden), bias.defined() ? narrow(bias, 0, 0, hidden) : bias);
    const Tensor reset = sigmoid(narrow(projected, 2, 0, hidden) + states);
    gates = cat({narrow(gates, 2, 0, 2 * hidden), narrow(gates, 2, 2 * hidden, hidden) * reset}, 2);
  }
  const int64_t size = call.size(), steps = y.size(0) / size * y.size(1);
  gates = reshape(gates, {size, steps, gates.size(2)});
  const Tensor dweight =
      op.wanted & 2 ? matmul(transpose(gates, 1, 2), reshape(before, {size, steps, y.size(2)})) : Tensor();
  const Tensor dbias = op.wanted & 4 ? sum(gates, 1) : Tensor();
  if (!(op.wanted & 1)) out[0] = zeros({0}, y.dtype(), y.device());
  out = recurrent_results(std::move(out), size);
  if (op.wanted & 2) out[1] = dweight;
  if (op.wanted & 4) out[2] = dbias;
  return out;
}
}  // namespace detail

// If the weights differ between samples, each sample needs a separate product at each step anyway.
WEFT_BATCHING(Recurrent) = [](const op::Recurrent& op, const Call& call) {
  if (!may_fold(call, ~0b110u)) return one_by_one(call);
  return detail::recurrent_results(call.run(op, detail::recurrent_inputs(call, 0b110)), call.size());
};
WEFT_BATCHING(RecurrentBackward) = [](const op::RecurrentBackward& op, const Call& call) {
  if (!may_fold(call, ~0b110000u)) return one_by_one(call);
  if (op.wanted & 0b110) return detail::recurrent_gradients(op, call);
  return detail::recurrent_results(call.run(op, detail::recurrent_inputs(call, 0b110000)), call.size());
};

}  // namespace weft::batching
