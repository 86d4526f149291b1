// Attention, stacks of transformer layers, bags, bilinear forms and distances against PyTorch, in f64.
// tests/golden/attention.py and bags_and_pairs.py make the values.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/fill.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using testing::wave;
using In = std::vector<NamedTensor>;

template <class M> void check_pair(const std::string& name, M module, const Shape& a, const Shape& b) {
  check_module(name, module, {a, b}, [](M& m, const In& x) { return m(x[0].tensor, x[1].tensor); });
}

void check_attention(const std::string& name, const AttentionMask& mask, bool cross) {
  MultiheadAttention attention(6, 2);
  const std::vector<Shape> shapes = cross ? std::vector<Shape>{{2, 3, 6}, {2, 4, 6}} : std::vector<Shape>{{2, 4, 6}};
  check_module("attention_padding" + name, attention, shapes, [&](MultiheadAttention& m, const In& x) {
    const Tensor& memory = x.back().tensor;
    return m(x[0].tensor, memory, memory, mask);
  });
}

TEST(AttentionGolden, Padding) {
  const Tensor padding = tensor({{false, false, true, true}, {false, false, false, true}});
  check_attention("", {.key_padding_mask = padding}, false);
  check_attention("_causal", {.causal = true, .key_padding_mask = padding}, false);
  check_attention("_cross", {.key_padding_mask = padding}, true);
  check_attention("_added", {.mask = wave({3, 4}, 0.4, 2.0), .key_padding_mask = padding}, true);
}

TEST(AttentionGolden, GroupedQueries) {
  for (const bool causal : {false, true}) {
    MultiheadAttention attention({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 2});
    check_module(causal ? "attention_grouped_causal" : "attention_grouped", attention, {{2, 5, 8}},
                 [&](MultiheadAttention& m, const In& x) { return m(x[0].tensor, {.causal = causal}); });
  }
}

TEST(AttentionGolden, Transformers) {
  using Options = TransformerEncoderLayerOptions;
  for (const bool first : {false, true}) {
    const Options layer{.d_model = 6,
                        .nhead = 2,
                        .dim_feedforward = 8,
                        .dropout = 0,
                        .activation = first ? Options::Activation::gelu : Options::Activation::relu,
                        .norm_first = first};
    const std::string end = first ? "pre" : "post";
    const Shape tgt = {2, 3, 6}, memory = {2, 4, 6};
    check_pair("decoder_" + end, TransformerDecoderLayer(layer), tgt, memory);
    check_module("encoder_stack_" + end, TransformerEncoder({.layer = layer, .num_layers = 2}), memory);
    check_pair("decoder_stack_" + end, TransformerDecoder({.layer = layer, .num_layers = 2, .norm = true}), tgt,
               memory);
    check_pair("transformer_" + end, Transformer({.layer = layer, .num_encoder_layers = 2, .num_decoder_layers = 1}),
               memory, tgt);
  }
}

TEST(AttentionGolden, Bags) {
  using Mode = EmbeddingBag::Mode;
  const Tensor rows = tensor({{1, 2, 4}, {3, 3, 6}}), row = tensor({1, 2, 4, 5, 4, 3}), offsets = tensor({0, 2, 2, 5});
  for (const auto& [name, mode] : {std::pair{"sum", Mode::sum}, {"mean", Mode::mean}, {"max", Mode::max}}) {
    const std::string start = "bag_" + std::string(name) + "_";
    EmbeddingBag bag({.num_embeddings = 7, .embedding_dim = 3, .mode = mode}),
        other = EmbeddingBag({.num_embeddings = 7, .embedding_dim = 3, .mode = mode});
    EmbeddingBag padded({.num_embeddings = 7, .embedding_dim = 3, .mode = mode, .padding_idx = 3});
    check_module(start + "rows", bag, {}, [&](EmbeddingBag& m, const In&) { return m(rows); });
    check_module(start + "offsets", other, {}, [&](EmbeddingBag& m, const In&) { return m(row, offsets); });
    check_module(start + "padding", padded, {}, [&](EmbeddingBag& m, const In&) { return m(rows); });
  }
  EmbeddingBag bag({.num_embeddings = 7, .embedding_dim = 3, .mode = Mode::sum});
  fill_parameters(bag);
  const Tensor factors = parameter(wave({2, 3}, 0.7));
  check_backward("bag_weighted", bag.forward(rows, {}, factors), {{"weight", bag.weight()}, {"factors", factors}});
}

TEST(AttentionGolden, TwoInputs) {
  check_pair("bilinear", Bilinear(3, 4, 2), {5, 3}, {5, 4});
  check_pair("bilinear_no_bias", Bilinear({.in1_features = 3, .in2_features = 4, .out_features = 2, .bias = false}),
             {2, 5, 3}, {2, 5, 4});
  check_pair("bilinear_row", Bilinear(2, 2, 1), {1, 2}, {1, 2});
  check_pair("bilinear_single", Bilinear(3, 2, 4), {3}, {2});
  check_pair("cosine_similarity", CosineSimilarity(), {4, 3}, {4, 3});
  check_pair("cosine_similarity_0", CosineSimilarity({.axis = 0}), {4, 3}, {4, 3});
  check_pair("cosine_similarity_eps", CosineSimilarity({.axis = -1, .eps = 1.5}), {2, 4, 3}, {2, 4, 3});
  check_pair("cosine_similarity_images", CosineSimilarity(), {2, 3, 2, 2}, {2, 3, 2, 2});
  check_pair("pairwise_distance", PairwiseDistance(), {4, 3}, {4, 3});
  check_pair("pairwise_distance_1", PairwiseDistance({.p = 1, .keepdim = true}), {4, 3}, {4, 3});
  check_pair("pairwise_distance_3", PairwiseDistance({.p = 3, .eps = 1e-3}), {4, 3}, {3});
  check_pair("pairwise_distance_row", PairwiseDistance(), {3}, {3});
}

}  // namespace
}  // namespace weft::nn
