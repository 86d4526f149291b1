// Layers with options that the other golden tests leave at their defaults, against PyTorch, in f64.
// tests/golden/configurations.py makes the values.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using testing::wave;
using In = std::vector<NamedTensor>;

TEST(Configurations, LinearAndLayerNorm) {
  check_module("linear_row", Linear(4, 3), {4});
  check_module("linear_images", Linear(3, 2), {2, 2, 4, 3});
  check_module("layer_norm_row", LayerNorm(5), {5});
  check_module("layer_norm_no_bias", LayerNorm({.normalized_shape = {5}, .eps = 1e-2, .bias = false}), {2, 3, 5});
  check_module("layer_norm_plain", LayerNorm({.normalized_shape = {3, 2}, .affine = false}), {4, 3, 2});
}

template <class M> void check_statistics(const std::string& name, M module, const Shape& shape, bool tracked) {
  check_module(name, module, {shape}, [](M& m, const In& x) { return m(x[0].tensor); });
  (void)module(wave(shape, 1.1, 2.0) + 0.5);
  ASSERT_EQ(module.buffers().size(), tracked ? 3u : 0u) << name;
  if (tracked) {
    expect_golden(name + ".running_mean", module.get_buffer("running_mean"));
    expect_golden(name + ".running_var", module.get_buffer("running_var"));
    expect_golden(name + ".num_batches_tracked", module.get_buffer("num_batches_tracked").to(f64));
  }
  module.eval();
  expect_golden(name + ".eval", module(wave(shape, 0.3)));
}

template <class Batch, class Instance> void check_norms(int axes, const Shape& shape) {
  const std::string batch = "batch_norm_" + std::to_string(axes) + "d_";
  check_statistics(batch + "plain", Batch({.num_features = 3, .affine = false}), shape, true);
  check_statistics(batch + "untracked", Batch({.num_features = 3, .eps = 1e-2, .track_running_stats = false}), shape,
                   false);
  check_statistics(batch + "bare", Batch({.num_features = 3, .affine = false, .track_running_stats = false}), shape,
                   false);
  check_statistics(batch + "average", Batch({.num_features = 3, .eps = 0.1, .momentum = std::nullopt}), shape, true);
  const std::string instance = "instance_norm_" + std::to_string(axes) + "d_";
  check_statistics(instance + "affine", Instance({.num_features = 3, .eps = 0.1, .affine = true}), shape, false);
  check_statistics(instance + "tracked", Instance({.num_features = 3, .momentum = 0.4, .track_running_stats = true}),
                   shape, true);
  check_statistics(instance + "all",
                   Instance({.num_features = 3, .eps = 1e-2, .affine = true, .track_running_stats = true}), shape,
                   true);
  Shape image = shape;
  image.erase(0);
  check_module(instance + "unbatched", Instance({.num_features = 3, .affine = true}), image);
}

TEST(Configurations, Norms) {
  check_norms<BatchNorm1d, InstanceNorm1d>(1, {4, 3, 5});
  check_norms<BatchNorm2d, InstanceNorm2d>(2, {2, 3, 4, 5});
  check_norms<BatchNorm3d, InstanceNorm3d>(3, {2, 3, 2, 4, 3});
}

void check_embedding(const std::string& name, EmbeddingOptions options, const Tensor& indices) {
  options.num_embeddings = 7, options.embedding_dim = 4;
  Embedding table(options);
  check_module("embedding_" + name, table, {}, [&](Embedding& m, const In&) { return m(indices); });
  expect_golden("embedding_" + name + ".after", table.weight());
}

void check_bag(const std::string& name, EmbeddingBagOptions options, const Tensor& indices, const Tensor& offsets) {
  options.num_embeddings = 7, options.embedding_dim = 3;
  EmbeddingBag bag(options);
  check_module("bag_" + name, bag, {}, [&](EmbeddingBag& m, const In&) { return m(indices, offsets); });
  expect_golden("bag_" + name + ".after", bag.weight());
}

