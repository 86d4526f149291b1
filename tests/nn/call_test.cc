// What every call of a layer does, with any number of tensors: hooks, observers, the layer's place in errors; and
// layers that draw from a generator of their own.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

/// call() with a hook on `module` that sees all inputs, and one that doubles the output.
template <class M, class Call> void expect_hooked(M& module, size_t inputs, const Call& call) {
  const Tensor plain = call(module);
  size_t seen = 0;
  auto before = module.register_forward_pre_hook([&](const Module&, const Tensors& in) { seen = in.size(); });
  auto after = module.register_forward_hook([&](const Module&, const Tensors& in, const Tensor& y) {
    EXPECT_EQ(in.size(), inputs);
    return y * 2.0;
  });
  EXPECT_TRUE(allclose(call(module), plain * 2.0)) << module.type_name();
  EXPECT_EQ(seen, inputs) << module.type_name();
  before.remove(), after.remove();
  // A hook may replace all inputs; with zeros instead of the first one, the output is another.
  auto zero = module.register_forward_pre_hook([](const Module&, const Tensors& in) {
    Tensors given = in;
    given[0] = zeros_like(in[0]);
    return given;
  });
  EXPECT_FALSE(allclose(call(module), plain)) << module.type_name();
  zero.remove();
}

struct Scaled : Layer<Scaled> {
  Tensor forward(const Tensor& x, const Tensor& scale) const { return x * scale; }
};
struct Repeats : Layer<Repeats> {
  Tensor forward(const Tensor& x, int times, const std::string& how) const {
    return how == "add" ? x * static_cast<double>(times) : x;
  }
};
struct Halves : Layer<Halves> {
  LSTMState forward(const Tensor& x, const Tensor& y, const Tensor& z) { return {x + y, z}; }
};

TEST(Calls, OfSeveralTensorsAreHooked) {
  manual_seed(1);
  const Tensor a = randn({2, 3, 4}), b = randn({2, 5, 4}), row = randn({2, 4});
  RNN rnn(4, 4);
  LSTM lstm(4, 4);
  GRU gru(4, 4);
  expect_hooked(rnn, 3, [&](RNN& m) { return m(a).output; });
  expect_hooked(lstm, 4, [&](LSTM& m) { return m(a).output; });
  expect_hooked(gru, 3, [&](GRU& m) { return m(a).output; });
  Scaled scaled;
  Halves halves;
  expect_hooked(scaled, 2, [&](const Scaled& m) { return m(a, a); });
  Repeats repeats;
  expect_hooked(repeats, 1, [&](Repeats& m) { return m(a, 3, std::string("add")); });
  expect_hooked(halves, 3, [&](Halves& m) { return m(a, a, b).h; });
  RNNCell rnn_cell(4, 4);
  LSTMCell lstm_cell(4, 4);
  GRUCell gru_cell(4, 4);
  expect_hooked(rnn_cell, 2, [&](RNNCell& m) { return m(row); });
  expect_hooked(lstm_cell, 3, [&](LSTMCell& m) { return m(row).h; });
  expect_hooked(gru_cell, 2, [&](GRUCell& m) { return m(row); });
  MultiheadAttention attention(4, 2);
  expect_hooked(attention, 3, [&](MultiheadAttention& m) { return m(a, b, b); });
  expect_hooked(attention, 1, [&](MultiheadAttention& m) { return m(a, {.causal = true}); });
  const TransformerEncoderLayerOptions layer{.d_model = 4, .nhead = 2, .dim_feedforward = 4, .dropout = 0};
  TransformerEncoderLayer encoder(layer);
  TransformerDecoderLayer decoder(layer);
  Transformer transformer({.layer = layer, .num_encoder_layers = 1, .num_decoder_layers = 1});
  expect_hooked(encoder, 1, [&](TransformerEncoderLayer& m) { return m(a, {.causal = true}); });
  expect_hooked(decoder, 2, [&](TransformerDecoderLayer& m) { return m(a, b); });
  expect_hooked(transformer, 2, [&](Transformer& m) { return m(a, b); });
  Bilinear bilinear(4, 4, 2);
  PairwiseDistance distance;
  CosineSimilarity similarity({.axis = -1});
  expect_hooked(bilinear, 2, [&](Bilinear& m) { return m(row, row + 1.0); });
  expect_hooked(distance, 2, [&](PairwiseDistance& m) { return m(row, row + 1.0); });
  expect_hooked(similarity, 2, [&](CosineSimilarity& m) { return m(row, row + 1.0); });
  EmbeddingBag bag(6, 3);
  expect_hooked(bag, 3, [&](EmbeddingBag& m) { return m(tensor({1, 2, 4}), tensor({0, 1})); });
  MaxUnpool1d unpool(2);
  const auto pooled = max_pool1d_with_indices(a, {.kernel_size = 2});
  expect_hooked(unpool, 2, [&](MaxUnpool1d& m) { return m(pooled.values, pooled.indices); });
}

