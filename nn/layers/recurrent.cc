#include "nn/layers/recurrent.h"

#include <cmath>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

Recurrence kind_of(RNNOptions::Nonlinearity nonlinearity) {
  return nonlinearity == RNNOptions::Nonlinearity::relu ? Recurrence::rnn_relu : Recurrence::rnn_tanh;
}

RecurrentLayerOptions layer_options(const RNNOptions& o) {
  return {o.input_size, o.hidden_size, o.num_layers, o.bias, o.dropout, o.bidirectional, o.dtype};
}

Tensor uniform(const Shape& shape, int64_t hidden, DType dtype) {
  Tensor out = empty(shape, dtype);
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
  init::uniform(out, -bound, bound);
  return out;
}

/// All steps of one direction. Both biases are one but for a GRU, whose states' part is scaled before it is added.
RecurrentResult run_steps(Recurrence kind, const Tensor& x, const Tensor& weight_ih, const Tensor& weight_hh,
                          const Tensor& bias_ih, const Tensor& bias_hh, RecurrentOptions options) {
  Tensor bias = bias_ih;
  if (kind == Recurrence::gru)
    options.bias = bias_hh;
  else if (bias.defined())
    bias = bias_ih + bias_hh;
  return recurrent(kind, linear(x, weight_ih, bias), weight_hh, options);
}

/// State number i of (count, N, H); undefined where there is none.
Tensor state_at(const Tensor& states, size_t i) {
  return states.defined() ? select(states, 0, static_cast<int64_t>(i)) : Tensor();
}

LSTMState with_batch(const LSTMState& state, int64_t axis) {
  const auto with = [axis](const Tensor& x) { return x.defined() ? unsqueeze(x, axis) : x; };
  return {with(state.h), with(state.c)};
}

/// forward's result, with the layer's place in front of errors; observers see the input and the output.
template <class F> auto named(const Module& module, const Tensor& x, const F& forward) {
  decltype(forward()) out;
  (void)in_layer(module, x, [&] { return (out = forward()).output; });
  return out;
}

}  // namespace

RecurrentLayer::RecurrentLayer(const char* name, Recurrence kind, const RecurrentLayerOptions& o)
    : name_(name), kind_(kind), options_(o) {
  Frame frame(name);
  detail::check_positive("input_size", o.input_size);
  detail::check_positive("hidden_size", o.hidden_size);
  detail::check_positive("num_layers", o.num_layers);
  detail::check_probability("dropout", o.dropout);
  detail::OptionList list;
  list.add(o.input_size).add(o.hidden_size).add("num_layers", o.num_layers).add_unless(true, "bias", o.bias);
  list.add_unless(0.0, "dropout", o.dropout).add_unless(false, "bidirectional", o.bidirectional);
  if (kind == Recurrence::rnn_relu) list.add("nonlinearity", "relu");
  describe(list.line());
  const int64_t width = checked_multiply(gates_of(kind), o.hidden_size);
  for (int64_t layer = 0; layer < o.num_layers; ++layer)
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const std::string end = text("_l", layer, direction == 1 ? "_reverse" : "");
      const int64_t inputs = layer == 0 ? o.input_size : checked_multiply(directions(), o.hidden_size);
      const auto add = [&](const char* start, const Shape& shape) {
        return register_parameter(start + end, uniform(shape, o.hidden_size, o.dtype));
      };
      Direction& d = all_.emplace_back();
      d.weight_ih = add("weight_ih", {width, inputs});
      d.weight_hh = add("weight_hh", {width, o.hidden_size});
      if (!o.bias) continue;
      d.bias_ih = add("bias_ih", {width});
      d.bias_hh = add("bias_hh", {width});
    }
}

void RecurrentLayer::check(const Tensor& x, const LSTMState& state) const {
  if (x.size(2) != options_.input_size)
    throw ShapeError(text("x has ", x.size(2), " features, this layer takes ", options_.input_size));
  const Shape expected = {static_cast<int64_t>(all_.size()), x.size(0), options_.hidden_size};
  for (const Tensor* s : {&state.h, &state.c})
    if (s->defined() && s->shape() != expected)
      throw ShapeError(text("the first states must be ", expected, ", not ", s->shape()));
}