TEST(Configurations, Tables) {
  using Mode = EmbeddingBag::Mode;
  const Tensor many = tensor({{1, 2, 6}, {2, 1, 0}}), row = tensor({1, 2, 4, 5, 4, 3});
  check_embedding("row", {}, tensor({3, 3, 1}));
  check_embedding("one", {}, full({}, 4, i64));
  check_embedding("padding", {.padding_idx = -1}, many);
  check_embedding("frequency", {.scale_grad_by_freq = true}, many);
  check_embedding("max_norm", {.max_norm = 0.6}, many);
  check_embedding("max_norm_1", {.padding_idx = 2, .max_norm = 0.9, .norm_type = 1}, many);
  check_bag("frequency", {.scale_grad_by_freq = true}, row, tensor({0, 2, 2, 5}));
  check_bag("frequency_sum", {.mode = Mode::sum, .scale_grad_by_freq = true}, many, {});
  check_bag("max_norm", {.mode = Mode::max, .max_norm = 0.5}, many, {});
  check_bag("last_offset", {.include_last_offset = true}, row, tensor({0, 2, 2, 6}));
}

TEST(Configurations, ProjectedLstms) {
  const auto run = [](LSTM& layer, const In& in) {
    const LSTMOutput out = layer(in[0].tensor, in.size() == 3 ? LSTMState{in[1].tensor, in[2].tensor} : LSTMState{});
    return joined({out.output, out.h, out.c});
  };
  LSTM plain({.input_size = 3, .hidden_size = 4, .proj_size = 2});
  check_module("lstm_projected", plain, {{2, 5, 3}}, run);
  LSTM no_bias({.input_size = 3, .hidden_size = 4, .bias = false, .proj_size = 3});
  check_module("lstm_projected_no_bias", no_bias, {{2, 5, 3}}, run);
  const LSTMOptions both{.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true, .proj_size = 2};
  LSTM deep(both), ragged(both);
  check_module("lstm_projected_deep", deep, {{2, 5, 3}, {4, 2, 2}, {4, 2, 4}}, run);
  check_module("lstm_projected_lengths", ragged, {{3, 5, 3}}, [](LSTM& layer, const In& in) {
    const LSTMOutput out = layer(in[0].tensor, {}, tensor({2, 5, 3}));
    return joined({out.output, out.h, out.c});
  });
}

struct Call {
  AttentionMask mask = {};
  bool weights = false;
  bool average = true;
};

void check_attention(const std::string& name, MultiheadAttentionOptions options, const Call& call,
                     const std::vector<Shape>& shapes) {
  options.embed_dim = 6, options.num_heads = 2;
  MultiheadAttention attention(options);
  check_module("attention_" + name, attention, shapes, [&](MultiheadAttention& m, const In& x) {
    const Tensor key = x[x.size() > 1 ? 1 : 0].tensor, value = x.back().tensor;
    if (!call.weights) return m(x[0].tensor, key, value, call.mask);
    const AttentionOutput out = m.forward_with_weights(x[0].tensor, key, value, call.mask, {.average = call.average});
    return joined({out.output, out.weights});
  });
}

const Tensor padding() { return tensor({{false, false, true, true}, {false, false, false, true}}); }
const Tensor later() { return triu(ones({4, 4}), 1) > 0.5; }

