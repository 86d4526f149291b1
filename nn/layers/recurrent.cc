#include "nn/layers/recurrent.h"

#include <cmath>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

Recurrence kind_of(RNNOptions::Nonlinearity nonlinearity) {
  return nonlinearity == RNNOptions::Nonlinearity::relu ? Recurrence::rnn_relu : Recurrence::rnn_tanh;
}

RecurrentLayerOptions layer_options(const RNNOptions& o) {
  return {o.input_size, o.hidden_size, o.num_layers, o.bias, o.dropout, o.bidirectional, 0, o.dtype};
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

/// The steps of an LSTM whose h is weight_hr (o tanh(c)), one by one. `gates` (N, L, 4 H) are the inputs' part.
RecurrentResult run_projected(const Tensor& gates, const Tensor& weight_hh, const Tensor& weight_hr,
                              const RecurrentOptions& options) {
  const int64_t batch = gates.size(0), length = gates.size(1), hidden = weight_hr.size(1);
  const auto first = [&](const Tensor& state, int64_t size) {
    return state.defined() ? state : zeros({batch, size}, gates.dtype(), gates.device());
  };
  Tensor h = first(options.h, weight_hr.size(0)), c = first(options.c, hidden);
  std::vector<Tensor> outputs(static_cast<size_t>(length));
  for (int64_t step = 0; step < length; ++step) {
    const int64_t t = options.reverse ? length - 1 - step : step;
    const Tensor z = select(gates, 1, t) + linear(h, weight_hh);
    const auto gate = [&](int64_t i) { return narrow(z, 1, i * hidden, hidden); };
    const Tensor cell = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanh(gate(2));
    const Tensor state = linear(sigmoid(gate(3)) * tanh(cell), weight_hr);
    Tensor& output = outputs[static_cast<size_t>(t)];
    if (options.lengths.defined()) {
      const Tensor counts = unsqueeze(options.lengths > t, 1);
      h = where(counts, state, h), c = where(counts, cell, c);
      output = where(counts, state, zeros_like(state));
    } else {
      h = output = state, c = cell;
    }
  }
  const Tensor none = zeros({batch, 0, weight_hr.size(0)}, gates.dtype(), gates.device());
  return {length == 0 ? none : stack(outputs, 1), h, c};
}

void check_lengths(const Tensor& lengths, const Tensor& x) {
  if (!lengths.defined()) return;
  if (!is_integer(lengths.dtype()) || lengths.shape() != Shape{x.size(0)})
    throw ShapeError(
        text("lengths must be [", x.size(0), "] of integers, not ", lengths.shape(), " ", lengths.dtype()));
  for (const int64_t length : lengths.to(i64).to_vector<int64_t>())
    if (length < 0 || length > x.size(1))
      throw IndexError(text("a length of ", length, " is out of range for ", x.size(1), " steps"));
}

/// x (N, L, features) with zeros in the steps beyond `lengths`. Their gates count for nothing, but a gradient of 0
/// times a NaN or infinity there would be NaN in the weight's gradient. Lengths that do not fit are refused later.
Tensor without_padding(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined() || !is_integer(lengths.dtype()) || lengths.shape() != Shape{x.size(0)}) return x;
  const Tensor counts = unsqueeze(lengths.to(i64), 1) > arange(0, x.size(1), 1, i64, x.device());
  return where(unsqueeze(counts, 2), x, zeros({}, x.dtype(), x.device()));
}

/// State number i of (count, N, H); undefined where there is none.
Tensor state_at(const Tensor& states, size_t i) {
  return states.defined() ? select(states, 0, static_cast<int64_t>(i)) : Tensor();
}

LSTMState with_batch(const LSTMState& state, int64_t axis) {
  const auto with = [axis](const Tensor& x) { return x.defined() ? unsqueeze(x, axis) : x; };
  return {with(state.h), with(state.c)};
}

}  // namespace

RecurrentLayer::RecurrentLayer(const char* name, Recurrence kind, const RecurrentLayerOptions& o)
    : name_(name), kind_(kind), options_(o) {
  ErrorFrame frame(name);
  detail::check_positive("input_size", o.input_size);
  detail::check_positive("hidden_size", o.hidden_size);
  detail::check_positive("num_layers", o.num_layers);
  detail::check_probability("dropout", o.dropout);
  if (o.proj_size < 0 || o.proj_size >= o.hidden_size)
    throw ShapeError(text("proj_size must be in [0, hidden_size = ", o.hidden_size, "), not ", o.proj_size));
  if (o.proj_size > 0 && kind != Recurrence::lstm) throw Error("only an LSTM has a proj_size");
  detail::OptionList list;
  list.add(o.input_size).add(o.hidden_size).add_unless(1, "num_layers", o.num_layers).add_unless(true, "bias", o.bias);
  list.add_unless(0.0, "dropout", o.dropout).add_unless(false, "bidirectional", o.bidirectional);
  list.add_unless(0, "proj_size", o.proj_size);
  if (kind == Recurrence::rnn_relu) list.add("nonlinearity", "relu");
  describe(list.line());
  const int64_t width = checked_multiply(gates_of(kind), o.hidden_size);
  for (int64_t layer = 0; layer < o.num_layers; ++layer)
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const std::string end = text("_l", layer, direction == 1 ? "_reverse" : "");
      const int64_t inputs = layer == 0 ? o.input_size : checked_multiply(directions(), state_size());
      const auto add = [&](const char* start, const Shape& shape) {
        return register_parameter(start + end, uniform(shape, o.hidden_size, o.dtype));
      };
      Direction& d = all_.emplace_back();
      d.weight_ih = add("weight_ih", {width, inputs});
      d.weight_hh = add("weight_hh", {width, state_size()});
      if (o.bias) {
        d.bias_ih = add("bias_ih", {width});
        d.bias_hh = add("bias_hh", {width});
      }
      if (o.proj_size > 0) d.weight_hr = add("weight_hr", {o.proj_size, o.hidden_size});
    }
}