LSTMOutput RecurrentLayer::run_batch(Tensor x, const LSTMState& state, const Tensor& lengths) const {
  check(x, state);
  std::vector<Tensor> h, c;
  for (size_t i = 0; i < all_.size();) {
    if (i > 0 && is_training() && options_.dropout > 0) x = dropout(x, options_.dropout);
    std::vector<Tensor> outputs;
    for (const bool reverse : {false, true}) {
      if (reverse && !options_.bidirectional) break;
      const Direction& d = all_[i];
      const RecurrentResult result =
          run_steps(kind_, x, d.weight_ih, d.weight_hh, d.bias_ih, d.bias_hh,
                    {.h = state_at(state.h, i), .c = state_at(state.c, i), .lengths = lengths, .reverse = reverse});
      outputs.push_back(result.output), h.push_back(result.h);
      if (result.c.defined()) c.push_back(result.c);
      ++i;
    }
    x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
  }
  const auto joined = [](const std::vector<Tensor>& states) {
    return states.empty() ? Tensor() : states.size() == 1 ? unsqueeze(states[0], 0) : stack(states, 0);
  };
  return {x, joined(h), joined(c)};
}

LSTMOutput RecurrentLayer::run(const Tensor& x, const LSTMState& state, const Tensor& lengths) const {
  Frame frame(name_, x);
  if (x.rank() == 3) return run_batch(x, state, lengths);
  if (x.rank() != 2) throw ShapeError(text("x must be (N, L, ", options_.input_size, ") or without N"));
  const LSTMOutput out = run_batch(unsqueeze(x, 0), with_batch(state, 1), lengths);
  return {squeeze(out.output, 0), squeeze(out.h, 1), out.c.defined() ? squeeze(out.c, 1) : out.c};
}

RNN::RNN(const RNNOptions& options) : RecurrentLayer("RNN", kind_of(options.nonlinearity), layer_options(options)) {}

RecurrentOutput RNN::forward(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const LSTMOutput out = run(x, {h, {}}, lengths);
  return {out.output, out.h};
}
RecurrentOutput RNN::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  return named(*this, x, [&] { return forward(x, h, lengths); });
}

LSTMOutput LSTM::forward(const Tensor& x, const LSTMState& state, const Tensor& lengths) const {
  return run(x, state, lengths);
}
LSTMOutput LSTM::operator()(const Tensor& x, const LSTMState& state, const Tensor& lengths) const {
  return named(*this, x, [&] { return forward(x, state, lengths); });
}

RecurrentOutput GRU::forward(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const LSTMOutput out = run(x, {h, {}}, lengths);
  return {out.output, out.h};
}
RecurrentOutput GRU::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  return named(*this, x, [&] { return forward(x, h, lengths); });
}

RecurrentCell::RecurrentCell(const char* name, Recurrence kind, const RNNCellOptions& o)
    : name_(name), kind_(kind), options_(o) {
  Frame frame(name);
  detail::check_positive("input_size", o.input_size);
  detail::check_positive("hidden_size", o.hidden_size);
  const int64_t width = checked_multiply(gates_of(kind), o.hidden_size);
  const auto add = [&](const char* parameter, const Shape& shape) {
    return register_parameter(parameter, uniform(shape, o.hidden_size, o.dtype));
  };
  detail::OptionList list;
  list.add(o.input_size).add(o.hidden_size).add_unless(true, "bias", o.bias);
  if (kind == Recurrence::rnn_relu) list.add("nonlinearity", "relu");
  describe(list.line());
  weight_ih_ = add("weight_ih", {width, o.input_size});
  weight_hh_ = add("weight_hh", {width, o.hidden_size});
  if (!o.bias) return;
  bias_ih_ = add("bias_ih", {width});
  bias_hh_ = add("bias_hh", {width});
}

// A layer of one step.
LSTMState RecurrentCell::step(const Tensor& x, const LSTMState& state) const {
  Frame frame(name_, x);
  if (x.rank() == 1) {
    const LSTMState next = step(unsqueeze(x, 0), with_batch(state, 0));
    return {squeeze(next.h, 0), next.c.defined() ? squeeze(next.c, 0) : next.c};
  }
  if (x.rank() != 2) throw ShapeError(text("x must be (N, ", options_.input_size, ") or without N"));
  const RecurrentResult next =
      run_steps(kind_, unsqueeze(x, 1), weight_ih_, weight_hh_, bias_ih_, bias_hh_, {.h = state.h, .c = state.c});
  return {next.h, next.c};
}

RNNCell::RNNCell(const RNNCellOptions& options) : RecurrentCell("RNNCell", kind_of(options.nonlinearity), options) {}

LSTMState LSTMCell::operator()(const Tensor& x, const LSTMState& state) const {
  LSTMState out;
  (void)in_layer(*this, x, [&] { return (out = forward(x, state)).h; });
  return out;
}

}  // namespace weft::nn
