// Attention, transformer and residual layers: names, modes, what sees what, what they refuse. Values: the golden tests.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

using Names = std::vector<std::string>;

Names names_of(const Module& module) {
  Names out;
  for (const NamedTensor& entry : module.named_parameters()) out.push_back(entry.name);
  return out;
}

TEST(Transformer, NamesArePyTorchs) {
  EXPECT_EQ(names_of(MultiheadAttention(8, 2)),
            (Names{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}));
  EXPECT_EQ(names_of(MultiheadAttention({.embed_dim = 8, .num_heads = 2, .bias = false})),
            (Names{"in_proj_weight", "out_proj.weight"}));
  EXPECT_EQ(names_of(TransformerEncoderLayer({.d_model = 8, .nhead = 2})),
            (Names{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                   "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                   "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}));
  EXPECT_EQ(names_of(BasicBlock(4, 4)),
            (Names{"conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight", "bn2.bias"}));
  EXPECT_EQ(names_of(BasicBlock(4, 8, 2)).back(), "downsample.1.bias");
  EXPECT_EQ(BasicBlock(4, 8, 2).get_parameter("downsample.0.weight").shape(), (Shape{8, 4, 1, 1}));
}

TEST(Transformer, CausalLayersDoNotSeeWhatComes) {
  manual_seed(1);
  TransformerEncoderLayer layer({.d_model = 8, .nhead = 2, .dim_feedforward = 16});
  layer.eval();
  const Tensor x = randn({2, 6, 8}), other = x.clone();
  other.narrow(1, 4, 2).fill_(9);
  const Tensor y = layer(x, {.causal = true}), z = layer(other, {.causal = true});
  EXPECT_TRUE(allclose(y.narrow(1, 0, 4), z.narrow(1, 0, 4)));
  EXPECT_FALSE(allclose(y.narrow(1, 4, 2), z.narrow(1, 4, 2)));
  EXPECT_FALSE(allclose(layer(x).narrow(1, 0, 4), y.narrow(1, 0, 4)));
}

TEST(Transformer, OneTensorOrThreeAreTheSame) {
  manual_seed(2);
  const MultiheadAttention attention(8, 4);
  const Tensor x = randn({2, 5, 8});
  const Tensor mask = tensor({true, true, false, true, false});
  EXPECT_TRUE(allclose(attention(x), attention(x, x.clone(), x.clone()), 1e-5, 1e-6));
  EXPECT_TRUE(
      allclose(attention.forward(x, {.mask = mask}), attention(x, x.clone(), x.clone(), {.mask = mask}), 1e-5, 1e-6));
  EXPECT_TRUE(allclose(attention(x)[0], attention(x[0]), 1e-5, 1e-6));  // without a batch
  EXPECT_TRUE(equal(attention(x, x, x), attention(x)));
}

TEST(Transformer, DropsInTrainingOnly) {
  manual_seed(3);
  MultiheadAttention attention({.embed_dim = 8, .num_heads = 2, .dropout = 0.5});
  const Tensor x = randn({1, 6, 8});
  EXPECT_FALSE(equal(attention(x), attention(x)));
  attention.eval();
  EXPECT_TRUE(equal(attention(x), attention(x)));
}

TEST(Transformer, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { MultiheadAttention(8, 3); }),
            "MultiheadAttention(): embed_dim 8 does not divide into 3 heads");
  EXPECT_EQ(error_of([] { MultiheadAttention({.embed_dim = 8, .num_heads = 2, .dropout = 2}); }),
            "MultiheadAttention(): dropout must be in [0, 1], not 2");
  EXPECT_EQ(error_of([] {
              MultiheadAttention(8, 2)(zeros({2, 3, 7}));
            }),
            "MultiheadAttention([2, 3, 7] f32): the inputs must be (N, L, 8), not [2, 3, 7]");
  EXPECT_EQ(
      error_of([] {
        TransformerEncoderLayer({.d_model = 8, .nhead = 2, .norm_first = true})(zeros({2, 3, 8}),
                                                                                {.mask = zeros({3, 4})});
      }),
      "in layer self_attn (MultiheadAttention): MultiheadAttention([2, 3, 8] f32): the mask must broadcast to [2, 2, "
      "3, 3], not be [3, 4]");
}