TEST(Configurations, Attention) {
  const Tensor hidden = wave({3, 4}, 0.4)<-0.5, by_head = wave({4, 3, 4}, 0.8)> 0.2;
  const std::vector<Shape> one = {{2, 4, 6}}, two = {{2, 3, 6}, {2, 4, 6}};
  check_attention("bool_mask", {}, {{.mask = hidden}}, two);
  check_attention("head_mask", {}, {{.mask = by_head}}, two);
  check_attention("sizes", {.kdim = 5, .vdim = 3}, {}, {{2, 3, 6}, {2, 4, 5}, {2, 4, 3}});
  check_attention("sizes_no_bias", {.bias = false, .kdim = 5, .vdim = 6}, {{.mask = hidden}},
                  {{2, 3, 6}, {2, 4, 5}, {2, 4, 6}});
  check_attention("sizes_one", {.vdim = 4}, {{.key_padding_mask = padding()}}, {{2, 3, 6}, {2, 4, 6}, {2, 4, 4}});
  check_attention("bias_kv", {.add_bias_kv = true}, {}, one);
  check_attention("bias_kv_masked", {.add_bias_kv = true}, {{.mask = hidden, .key_padding_mask = padding()}}, two);
  check_attention("zero_attn", {.add_zero_attn = true}, {{.mask = later()}}, one);
  check_attention("zero_attn", {.add_zero_attn = true}, {{.causal = true}}, one);
  check_attention("both_attn", {.bias = false, .add_bias_kv = true, .add_zero_attn = true}, {}, two);
  check_attention("weights", {}, {.weights = true}, two);
  check_attention("weights_heads", {}, {.weights = true, .average = false}, two);
  check_attention("weights_masked", {}, {{.mask = hidden}, true}, two);
  check_attention("weights_causal", {.add_zero_attn = true}, {{.causal = true}, true}, one);
}

TEST(Configurations, GroupedQueries) {
  MultiheadAttention one({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 1});
  check_module("attention_one_group", one, {{2, 5, 8}}, [](auto& m, const In& x) { return m(x[0].tensor); });
  MultiheadAttention two({.embed_dim = 8, .num_heads = 4, .bias = false, .num_kv_heads = 2});
  check_module("attention_grouped_masked", two, {{2, 5, 8}}, [](auto& m, const In& x) {
    return m(x[0].tensor, {.mask = wave({5, 5}, 0.4) > 0.5});
  });
}

TEST(Configurations, Transformers) {
  using Options = TransformerEncoderLayerOptions;
  const Options plain{.d_model = 6, .nhead = 2, .dim_feedforward = 8, .dropout = 0};
  Options no_bias = plain, gelu = plain;
  no_bias.layer_norm_eps = 1e-2, no_bias.bias = false;
  gelu.activation = Options::Activation::gelu;
  const Tensor hide_src = wave({4, 4}, 0.4) > 0.5, hide_memory = wave({3, 4}, 0.4) < -0.5;
  const Tensor hide_tgt = triu(ones({3, 3}), 1) > 0.5, added = wave({4, 4}, 0.4, 2.0);
  const Tensor pad_tgt = tensor({{false, false, true}, {false, false, false}});
  const Tensor pad_src = tensor({{false, false, false, true}, {false, false, true, true}});
  struct Kind {
    const char* name;
    Options layer;
    TransformerMask mask;
  };
  const Shape src = {2, 4, 6}, tgt = {2, 3, 6};
  for (const Kind& kind :
       {Kind{"masked", plain, {.src = {hide_src}, .tgt = {hide_tgt}, .memory = {hide_memory}}},
        Kind{"no_bias",
             no_bias,
             {.src = {.key_padding_mask = pad_src},
             .tgt = {.key_padding_mask = pad_tgt},
             .memory = {.key_padding_mask = pad_src}}},
        Kind{"gelu", gelu, {.src = {added}, .tgt = {.causal = true}, .memory = {.key_padding_mask = pad_src}}}}) {
    const std::string name = std::string("_") + kind.name;
    const Options& layer = kind.layer;
    const TransformerMask& mask = kind.mask;
    const auto self = [&](auto& m, const In& x) { return m(x[0].tensor, mask.src); };
    const auto cross = [&](auto& m, const In& x) {
      return m(x[0].tensor, x[1].tensor, DecoderMask{mask.tgt, mask.memory});
    };
    TransformerEncoderLayer encoder(layer);
    TransformerDecoderLayer decoder(layer);
    TransformerEncoder encoders({.layer = layer, .num_layers = 2, .norm = true});
    TransformerDecoder decoders({.layer = layer, .num_layers = 2});
    Transformer whole({.layer = layer, .num_encoder_layers = 1, .num_decoder_layers = 2});
    check_module("encoder" + name, encoder, {src}, self);
    check_module("decoder" + name, decoder, {tgt, src}, cross);
    check_module("encoder_stack" + name, encoders, {src}, self);
    check_module("decoder_stack" + name, decoders, {tgt, src}, cross);
    check_module("transformer" + name, whole, {src, tgt},
                 [&](Transformer& m, const In& x) { return m(x[0].tensor, x[1].tensor, mask); });
  }
}

