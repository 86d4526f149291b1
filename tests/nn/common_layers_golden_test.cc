// Results and gradients of common layers and losses in their usual configurations against PyTorch, in f64.
// tests/golden/common_layers.py makes the values. Other layers: the other golden tests of this folder.
#include <gtest/gtest.h>

#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/nn/common_layers_values.h"
#include "tests/nn/golden_parts.h"
#include "tests/wave.h"

namespace weft::nn {
namespace {

using testing::wave;

void expect_golden(const std::string& name, const Tensor& tensor) { nn::expect_golden(kGolden, 1e-10, name, tensor); }

void backward(const std::string& name, const Tensor& y, const std::vector<NamedTensor>& inputs) {
  expect_golden(name + ".y", y);
  sum(y * wave(y.shape(), 0.9)).backward();
  for (const NamedTensor& input : inputs) expect_golden(name + "." + input.name + ".grad", input.tensor.grad());
}

template <class M> void check_layer(const std::string& name, M module, const Shape& shape, double scale = 1) {
  fill_parameters(module);
  const Tensor x = parameter(wave(shape, 0.3, scale));
  std::vector<NamedTensor> inputs = module.named_parameters();
  inputs.push_back({"x", x});
  backward(name, module(x), inputs);
}

TEST(CommonLayers, Linear) {
  check_layer("linear", Linear(5, 3), {4, 5});
  check_layer("linear_no_bias", Linear(5, 3, false), {2, 3, 5});
}

TEST(CommonLayers, Conv2d) {
  check_layer("conv",
              Conv2d({.in_channels = 4, .out_channels = 6, .kernel_size = 3, .stride = 2, .padding = 1, .groups = 2}),
              {2, 4, 7, 6});
  check_layer("conv_dilated",
              Conv2d({.in_channels = 2,
                      .out_channels = 3,
                      .kernel_size = {3, 2},
                      .stride = {1, 2},
                      .padding = {2, 1},
                      .dilation = {2, 1},
                      .bias = false}),
              {2, 2, 6, 5});
}

TEST(CommonLayers, LayerNorm) { check_layer("layer_norm", LayerNorm({4, 5}), {3, 4, 5}); }

TEST(CommonLayers, Pool) {
  check_layer("max_pool", MaxPool2d({.kernel_size = 3, .stride = 2, .padding = 1}), {2, 3, 7, 6});
  check_layer("avg_pool", AvgPool2d({.kernel_size = 2, .stride = 1, .padding = 1}), {2, 3, 4, 5});
}

TEST(CommonLayers, Activations) {
  const Shape shape = {5, 7};
  check_layer("relu", ReLU(), shape, 3);
  check_layer("leaky_relu", LeakyReLU(0.1), shape, 3);
  check_layer("gelu", GELU(), shape, 3);
  check_layer("gelu_tanh", GELU(Gelu::tanh), shape, 3);
  check_layer("silu", SiLU(), shape, 3);
  check_layer("sigmoid", Sigmoid(), shape, 3);
  check_layer("tanh", Tanh(), shape, 3);
  check_layer("softplus", Softplus(), shape, 3);
  check_layer("softmax", Softmax(), shape, 3);
  check_layer("log_softmax", LogSoftmax(0), shape, 3);
}

TEST(CommonLayers, Embedding) {
  Embedding table({.num_embeddings = 7, .embedding_dim = 4, .padding_idx = 2});
  fill_parameters(table);
  backward("embedding", table(tensor({{1, 2, 6}, {2, 1, 0}})), table.named_parameters());
}

template <class M> void check_batch_norm(const std::string& name, M module, const Shape& shape) {
  fill_parameters(module);
  const Tensor x = parameter(wave(shape, 0.3));
  std::vector<NamedTensor> inputs = module.named_parameters();
  inputs.push_back({"x", x});
  backward(name, module(x), inputs);
  (void)module(wave(shape, 1.1, 2.0) + 0.5);
  expect_golden(name + ".running_mean", module.running_mean());
  expect_golden(name + ".running_var", module.running_var());
  EXPECT_EQ(module.get_buffer("num_batches_tracked").dtype(), i64);
  expect_golden(name + ".num_batches_tracked", module.get_buffer("num_batches_tracked").to(f64));
  module.eval();
  expect_golden(name + ".eval", module(wave(shape, 0.3)));
  EXPECT_EQ(module.get_buffer("num_batches_tracked").template item<int64_t>(), 2);
}

TEST(CommonLayers, BatchNorm) {
  check_batch_norm("batch_norm_1d", BatchNorm1d(3), {6, 3});
  check_batch_norm("batch_norm_1d_length", BatchNorm1d({.num_features = 3, .eps = 1e-3, .momentum = 0.3}), {4, 3, 5});
  check_batch_norm("batch_norm_2d", BatchNorm2d(3), {2, 3, 4, 5});
  check_batch_norm("batch_norm_average", BatchNorm2d({.num_features = 3, .momentum = std::nullopt}), {2, 3, 4, 5});
}

TEST(CommonLayers, BasicBlock) {
  check_layer("basic_block", BasicBlock(3, 3), {2, 3, 5, 4});
  check_layer("basic_block_down", BasicBlock(2, 4, 2), {2, 2, 5, 4});
}

/// MultiheadAttention of one tensor.
struct SelfAttention : Module {
  MultiheadAttention inner;
  bool causal;
  SelfAttention(const MultiheadAttentionOptions& options, bool is_causal) : inner(options), causal(is_causal) {}
  std::vector<Tensor> parameters() const { return inner.parameters(); }
  std::vector<NamedTensor> named_parameters() const { return inner.named_parameters(); }
  void to(DType dtype) { inner.to(dtype); }
  Tensor operator()(const Tensor& x) const { return inner.forward(x, {.causal = causal}); }
};

TEST(CommonLayers, SelfAttention) {
  check_layer("self_attention", SelfAttention({.embed_dim = 6, .num_heads = 2}, false), {2, 5, 6});
  check_layer("self_attention_causal", SelfAttention({.embed_dim = 6, .num_heads = 2, .bias = false}, true), {2, 5, 6});
}

std::vector<NamedTensor> queries(const Shape& query, const Shape& key, const Shape& value) {
  return {
      {"query", parameter(wave(query, 0))}, {"key", parameter(wave(key, 0.2))}, {"value", parameter(wave(value, 0.4))}};
}

TEST(CommonLayers, CrossAttention) {
  MultiheadAttention attention(6, 3);
  fill_parameters(attention);
  std::vector<NamedTensor> inputs = queries({2, 3, 6}, {2, 4, 6}, {2, 4, 6});
  const Tensor y = attention(inputs[0].tensor, inputs[1].tensor, inputs[2].tensor);
  for (const NamedTensor& entry : attention.named_parameters()) inputs.push_back(entry);
  backward("cross_attention", y, inputs);
}

TEST(CommonLayers, TransformerEncoderLayer) {
  using Options = TransformerEncoderLayerOptions;
  const Options post{.d_model = 6, .nhead = 2, .dim_feedforward = 8, .dropout = 0};
  Options pre = post;
  pre.activation = Options::Activation::gelu;
  pre.norm_first = true;
  check_layer("encoder_post", TransformerEncoderLayer(post), {2, 5, 6});
  check_layer("encoder_pre", TransformerEncoderLayer(pre), {2, 5, 6});
}

TEST(CommonLayers, ScaledDotProductAttention) {
  const auto check = [](const std::string& name, const AttentionOptions& options) {
    const std::vector<NamedTensor> in = queries({2, 3, 5, 2}, {2, 3, 4, 2}, {2, 3, 4, 3});
    backward("attention_" + name, scaled_dot_product_attention(in[0].tensor, in[1].tensor, in[2].tensor, options), in);
  };
  check("plain", {});
  check("causal", {.causal = true});
  check("mask", {.mask = wave({5, 4}, 0.4, 2.0)});
  check("bool_mask", {.mask = wave({5, 4}, 0.4) > -0.5, .scale = 0.3});
}

template <class F> void check_loss(const std::string& name, const Shape& shape, double scale, F loss) {
  const Tensor x = parameter(wave(shape, 0.3, scale));
  backward(name, loss(x), {{"x", x}});
}

class Losses : public ::testing::TestWithParam<std::pair<std::string, Reduction>> {
 protected:
  std::string named(const std::string& loss) const { return loss + "." + GetParam().first; }
  Reduction reduction() const { return GetParam().second; }
};

TEST_P(Losses, OfClasses) {
  const Tensor targets = tensor({2, 0, 4, 1, 2, 3});
  const Tensor weight = abs(wave({5}, 2.0)) + 0.1;
  check_loss(named("cross_entropy"), {6, 5}, 2,
             [&](const Tensor& x) { return cross_entropy(x, targets, {.reduction = reduction()}); });
  check_loss(named("cross_entropy_all"), {6, 5}, 2, [&](const Tensor& x) {
    return cross_entropy(x, targets,
                         {.weight = weight, .ignore_index = 2, .label_smoothing = 0.1, .reduction = reduction()});
  });
  check_loss(named("nll"), {6, 5}, 2, [&](const Tensor& x) {
    return nll_loss(x, targets, {.weight = weight, .ignore_index = 1, .reduction = reduction()});
  });
}

TEST_P(Losses, OfNumbers) {
  const Tensor y = wave({4, 3}, 1.7, 2.0);
  check_loss(named("mse"), {4, 3}, 2, [&](const Tensor& x) { return mse_loss(x, y, reduction()); });
  check_loss(named("l1"), {4, 3}, 2, [&](const Tensor& x) { return l1_loss(x, y, reduction()); });
  check_loss(named("huber"), {4, 3}, 2,
             [&](const Tensor& x) { return huber_loss(x, y, {.delta = 0.7, .reduction = reduction()}); });
  const Tensor p = abs(wave({4, 3}, 0.2));
  check_loss(named("bce"), {4, 3}, 30,
             [&](const Tensor& x) { return bce_with_logits(x, p, {.reduction = reduction()}); });
  const BceWithLogitsOptions weighted = {
      .weight = abs(wave({4, 1}, 0.4)), .pos_weight = abs(wave({3}, 0.6)) + 1, .reduction = reduction()};
  check_loss(named("bce_weighted"), {4, 3}, 2, [&](const Tensor& x) { return bce_with_logits(x, p, weighted); });
}

INSTANTIATE_TEST_SUITE_P(CommonLayers, Losses,
                         ::testing::Values(std::pair{"none", Reduction::none}, std::pair{"mean", Reduction::mean},
                                           std::pair{"sum", Reduction::sum}));

TEST(CommonLayers, LossesOfImages) {
  const Tensor targets = tensor({{{0, 1, 2}, {2, 1, 0}}, {{1, 1, 1}, {0, 2, 0}}});
  check_loss("cross_entropy_images", {2, 3, 2, 3}, 2, [&](const Tensor& x) { return cross_entropy(x, targets); });
  check_loss("nll_images", {2, 3, 2, 3}, 2, [&](const Tensor& x) { return nll_loss(x, targets); });
}

}  // namespace
}  // namespace weft::nn
