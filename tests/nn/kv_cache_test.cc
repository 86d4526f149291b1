// Caches of keys and values: steps of attention and of transformer stacks give what the whole gives.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TransformerEncoderLayerOptions small_layer() {
  return {.d_model = 8, .nhead = 4, .dim_feedforward = 8, .dropout = 0, .num_kv_heads = 2, .dtype = f64};
}

TEST(Caches, SayWhatTheyHoldAndTakeNoHalves) {
  KvCache cache;
  for (const Shape& other : {Shape{3, 1, 2, 4}, Shape{2, 2, 2, 4}, Shape{2, 1, 3, 4}})
    EXPECT_SAYS(error_of([&] { cache.append(ones({2, 1, 2, 4}), ones(other)); }), "that differ in D at most");
  EXPECT_EQ(cache.length(), 0);
  cache.append(ones({2, 1, 2, 4}), ones({2, 1, 2, 5}));
  EXPECT_SAYS(error_of([&] {
                cache.append(ones({3, 1, 2, 4}), ones({3, 1, 2, 5}));
              }),
              "the cache holds [2, 1, 2, 4] and [2, 1, 2, 5]; clear() it for another batch");
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

TEST(Caches, ReorderKeepsTheCapacity) {
  manual_seed(6);
  KvCache cache;
  const Tensor keys = randn({3, 2, 20, 4}), values = randn({3, 2, 20, 5});
  cache.append(keys, values);
  cache.append(narrow(keys, 2, 0, 1), narrow(values, 2, 0, 1));  // makes room for 40
  cache.truncate(20);
  const Tensor before = cache.keys();
  const Tensor rows = tensor({2, 0, 0, 1});
  cache.reorder(rows);
  EXPECT_EQ(cache.length(), 20);
  EXPECT_TRUE(equal(cache.keys(), index_select(keys, 0, rows)));
  EXPECT_TRUE(equal(cache.values(), index_select(values, 0, rows)));
  EXPECT_TRUE(equal(before, keys));
  EXPECT_EQ(cache.keys().stride(1), 40 * 4);
  EXPECT_EQ(cache.values().stride(1), 40 * 5);
  const Tensor reordered = cache.keys();
  cache.append(randn({4, 2, 20, 4}), randn({4, 2, 20, 5}));
  EXPECT_TRUE(cache.keys().shares_storage(reordered));
  EXPECT_SAYS(error_of([&] { cache.reorder(tensor({0, 4})); }), "index 4 is out of range");
  EXPECT_THROW(cache.reorder(tensor({0.0, 1.0})), DtypeError);
  EXPECT_THROW(cache.reorder(tensor({{0}, {1}})), ShapeError);
  EXPECT_EQ(cache.keys().shape(), (Shape{4, 2, 40, 4}));
}

}  // namespace
}  // namespace weft::nn
