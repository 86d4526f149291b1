// Recurrent layers, RNN, LSTM and GRU, and single steps of them: RNNCell, LSTMCell, GRUCell. Parameters have PyTorch's
// names and gate order, so that its state dicts load.
#pragma once

#include <vector>

#include "nn/module/layer.h"
#include "tensor/functions/recurrent.h"

namespace weft::nn {

/// Of LSTM and GRU.
struct RecurrentLayerOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t num_layers = 1;  // each reads the output of the one below
  bool bias = true;
  double dropout = 0;          // of the output of each layer but the last, in training
  bool bidirectional = false;  // every layer runs in both directions; their outputs stand side by side
  int64_t proj_size = 0;       // of an LSTM: h is a product of so many numbers, below hidden_size; 0: none
  DType dtype = f32;
};
using LSTMOptions = RecurrentLayerOptions;
using GRUOptions = RecurrentLayerOptions;

struct RNNOptions {
  enum class Nonlinearity { tanh, relu };
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t num_layers = 1;
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  bool bias = true;
  double dropout = 0;
  bool bidirectional = false;
  DType dtype = f32;
};

/// output (N, L, D H): the last layer's hidden state of every step, D being 2 where bidirectional, else 1; h (D layers,
/// N, H): the last state of layer 0, of layer 0 reversed, of layer 1 and so on. Without N where the input has none. H
/// is proj_size where an LSTM has one, but for its c.
struct RecurrentOutput {
  Tensor output, h;
};
struct LSTMOutput {
  Tensor output, h, c;
};
/// The first states; zeros where they are undefined.
struct LSTMState {
  Tensor h = {}, c = {};
};

/// What the three layers share: the parameters weight_ih_l0 (G H, input), weight_hh_l0 (G H, H), bias_ih_l0 and
/// bias_hh_l0 (G H), then those of the other direction (weight_ih_l0_reverse, ...) and of the layers above; uniform in
/// +-1 / sqrt(H). Inputs are (N, L, input), batches first, or (L, input). `lengths` (N), of integers, says how many
/// steps of each row count: the others' output is zero, and h is the state after the last that counts.
class RecurrentLayer : public Module {
 protected:
  RecurrentLayer(const char* name, Recurrence kind, const RecurrentLayerOptions& options);
  LSTMOutput run(const Tensor& x, const LSTMState& state, const Tensor& lengths) const;
  Recurrence kind() const { return kind_; }
  const RecurrentLayerOptions& options() const { return options_; }

 private:
  struct Direction {
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;
    Tensor weight_hr;  // (proj_size, H); undefined where there is none
  };
  void check(const Tensor& x, const LSTMState& state) const;
  LSTMOutput run_batch(Tensor x, const LSTMState& state, const Tensor& lengths) const;
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  /// The features of h.
  int64_t state_size() const { return options_.proj_size > 0 ? options_.proj_size : options_.hidden_size; }

  const char* name_;
  Recurrence kind_;
  RecurrentLayerOptions options_;
  std::vector<Direction> all_;  // by layer, then by direction
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.
class RNN : public RecurrentLayer {
 public:
  using Nonlinearity = RNNOptions::Nonlinearity;
  explicit RNN(const RNNOptions& options);
  RNN(int64_t input_size, int64_t hidden_size)
      : RNN(RNNOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  RecurrentOutput forward(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RecurrentOutput operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RNN remake() const { return RNN(kind(), options()); }

 private:
  RNN(Recurrence kind, const RecurrentLayerOptions& options) : RecurrentLayer("RNN", kind, options) {}
};

/// Hochreiter and Schmidhuber 1997, with a forget gate; see Recurrence for the formula. With proj_size, h is
/// weight_hr (o tanh(c)) (Sak et al., arXiv 1402.1128), of parameters weight_hr_l0, ...
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(const LSTMOptions& options) : RecurrentLayer("LSTM", Recurrence::lstm, options) {}
  LSTM(int64_t input_size, int64_t hidden_size)
      : LSTM(LSTMOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  LSTMOutput forward(const Tensor& x, const LSTMState& state = {}, const Tensor& lengths = {}) const;
  LSTMOutput operator()(const Tensor& x, const LSTMState& state = {}, const Tensor& lengths = {}) const;
  LSTM remake() const { return LSTM(options()); }
};

/// Cho et al., arXiv 1406.1078, in the form of cuDNN and PyTorch; see Recurrence for the formula.
class GRU : public RecurrentLayer {
 public:
  explicit GRU(const GRUOptions& options) : RecurrentLayer("GRU", Recurrence::gru, options) {}
  GRU(int64_t input_size, int64_t hidden_size)
      : GRU(GRUOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  RecurrentOutput forward(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RecurrentOutput operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  GRU remake() const { return GRU(options()); }
};

struct RNNCellOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  bool bias = true;
  RNNOptions::Nonlinearity nonlinearity = RNNOptions::Nonlinearity::tanh;  // of an RNNCell
  DType dtype = f32;
};

/// What the cells share: parameters weight_ih, weight_hh, bias_ih, bias_hh. Inputs are (N, input) or (input).
class RecurrentCell : public Module {
 protected:
  RecurrentCell(const char* name, Recurrence kind, const RNNCellOptions& options);
  LSTMState step(const Tensor& x, const LSTMState& state) const;
  const RNNCellOptions& options() const { return options_; }

 private:
  const char* name_;
  Recurrence kind_;
  RNNCellOptions options_;
  Tensor weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

/// One step of an RNN: the next h.
class RNNCell : public RecurrentCell {
 public:
  explicit RNNCell(const RNNCellOptions& options);
  RNNCell(int64_t input_size, int64_t hidden_size)
      : RNNCell(RNNCellOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step(x, {h, {}}).h; }
  RNNCell remake() const { return RNNCell(options()); }
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const {
    return in_layer(
        *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, h);
  }
};

/// One step of an LSTM: the next h and c.
class LSTMCell : public RecurrentCell {
 public:
  explicit LSTMCell(const RNNCellOptions& options) : RecurrentCell("LSTMCell", Recurrence::lstm, options) {}
  LSTMCell(int64_t input_size, int64_t hidden_size)
      : LSTMCell(RNNCellOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  LSTMState forward(const Tensor& x, const LSTMState& state = {}) const { return step(x, state); }
  LSTMState operator()(const Tensor& x, const LSTMState& state = {}) const;
  LSTMCell remake() const { return LSTMCell(options()); }
};

/// One step of a GRU: the next h.
class GRUCell : public RecurrentCell {
 public:
  explicit GRUCell(const RNNCellOptions& options) : RecurrentCell("GRUCell", Recurrence::gru, options) {}
  GRUCell(int64_t input_size, int64_t hidden_size)
      : GRUCell(RNNCellOptions{.input_size = input_size, .hidden_size = hidden_size}) {}
  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step(x, {h, {}}).h; }
  GRUCell remake() const { return GRUCell(options()); }
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const {
    return in_layer(
        *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, h);
  }
};

}  // namespace weft::nn