void RecurrentLayer::check(const Tensor& x, const LSTMState& state) const {
  if (x.rank() != 2 && x.rank() != 3)
    throw ShapeError(text("x must be (N, L, ", options_.input_size, ") or without N"));
  if (x.size(-1) != options_.input_size)
    throw ShapeError(text("x has ", x.size(-1), " features, this layer takes ", options_.input_size));
  const auto check_state = [&](const Tensor& given, int64_t size) {
    const auto layers = static_cast<int64_t>(all_.size());
    const Shape expected = x.rank() == 3 ? Shape{layers, x.size(0), size} : Shape{layers, size};
    if (given.defined() && given.shape() != expected)
      throw ShapeError(text("the first states must be ", expected, ", not ", given.shape()));
  };
  check_state(state.h, state_size());
  check_state(state.c, options_.hidden_size);
}

LSTMOutput RecurrentLayer::run_batch(Tensor x, const LSTMState& state, const Tensor& lengths) const {
  if (options_.proj_size > 0) check_lengths(lengths, x);
  x = without_padding(x, lengths);
  std::vector<Tensor> h, c;
  for (size_t i = 0; i < all_.size();) {
    if (i > 0 && is_training() && options_.dropout > 0) x = dropout(x, options_.dropout, generator());
    std::vector<Tensor> outputs;
    for (const bool reverse : {false, true}) {
      if (reverse && !options_.bidirectional) break;
      const Direction& d = all_[i];
      const RecurrentOptions options{
          .h = state_at(state.h, i), .c = state_at(state.c, i), .lengths = lengths, .reverse = reverse};
      const RecurrentResult result =
          d.weight_hr.defined()
              ? run_projected(linear(x, d.weight_ih, d.bias_ih.defined() ? d.bias_ih + d.bias_hh : Tensor()),
                              d.weight_hh, d.weight_hr, options)
              : run_steps(kind_, x, d.weight_ih, d.weight_hh, d.bias_ih, d.bias_hh, options);
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
  ErrorFrame frame(name_, x);
  check(x, state);
  if (x.rank() == 3) return run_batch(x, state, lengths);
  const LSTMOutput out = run_batch(unsqueeze(x, 0), with_batch(state, 1), lengths);
  return {squeeze(out.output, 0), squeeze(out.h, 1), out.c.defined() ? squeeze(out.c, 1) : out.c};
}

RNN::RNN(const RNNOptions& options) : RecurrentLayer("RNN", kind_of(options.nonlinearity), layer_options(options)) {}

RecurrentOutput RNN::forward(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const LSTMOutput out = run(x, {h, {}}, lengths);
  return {out.output, out.h};
}
RecurrentOutput RNN::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const auto call = [&](const Tensor& a, const Tensor& b, const Tensor& c) { return forward(a, b, c); };
  return in_layer(*this, call, x, h, lengths);
}

LSTMOutput LSTM::forward(const Tensor& x, const LSTMState& state, const Tensor& lengths) const {
  return run(x, state, lengths);
}
LSTMOutput LSTM::operator()(const Tensor& x, const LSTMState& state, const Tensor& lengths) const {
  const auto call = [&](const Tensor& a, const Tensor& h, const Tensor& c, const Tensor& n) {
    return forward(a, {h, c}, n);
  };
  return in_layer(*this, call, x, state.h, state.c, lengths);
}

RecurrentOutput GRU::forward(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const LSTMOutput out = run(x, {h, {}}, lengths);
  return {out.output, out.h};
}
RecurrentOutput GRU::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const auto call = [&](const Tensor& a, const Tensor& b, const Tensor& c) { return forward(a, b, c); };
  return in_layer(*this, call, x, h, lengths);
}

RecurrentCell::RecurrentCell(const char* name, Recurrence kind, const RNNCellOptions& o)
    : name_(name), kind_(kind), options_(o) {
  ErrorFrame frame(name);
  detail::check_positive("input_size", o.input_size);
  detail::check_positive("hidden_size", o.hidden_size);
  if (o.nonlinearity != RNNOptions::Nonlinearity::tanh && kind != Recurrence::rnn_relu)
    throw Error("nonlinearity is for RNNCell only");
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
  ErrorFrame frame(name_, x);
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
  const auto call = [&](const Tensor& a, const Tensor& h, const Tensor& c) { return forward(a, {h, c}); };
  return in_layer(*this, call, x, state.h, state.c);
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  return in_layer(
      *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, h);
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  return in_layer(
      *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, h);
}

}  // namespace weft::nn
