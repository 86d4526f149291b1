// Recurrent layers and cells against PyTorch, in f64. tests/golden/recurrent.py makes the values.
#include <gtest/gtest.h>

#include "nn/layers/recurrent.h"
#include "tensor/functions/fill.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using Inputs = std::vector<NamedTensor>;

Tensor joined_of(const RecurrentOutput& out) { return joined({out.output, out.h}); }
Tensor joined_of(const LSTMOutput& out) { return joined({out.output, out.h, out.c}); }

/// The states as a layer takes them.
template <class L> auto states_of(const Inputs& in) {
  if constexpr (std::is_same_v<L, LSTM>)
    return in.size() == 3 ? LSTMState{in[1].tensor, in[2].tensor} : LSTMState{};
  else
    return in.size() == 2 ? in[1].tensor : Tensor();
}

template <class L, class Options> void check_layer(const std::string& name, const Options& base) {
  const auto run = [](L& layer, const Inputs& in) { return joined_of(layer(in[0].tensor, states_of<L>(in))); };
  L plain(base);
  check_module(name, plain, {{2, 5, 3}}, run);
  Options changed = base;
  changed.bias = false;
  L no_bias(changed);
  check_module(name + "_no_bias", no_bias, {{2, 5, 3}}, run);
  changed = base;
  changed.num_layers = 2;
  changed.bidirectional = true;
  L deep(changed);
  std::vector<Shape> shapes = {{2, 5, 3}, {4, 2, 4}};
  if (std::is_same_v<L, LSTM>) shapes.push_back({4, 2, 4});
  check_module(name + "_deep", deep, shapes, run);
  L ragged(changed);
  check_module(name + "_lengths", ragged, {{3, 5, 3}}, [](L& layer, const Inputs& in) {
    return joined_of(layer(in[0].tensor, {}, tensor({2, 5, 3})));
  });
}

TEST(RecurrentGolden, Layers) {
  check_layer<RNN>("rnn", RNNOptions{.input_size = 3, .hidden_size = 4});
  check_layer<RNN>("rnn_relu", RNNOptions{.input_size = 3, .hidden_size = 4, .nonlinearity = RNN::Nonlinearity::relu});
  check_layer<LSTM>("lstm", LSTMOptions{.input_size = 3, .hidden_size = 4});
  check_layer<GRU>("gru", GRUOptions{.input_size = 3, .hidden_size = 4});
}

Tensor joined_of(const Tensor& h) { return h; }
Tensor joined_of(const LSTMState& state) { return joined({state.h, state.c}); }

template <class L> void check_cell(const std::string& name, RNNCellOptions options = {}) {
  constexpr bool kLstm = std::is_same_v<L, LSTMCell>;
  const auto run = [](L& cell, const Inputs& in) {
    if constexpr (kLstm)
      return joined_of(cell(in[0].tensor, in.size() == 3 ? LSTMState{in[1].tensor, in[2].tensor} : LSTMState{}));
    else
      return joined_of(cell(in[0].tensor, in.size() == 2 ? in[1].tensor : Tensor()));
  };
  options.input_size = 3, options.hidden_size = 4;
  L plain(options), with_state(options), single(options);
  options.bias = false;
  L no_bias(options);
  check_module(name, plain, {{2, 3}}, run);
  std::vector<Shape> shapes = {{2, 3}, {2, 4}};
  if (kLstm) shapes.push_back({2, 4});
  check_module(name + "_state", with_state, shapes, run);
  check_module(name + "_single", single, {{3}}, run);
  check_module(name + "_no_bias", no_bias, {{2, 3}}, run);
}

TEST(RecurrentGolden, Cells) {
  check_cell<RNNCell>("rnn_cell");
  check_cell<RNNCell>("rnn_relu_cell", {.nonlinearity = RNN::Nonlinearity::relu});
  check_cell<LSTMCell>("lstm_cell");
  check_cell<GRUCell>("gru_cell");
}

}  // namespace
}  // namespace weft::nn
