// Further options of layers: caches through stacks of transformer layers, tables that are given, parameters by name,
// and the statistics of batch norms anew.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TransformerEncoderLayerOptions small_layer() {
  return {.d_model = 8, .nhead = 4, .dim_feedforward = 8, .dropout = 0, .num_kv_heads = 2, .dtype = f64};
}

TEST(LayerOptions, FollowWhatIsGivenByPosition) {
  EXPECT_EQ(
      nn::Conv2d(3, 16, 3, {.stride = 2, .padding = 1, .bias = false}).to_string(),
      nn::Conv2d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .stride = 2, .padding = 1, .bias = false})
          .to_string());
  EXPECT_EQ(nn::ConvTranspose1d(3, 16, 3, {.stride = 2}).to_string(),
            nn::ConvTranspose1d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::MaxPool2d(3, 2).to_string(), nn::MaxPool2d({.kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::AvgPool3d(3, {.padding = 1}).to_string(), nn::AvgPool3d({.kernel_size = 3, .padding = 1}).to_string());
  EXPECT_EQ(nn::LSTM(8, 16, {.num_layers = 2}).to_string(),
            nn::LSTM({.input_size = 8, .hidden_size = 16, .num_layers = 2}).to_string());
  EXPECT_EQ(nn::BatchNorm1d(4, {.eps = 1e-3}).to_string(),
            nn::BatchNorm1d({.num_features = 4, .eps = 1e-3}).to_string());
  EXPECT_EQ(nn::LayerNorm(4, {.eps = 1e-3}).to_string(),
            nn::LayerNorm({.normalized_shape = {4}, .eps = 1e-3}).to_string());
  EXPECT_EQ(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16}).to_string(),
            nn::TransformerEncoderLayer({.d_model = 8, .nhead = 2, .dim_feedforward = 16}).to_string());
  EXPECT_EQ(nn::Linear(3, 4, {.bias = false}).to_string(), nn::Linear(3, 4, false).to_string());
  EXPECT_EQ(nn::RMSNorm({3, 4}, {.affine = false}).to_string(),
            nn::RMSNorm({.normalized_shape = {3, 4}, .affine = false}).to_string());
  EXPECT_EQ(nn::LayerNorm({3, 4}, {.bias = false}).to_string(),
            nn::LayerNorm({.normalized_shape = {3, 4}, .bias = false}).to_string());
  EXPECT_EQ(nn::InstanceNorm2d(8, {.affine = true}).to_string(),
            nn::InstanceNorm2d({.num_features = 8, .affine = true}).to_string());
  EXPECT_EQ(nn::Bilinear(2, 3, 4, {.bias = false}).to_string(),
            nn::Bilinear({.in1_features = 2, .in2_features = 3, .out_features = 4, .bias = false}).to_string());
  EXPECT_EQ(nn::EmbeddingBag(5, 4, {.mode = EmbeddingBag::Mode::sum}).to_string(),
            nn::EmbeddingBag({.num_embeddings = 5, .embedding_dim = 4, .mode = EmbeddingBag::Mode::sum}).to_string());
  EXPECT_EQ(nn::LPPool2d(2, 3, {.stride = 2}).to_string(),
            nn::LPPool2d(2, {.kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::Unfold(2, {.stride = 2}).to_string(), nn::Unfold({.kernel_size = 2, .stride = 2}).to_string());
  EXPECT_EQ(error_of([] { nn::GRU(8, 16, {.hidden_size = 4}); }), "an option is given twice, by position and by name");
  const Tensor x = randn({2, 3, 7, 7});
  EXPECT_TRUE(equal(max_pool2d(x, 3, 2), max_pool2d(x, {.kernel_size = 3, .stride = 2})));
  EXPECT_TRUE(equal(avg_pool2d(x, 3), avg_pool2d(x, {.kernel_size = 3})));
}

TEST(Caches, StepsOfAnEncoderStackGiveWhatTheWholeGives) {
  manual_seed(3);
  TransformerEncoderLayerOptions layer = small_layer();
  layer.rope = RopeOptions{};
  layer.norm_first = true;
  const TransformerEncoder stack({.layer = layer, .num_layers = 2, .norm = true});
  const Tensor x = randn({2, 7, 8}, f64), whole = stack(x, {.causal = true});
  std::vector<KvCache> caches;
  int64_t from = 0;
  for (const int64_t count : {3, 1, 2, 1}) {
    EXPECT_TRUE(allclose(stack(narrow(x, 1, from, count), caches), narrow(whole, 1, from, count), 1e-10, 1e-12));
    from += count;
  }
  EXPECT_EQ(caches.size(), 2u);
  caches.pop_back();
  EXPECT_EQ(error_of([&] { (void)stack(x, caches); }), "TransformerEncoder: there are 1 caches for 2 layers");
}

TEST(Caches, StepsOfADecoderStackGiveWhatTheWholeGives) {
  manual_seed(4);
  const Transformer model({.layer = small_layer(), .num_encoder_layers = 1, .num_decoder_layers = 2});
  const Tensor src = randn({2, 5, 8}, f64), tgt = randn({2, 6, 8}, f64);
  const Tensor padding = tensor({{false, false, false, false, true}, {false, false, false, true, true}});
  const AttentionMask memory_mask{.key_padding_mask = padding};
  const Tensor whole = model(src, tgt, {.src = memory_mask, .tgt = {.causal = true}, .memory = memory_mask});
  const Tensor memory = model.encoder()(src, memory_mask);
  std::vector<DecoderCache> caches;
  int64_t from = 0;
  for (const int64_t count : {2, 1, 1, 2}) {
    // The memory is read by the first step only.
    const Tensor y =
        model.decoder()(narrow(tgt, 1, from, count), from == 0 ? memory : Tensor(), caches, {.memory = memory_mask});
    EXPECT_TRUE(allclose(y, narrow(whole, 1, from, count), 1e-10, 1e-12)) << from;
    from += count;
  }
  EXPECT_EQ(caches[1].memory.length(), 5);
  caches.pop_back();
  EXPECT_EQ(error_of([&] { (void)model.decoder()(tgt, memory, caches); }),
            "in layer decoder (TransformerDecoder): TransformerDecoder: there are 1 caches for 2 layers");
}

TEST(Caches, TakePaddingAndMasks) {
  manual_seed(5);
  const MultiheadAttention attention({.embed_dim = 8, .num_heads = 2, .dtype = f64});
  const Tensor x = randn({1, 5, 8}, f64);
  // The first two positions are padding: steps give what the others alone give.
  const Tensor padding = tensor({{true, true, false, false, false}});
  const Tensor whole = attention(narrow(x, 1, 2, 3), {.causal = true});
  KvCache cache;
  (void)attention(narrow(x, 1, 0, 3), cache, {.key_padding_mask = narrow(padding, 1, 0, 3)});
  const Tensor y = attention(narrow(x, 1, 3, 2), cache, {.key_padding_mask = padding});
  EXPECT_TRUE(allclose(y, narrow(whole, 1, 1, 2), 1e-10, 1e-12));
  // A mask says which of all positions are hidden, in place of the causal one.
  KvCache all;
  const Tensor seen = attention(x, all, {.mask = zeros({5, 5}, boolean)});
  EXPECT_TRUE(allclose(seen, attention(x), 1e-10, 1e-12));
  KvCache empty;
  EXPECT_EQ(error_of([&] { (void)attention.forward(x, {}, {}, empty); }),
            "MultiheadAttention([1, 5, 8] f64): the cache is empty: key and value must be given");
}

TEST(Attention, HidesWhereABoolMaskIsTrue) {
  manual_seed(6);
  const MultiheadAttention attention({.embed_dim = 8, .num_heads = 2, .dtype = f64});
  const Tensor x = randn({2, 4, 8}, f64);
  const Tensor later = arange(4).unsqueeze(1) < arange(4);
  EXPECT_TRUE(allclose(attention(x, {.mask = later}), attention(x, {.causal = true}), 1e-10, 1e-12));
  EXPECT_EQ(error_of([] { MultiheadAttention({.embed_dim = 8, .num_heads = 2, .kdim = -1}); }),
            "MultiheadAttention(): kdim and vdim must be 1 or more, not -1");
  const MultiheadAttention sizes({.embed_dim = 8, .num_heads = 2, .kdim = 5});
  EXPECT_EQ(sizes.get_parameter("k_proj_weight").shape(), (Shape{8, 5}));
  EXPECT_EQ(
      error_of([&] {
        (void)sizes(ones({1, 2, 8}), ones({1, 2, 8}), ones({1, 2, 8}));
      }),
      "MultiheadAttention([1, 2, 8] f32, [1, 2, 8] f32, [1, 2, 8] f32): the inputs must be (N, L, 5), not [1, 2, 8]");
}

TEST(Attention, WeightsAreProbabilities) {
  manual_seed(7);
  const MultiheadAttention attention({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 2, .dtype = f64});
  const Tensor x = randn({2, 3, 8}, f64);
  const AttentionOutput each = attention.forward_with_weights(x, x, x, {.causal = true}, {.average = false});
  EXPECT_EQ(each.weights.shape(), (Shape{2, 4, 3, 3}));
  EXPECT_TRUE(allclose(each.output, attention(x, {.causal = true}), 1e-10, 1e-12));
  EXPECT_TRUE(allclose(sum(each.weights, -1), ones({2, 4, 3}, f64)));
  EXPECT_EQ(each.weights.index({0, 0, 0, 1}).item<double>(), 0);
  const AttentionOutput hidden = attention.forward_with_weights(x, x, x, {.mask = ones({3, 3}, boolean)});
  EXPECT_TRUE(equal(hidden.weights, zeros({2, 3, 3}, f64)));
}

TEST(Bilinear, TakesOneBatch) {
  EXPECT_EQ(error_of<ShapeError>([] {
              (void)Bilinear(4, 5, 2)(ones({2, 1, 4}), ones({2, 3, 5}));
            }),
            "Bilinear([2, 1, 4] f32, [2, 3, 5] f32): the inputs differ in their batch axes: [2, 1, 4] and [2, 3, 5]");
}

// One image: with several PyTorch accepts it as well, and the result is the bias.
TEST(GroupNorm, OfOneValuePerGroupHasNoVariance) {
  for (const Shape& shape : {Shape{1, 3}, Shape{1, 3, 1}})
    EXPECT_EQ(error_of<ShapeError>([&] { (void)GroupNorm(3, 3)(ones(shape)); }),
              text("GroupNorm(", shape, " f32): each group has one value, which has no variance"));
  EXPECT_TRUE(equal(GroupNorm(3, 3)(ones({2, 3})), zeros({2, 3})));
  EXPECT_EQ(GroupNorm(3, 3)(ones({1, 3, 2})).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(GroupNorm(1, 3)(ones({1, 3})).shape(), (Shape{1, 3}));
}

TEST(Embedding, OfATableThatIsThere) {
  const Tensor table = arange(12).to(f32).reshape({4, 3});
  const Embedding frozen = Embedding::from_pretrained(table);
  EXPECT_TRUE(equal(frozen(tensor({2, 0})), table.index({tensor({2, 0})})));
  EXPECT_FALSE(frozen.weight().requires_grad());
  EXPECT_TRUE(frozen.weight().shares_storage(table));
  const Embedding trained = Embedding::from_pretrained(table, false, {.padding_idx = 1});
  EXPECT_TRUE(trained.weight().requires_grad());
  EXPECT_EQ(trained.to_string(), "Embedding(4, 3, padding_idx=1)");
  EXPECT_TRUE(equal(clone(trained).weight(), table));
  const EmbeddingBag bag = EmbeddingBag::from_pretrained(table, true, {.mode = EmbeddingBag::Mode::sum});
  EXPECT_TRUE(equal(bag(tensor({{1, 3}})), (table[1] + table[3]).unsqueeze(0)));
  for (const auto mode : {EmbeddingBag::Mode::sum, EmbeddingBag::Mode::mean, EmbeddingBag::Mode::max})
    for (int64_t padding : {-1, 1}) {  // bags of one length are rows
      EmbeddingBagOptions options{.mode = mode};
      if (padding >= 0) options.padding_idx = padding;
      const EmbeddingBag bags = EmbeddingBag::from_pretrained(table, true, options);
      EXPECT_TRUE(equal(bags(tensor({1, 3, 0, 2}), tensor({0, 2})), bags(tensor({{1, 3}, {0, 2}}))));
    }
  struct Tied : Module {
    Linear decoder = register_module("decoder", Linear(3, 4, {.bias = false}));
    Embedding embedding = register_module("embedding", Embedding::from_pretrained(decoder.weight(), false));
  };
  Tied tied;
  EXPECT_EQ(tied.parameters().size(), 1u);
  EXPECT_EQ(tied.decoder.weight().name(), "decoder.weight") << "the embedding alone calls it weight";
  EXPECT_TRUE(tied.embedding.weight().is_same(tied.decoder.weight()));
  tied.to(bf16);
  EXPECT_TRUE(equal(tied.embedding.weight(), tied.decoder.weight()));
  sum(tied.embedding(tensor({0})) + tied.decoder(ones({1, 3}, bf16)).narrow(1, 0, 3)).backward();
  EXPECT_EQ(tied.decoder.weight().grad().to(f32).to_vector<float>(),
            (std::vector<float>{2, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(error_of([] { Embedding::from_pretrained(ones({3})); }),
            "Embedding::from_pretrained([3] f32): the weight must be (num_embeddings, embedding_dim)");
  EXPECT_EQ(error_of([] { Embedding({.num_embeddings = 2, .embedding_dim = 2, .max_norm = -1}); }),
            "Embedding(): max_norm must be 0 or more, not -1");
  EXPECT_EQ(error_of([] {
              EmbeddingBag bags({.num_embeddings = 9, .embedding_dim = 2, .include_last_offset = true});
              (void)bags(tensor({1, 2, 3}), tensor({0, 2}));
            }),
            "EmbeddingBag([3] i64): the last offset must be 3, where the last bag ends");
}

struct Scales : Module {
  ParameterDict scales = register_module("scales", ParameterDict());
  Scales() {
    scales.insert("left", ones({2}));
    scales.insert("right", zeros({3}));
  }
};

TEST(ParameterDict, HoldsParametersByName) {
  const Scales net;
  EXPECT_EQ(net.state_dict().size(), 2u);
  EXPECT_TRUE(net.state_dict().contains("scales.right"));
  EXPECT_TRUE(net.scales.contains("left"));
  EXPECT_FALSE(net.scales.contains("other"));
  EXPECT_EQ(net.scales["right"].numel(), 3);
  EXPECT_THROW((void)net.scales["other"], Error);
  EXPECT_EQ(clone(net).scales.size(), 2u);
}

TEST(LstmOptions, RefuseAProjectionThatIsNone) {
  EXPECT_EQ(error_of([] { LSTM({.input_size = 2, .hidden_size = 3, .proj_size = 3}); }),
            "LSTM(): proj_size must be in [0, hidden_size = 3), not 3");
  EXPECT_EQ(error_of([] { GRU({.input_size = 2, .hidden_size = 3, .proj_size = 1}); }),
            "GRU(): only an LSTM has a proj_size");
  const LSTM layer({.input_size = 2, .hidden_size = 3, .proj_size = 1});
  EXPECT_EQ(layer.get_parameter("weight_hr_l0").shape(), (Shape{1, 3}));
  EXPECT_EQ(layer.to_string(), "LSTM(2, 3, num_layers=1, proj_size=1)");
  EXPECT_EQ(error_of([&] {
              (void)layer(ones({1, 4, 2}), {}, tensor({5}));
            }),
            "LSTM([1, 4, 2] f32): a length of 5 is out of range for 4 steps");
}

TEST(UpdateBn, TakesPlainAveragesOverALoader) {
  manual_seed(8);
  Sequential net(BatchNorm1d({.num_features = 2, .momentum = 0.9, .dtype = f64}), Dropout(0.5));
  (void)net(randn({8, 2}, f64) * 5.0);
  net.eval();
  const std::vector<Tensor> batches = {randn({4, 2}, f64), randn({4, 2}, f64) + 3.0};
  update_bn(batches, net);
  const Tensor means = (mean(batches[0], 0) + mean(batches[1], 0)) / 2.0;
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means, 1e-10, 1e-12));
  const Tensor variances = (var(batches[0], 0) + var(batches[1], 0)) / 2.0;
  EXPECT_TRUE(allclose(net.get_buffer("0.running_var"), variances, 1e-10, 1e-12));
  EXPECT_EQ(net.get_buffer("0.num_batches_tracked").item<int64_t>(), 2);
  EXPECT_FALSE(net.is_training());
  // Pairs of an input and a target, as loaders give them; the momentum counts again afterwards.
  const std::vector<std::array<Tensor, 2>> pairs = {{batches[0], ones({4})}, {batches[1], ones({4})}};
  update_bn(pairs, net);
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means, 1e-10, 1e-12));
  net.train();
  (void)net(batches[0]);
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means * 0.1 + mean(batches[0], 0) * 0.9, 1e-10, 1e-12));
}