TEST(Calls, RefuseAHookThatGivesOtherInputs) {
  Bilinear layer(2, 2, 1);
  auto hook = layer.register_forward_pre_hook([](const Module&, const Tensors& in) { return Tensors{in[0]}; });
  EXPECT_EQ(error_of([&] {
              (void)layer(ones({1, 2}), ones({1, 2}));
            }),
            "a hook of Bilinear gave 1 inputs instead of 2");
  hook.remove();
  EXPECT_EQ(layer(ones({1, 2}), ones({1, 2})).shape(), (Shape{1, 1}));
}

struct Pairs : Module {
  PairwiseDistance distance = register_module("distance", PairwiseDistance());
  CosineSimilarity similarity = register_module("similarity", CosineSimilarity());
};

TEST(Calls, NameTheLayerInErrors) {
  const Pairs pairs;
  EXPECT_TRUE(error_of([&] {
                (void)pairs.distance(ones({2, 3}), ones({2, 4}));
              }).starts_with("in layer distance (PairwiseDistance): "));
  EXPECT_TRUE(error_of([&] {
                (void)pairs.similarity(ones({2, 3}), ones({2, 4}));
              }).starts_with("in layer similarity (CosineSimilarity): "));
}

/// What `layer` draws depends on its generator alone; the process's stays where it is.
template <class M, class Call> void expect_own_numbers(M module, const Call& call) {
  Generator generator(7);
  module.set_generator(generator);
  manual_seed(1);
  const Tensor first = call(module);
  EXPECT_EQ(random_state(), (RandomState{1, 0})) << module.type_name();
  const Tensor second = call(module);
  EXPECT_FALSE(equal(first, second)) << module.type_name();
  generator.manual_seed(7);
  EXPECT_TRUE(equal(call(module), first)) << module.type_name();
}

TEST(Generators, OfLayers) {
  const Tensor x = ones({4, 6, 8}), image = ones({3, 8, 5, 5}), volume = ones({3, 8, 2, 5, 5});
  const auto run = [](const Tensor& input) { return [input](auto& m) { return m(input); }; };
  expect_own_numbers(Dropout(0.5), run(x));
  expect_own_numbers(Dropout1d(0.5), run(x));
  expect_own_numbers(Dropout2d(0.5), run(image));
  expect_own_numbers(Dropout3d(0.5), run(volume));
  expect_own_numbers(AlphaDropout(0.5), run(x));
  expect_own_numbers(FeatureAlphaDropout(0.5), run(x));
  expect_own_numbers(RReLU(), run(-x));
  expect_own_numbers(FractionalMaxPool2d({.kernel_size = 2, .output_size = 3}), run(randn({3, 8, 9, 9})));
  expect_own_numbers(FractionalMaxPool3d({.kernel_size = 2, .output_size = 3}), run(randn({3, 8, 9, 9, 9})));
  expect_own_numbers(Sequential(Linear(8, 8), Dropout(0.5)), run(x));
  expect_own_numbers(LSTM({.input_size = 8, .hidden_size = 4, .num_layers = 2, .dropout = 0.5}),
                     [&](LSTM& m) { return m(x).output; });
  expect_own_numbers(MultiheadAttention({.embed_dim = 8, .num_heads = 2, .dropout = 0.5}), run(randn({4, 6, 8})));
  expect_own_numbers(TransformerEncoderLayer({.d_model = 8, .nhead = 2, .dim_feedforward = 8}), run(x));
}

}  // namespace
}  // namespace weft::nn