void check_block(const std::string& end, BasicBlock block, const Shape& shape) {
  const std::string name = "basic_block_" + end;
  check_module(name, block, {shape}, [](BasicBlock& m, const In& x) { return m(x[0].tensor); });
  expect_golden(name + ".running_var", block.get_buffer("bn2.running_var"));
  block.eval();
  expect_golden(name + ".eval", block(wave(shape, 0.6)));
}

TEST(Configurations, BasicBlocks) {
  check_block("same", BasicBlock(2, 2, 3), {1, 2, 7, 4});
  check_block("wider", BasicBlock(2, 5), {2, 2, 3, 4});
  check_block("one_pixel", BasicBlock(3, 3, 2), {4, 3, 1, 1});
}

TEST(Configurations, Pools) {
  check_module("avg_pool2d_divisor", AvgPool2d({.kernel_size = 2, .divisor_override = 3}), {2, 3, 4, 6});
  check_module("avg_pool2d_divisor_padded",
               AvgPool2d({.kernel_size = 3, .stride = 2, .padding = 1, .divisor_override = 5}), {2, 3, 5, 6});
  check_module("avg_pool3d_divisor", AvgPool3d({.kernel_size = 2, .divisor_override = 7}), {1, 2, 4, 4, 2});
  check_module("avg_pool3d_divisor_ceil",
               AvgPool3d({.kernel_size = {2, 1, 2}, .stride = 2, .ceil_mode = true, .divisor_override = 1}),
               {1, 2, 3, 4, 5});
  check_module("adaptive_avg_kept", AdaptiveAvgPool2d({std::nullopt, 2}), {2, 3, 4, 5});
  check_module("adaptive_max_kept", AdaptiveMaxPool2d({3, std::nullopt}), {2, 3, 4, 5});
  check_module("adaptive_avg_kept_3d", AdaptiveAvgPool3d({std::nullopt, 2, std::nullopt}), {1, 2, 3, 4, 5});
  check_module("adaptive_max_kept_3d", AdaptiveMaxPool3d({2, std::nullopt, 3}), {1, 2, 3, 4, 5});
  EXPECT_EQ(AdaptiveAvgPool2d({std::nullopt, 2}).to_string(), "AdaptiveAvgPool2d(output_size={none, 2})");
  EXPECT_EQ(AdaptiveAvgPool2d({3, 2}).to_string(), "AdaptiveAvgPool2d(output_size={3, 2})");
}

TEST(Configurations, Softmaxes) {
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {3, 2, 2}, {1, 1, 2, 2}, {2, 5, 1, 3}};
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Tensor x = parameter(wave(shapes[i], 0.3, 2));
    check_backward("softmax2d_" + std::to_string(i), Softmax2d()(x), {{"x", x}});
  }
  const auto check = [](const std::string& end, AdaptiveLogSoftmaxOptions options) {
    options.in_features = 8, options.n_classes = 10;
    AdaptiveLogSoftmaxWithLoss layer(options);
    check_module("adaptive_softmax" + end, layer, {{6, 8}}, [](AdaptiveLogSoftmaxWithLoss& m, const In& x) {
      const AdaptiveLogSoftmaxOutput out = m(x[0].tensor, tensor({0, 9, 4, 2, 5, 7}));
      return joined({out.output, out.loss, m.log_prob(x[0].tensor)});
    });
  };
  check("", {.cutoffs = {3, 6}, .div_value = 2.8});
  check("_bias", {.cutoffs = {2}, .head_bias = true});
  check("_deep", {.cutoffs = {2, 4, 8}, .div_value = 1.5});
  check("_narrow", {.cutoffs = {5, 9}, .div_value = 2});
}

}  // namespace
}  // namespace weft::nn