struct Watcher : Module {
  Tensor mean = register_buffer("running_mean", full({2}, 5.0));
  BatchNorm1d norm = register_module("norm", BatchNorm1d(2));
  Tensor forward(const Tensor& x) const { return norm(x); }
};

TEST(UpdateBn, LeavesAveragesOfOtherModules) {
  Watcher net;
  const std::vector<Tensor> batches = {randn({4, 2})};
  update_bn(batches, net);
  EXPECT_TRUE(equal(net.mean, full({2}, 5.0)));
  EXPECT_TRUE(allclose(net.norm.running_mean(), mean(batches[0], 0), 1e-5, 1e-6));
}

template <class L> void expect_no_nan_of_padding(L layer) {
  Tensor x = weft::parameter(ones({2, 3, 2}));
  {
    NoGrad guard;
    x[1].narrow(0, 2, 1).fill_(std::numeric_limits<double>::quiet_NaN());
    x[1].narrow(0, 1, 1).fill_(std::numeric_limits<double>::infinity());
  }
  sum(layer(x, {}, tensor({3, 1})).output).backward();
  for (const NamedTensor& p : layer.named_parameters())
    EXPECT_FALSE(any(logical_not(isfinite(p.tensor.grad()))).template item<bool>()) << p.name;
  EXPECT_TRUE(equal(x.grad()[1].narrow(0, 1, 2), zeros({2, 2})));
}

TEST(Recurrent, StepsBeyondALengthMayBeNaN) {
  expect_no_nan_of_padding(LSTM(2, 3));
  expect_no_nan_of_padding(LSTM({.input_size = 2, .hidden_size = 3, .bidirectional = true, .proj_size = 2}));
  expect_no_nan_of_padding(GRU(2, 3));
  expect_no_nan_of_padding(RNN(2, 3));
}

}  // namespace
}  // namespace weft::nn