// PyTorch refuses them too; the error is the same whether the weights are asked for or not.
TEST(Attention, TakesOneBatchAndMasksOfIt) {
  const MultiheadAttention attention(8, 2);
  const auto refusal = [&](const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask = {}) {
    const std::string with = error_of<Error>([&] { (void)attention.forward_with_weights(q, k, v, mask); });
    EXPECT_EQ(error_of<Error>([&] { (void)attention.forward(q, k, v, mask); }), with);
    const size_t at = with.find("): ");
    return at == std::string::npos ? with : with.substr(at + 3);
  };
  const Tensor q = ones({2, 3, 8}), k = ones({2, 5, 8}), one = ones({1, 5, 8}), none = ones({5, 8});
  const std::string batches = "queries, keys and values have one N or all none, not the batch axes ";
  EXPECT_EQ(refusal(q, one, one), batches + "[2], [1] and [1]");
  EXPECT_EQ(refusal(q, k, one), batches + "[2], [2] and [1]");
  EXPECT_EQ(refusal(q.narrow(0, 0, 1), k, k), batches + "[1], [2] and [2]");
  EXPECT_EQ(refusal(q[0], k, k), batches + "[], [2] and [2]");
  EXPECT_EQ(refusal(q, none, none), batches + "[2], [] and []");
  EXPECT_EQ(refusal(q, one.expand({2, 5, 8}), one.expand({2, 5, 8})), "");
  EXPECT_EQ(refusal(q[0], none, none), "");
  for (const Shape& shape : {Shape{1, 5}, Shape{5}, Shape{2, 4}})
    EXPECT_EQ(refusal(q, k, k, {.key_padding_mask = zeros(shape, boolean)}),
              text("key_padding_mask must be [2, 5], not ", shape));
  EXPECT_EQ(refusal(q[0], none, none, {.key_padding_mask = zeros({1, 5}, boolean)}),
            "key_padding_mask must be [5], not [1, 5]");
  EXPECT_EQ(refusal(q[0], none, none, {.key_padding_mask = zeros({5}, boolean)}), "");
  EXPECT_EQ(refusal(q, k, k, {.mask = zeros({3, 5}, i64)}), "the mask must be bool or floating, not i64");
  for (const Shape& shape : {Shape{5, 3, 5}, Shape{6, 3, 5}, Shape{3, 2, 3, 5}, Shape{1, 2, 2, 3, 5}, Shape{3, 4}})
    EXPECT_EQ(refusal(q, k, k, {.mask = zeros(shape)}),
              text("the mask must broadcast to [2, 2, 3, 5], not be ", shape));
  EXPECT_EQ(refusal(q, k, k, {.mask = zeros({4, 3, 5})}), "");
  const MultiheadAttention single(8, 1);  // a mask of two images on one would make two of it
  EXPECT_THROW((void)single.forward_with_weights(one, one, one, {.mask = zeros({2, 5, 5})}), ShapeError);
}

TEST(Transformer, ADecoderTakesAMemoryOfItsBatch) {
  const TransformerDecoderLayer layer({.d_model = 8, .nhead = 2, .dim_feedforward = 8});
  const Tensor tgt = ones({2, 3, 8}), memory = ones({1, 5, 8});
  EXPECT_THROW((void)layer(tgt, memory), ShapeError);
  DecoderCache cache;
  EXPECT_THROW((void)layer(tgt, memory, cache), ShapeError);
  EXPECT_EQ(cache.memory.length(), 0);
  EXPECT_EQ(layer(tgt, memory.expand({2, 5, 8}), cache).shape(), tgt.shape());
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

}  // namespace
}  // namespace weft::nn
