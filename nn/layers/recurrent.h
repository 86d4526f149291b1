// The recurrent layers RNN, LSTM and GRU, and their single-step cells RNNCell, LSTMCell and GRUCell. Parameters have
// PyTorch's names and gate order, so PyTorch's state dicts load.
#pragma once

#include <vector>

#include "nn/layers/options.h"
#include "nn/module/layer.h"
#include "tensor/functions/recurrent.h"

namespace weft::nn {

/// Options of LSTM and GRU.
struct RecurrentLayerOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  int64_t num_layers = 1;  // stacked layers; each reads the output of the one below
  bool bias = true;
  double dropout = 0;          // on the output of each layer except the last, in training
  bool bidirectional = false;  // each layer runs in both directions; the outputs are concatenated
  int64_t proj_size = 0;       // LSTM only: h is projected to this size, below hidden_size; 0: no projection
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

/// output (N, L, D H) holds the last layer's hidden state at every step, where D is 2 if bidirectional, else 1. h (D
/// layers, N, H) holds the final states in the order layer 0, layer 0 reversed, layer 1, and so on. If the input has no
/// axis N, neither have these. H is hidden_size; for an LSTM with proj_size, H is proj_size except in c.
struct RecurrentOutput {
  Tensor output, h;
};
struct LSTMOutput {
  Tensor output, h, c;
};
/// The initial states; an undefined tensor means zeros.
struct LSTMState {
  Tensor h = {}, c = {};
};

/// Base of the three layers. Parameters of layer 0 are weight_ih_l0 (G H, input), weight_hh_l0 (G H, H), bias_ih_l0 and
/// bias_hh_l0 (G H), with G the number of gates; the reverse direction (weight_ih_l0_reverse, ...) and the further
/// layers follow. All are initialized uniformly in [-1 / sqrt(H), 1 / sqrt(H)). Inputs are (N, L, input), batch first,
/// or (L, input). `lengths` (N), of an integer dtype, is the number of valid steps of each row: the output of later
/// steps is zero, and h is the state after the last valid step. Lengths are in any order and may be 0, which gives the
/// initial state (PyTorch refuses 0). IndexError for one that is negative or above L.
class RecurrentLayer : public Module {
 protected:
  RecurrentLayer(const char* name, Recurrence kind, const RecurrentLayerOptions& options);
  LSTMOutput run(const Tensor& x, const LSTMState& state, const Tensor& lengths) const;
  Recurrence kind() const { return kind_; }
  const RecurrentLayerOptions& options() const { return options_; }

 private:
  struct Direction {
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;
    Tensor weight_hr;  // (proj_size, H); undefined without proj_size
  };
  void check(const Tensor& x, const LSTMState& state) const;
  LSTMOutput run_batch(Tensor x, const LSTMState& state, const Tensor& lengths) const;
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  /// The size of h.
  int64_t state_size() const { return options_.proj_size > 0 ? options_.proj_size : options_.hidden_size; }

  const char* name_;
  Recurrence kind_;
  RecurrentLayerOptions options_;
  std::vector<Direction> all_;  // by layer, then by direction
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu instead of tanh.
class RNN : public RecurrentLayer {
 public:
  using Nonlinearity = RNNOptions::Nonlinearity;
  explicit RNN(const RNNOptions& options);
  RNN(int64_t input_size, int64_t hidden_size, const RNNOptions& options = {})
      : RNN(detail::positional(options, &RNNOptions::input_size, input_size, &RNNOptions::hidden_size, hidden_size)) {}
  RecurrentOutput forward(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RecurrentOutput operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RNN remake() const { return RNN(kind(), options()); }

 private:
  RNN(Recurrence kind, const RecurrentLayerOptions& options) : RecurrentLayer("RNN", kind, options) {}
};

/// LSTM with a forget gate (Hochreiter and Schmidhuber, 1997); see Recurrence for the formula. With proj_size, h is
/// weight_hr (o tanh(c)) (Sak et al., arXiv 1402.1128), with additional parameters weight_hr_l0, ...
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(const LSTMOptions& options) : RecurrentLayer("LSTM", Recurrence::lstm, options) {}
  LSTM(int64_t input_size, int64_t hidden_size, const LSTMOptions& options = {})
      : LSTM(detail::positional(options, &LSTMOptions::input_size, input_size, &LSTMOptions::hidden_size,
                                hidden_size)) {}
  LSTMOutput forward(const Tensor& x, const LSTMState& state = {}, const Tensor& lengths = {}) const;
  LSTMOutput operator()(const Tensor& x, const LSTMState& state = {}, const Tensor& lengths = {}) const;
  LSTM remake() const { return LSTM(options()); }
};

/// GRU (Cho et al., arXiv 1406.1078) in the variant of cuDNN and PyTorch; see Recurrence for the formula.
class GRU : public RecurrentLayer {
 public:
  explicit GRU(const GRUOptions& options) : RecurrentLayer("GRU", Recurrence::gru, options) {}
  GRU(int64_t input_size, int64_t hidden_size, const GRUOptions& options = {})
      : GRU(detail::positional(options, &GRUOptions::input_size, input_size, &GRUOptions::hidden_size, hidden_size)) {}
  RecurrentOutput forward(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  RecurrentOutput operator()(const Tensor& x, const Tensor& h = {}, const Tensor& lengths = {}) const;
  GRU remake() const { return GRU(options()); }
};

struct RNNCellOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  bool bias = true;
  RNNOptions::Nonlinearity nonlinearity = RNNOptions::Nonlinearity::tanh;  // RNNCell only
  DType dtype = f32;
};

/// Base of the cells, with the parameters weight_ih, weight_hh, bias_ih and bias_hh. Inputs are (N, input) or (input).
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

/// One step of an RNN: returns the next h.
class RNNCell : public RecurrentCell {
 public:
  explicit RNNCell(const RNNCellOptions& options);
  RNNCell(int64_t input_size, int64_t hidden_size, const RNNCellOptions& options = {})
      : RNNCell(detail::positional(options, &RNNCellOptions::input_size, input_size, &RNNCellOptions::hidden_size,
                                   hidden_size)) {}
  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step(x, {h, {}}).h; }
  RNNCell remake() const { return RNNCell(options()); }
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;
};

/// One step of an LSTM: returns the next h and c.
class LSTMCell : public RecurrentCell {
 public:
  explicit LSTMCell(const RNNCellOptions& options) : RecurrentCell("LSTMCell", Recurrence::lstm, options) {}
  LSTMCell(int64_t input_size, int64_t hidden_size, const RNNCellOptions& options = {})
      : LSTMCell(detail::positional(options, &RNNCellOptions::input_size, input_size, &RNNCellOptions::hidden_size,
                                    hidden_size)) {}
  LSTMState forward(const Tensor& x, const LSTMState& state = {}) const { return step(x, state); }
  LSTMState operator()(const Tensor& x, const LSTMState& state = {}) const;
  LSTMCell remake() const { return LSTMCell(options()); }
};

/// One step of a GRU: returns the next h.
class GRUCell : public RecurrentCell {
 public:
  explicit GRUCell(const RNNCellOptions& options) : RecurrentCell("GRUCell", Recurrence::gru, options) {}
  GRUCell(int64_t input_size, int64_t hidden_size, const RNNCellOptions& options = {})
      : GRUCell(detail::positional(options, &RNNCellOptions::input_size, input_size, &RNNCellOptions::hidden_size,
                                   hidden_size)) {}
  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step(x, {h, {}}).h; }
  GRUCell remake() const { return GRUCell(options()); }
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;
};

}  // namespace weft::nn
