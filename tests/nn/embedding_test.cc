// Embedding and EmbeddingBag of tables that are given, alone and shared.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/autocast.h"
#include "tensor/batching/vmap.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

// Rows that are looked up under Autocast have 16 bits, the counts that their gradients are divided by have the table's.
TEST(Embedding, ScalesGradientsByFrequencyUnderAutocast) {
  const Embedding rows({.num_embeddings = 4, .embedding_dim = 2, .scale_grad_by_freq = true}), plain(4, 2);
  const EmbeddingBag bags(4, 2, {.mode = EmbeddingBag::Mode::sum, .scale_grad_by_freq = true});
  const Tensor indices = tensor({{0, 0, 1}, {1, 2, 3}});
  const Autocast autocast(f16);
  const DType dtype = plain(indices).dtype();
  EXPECT_EQ(dtype, f16);
  for (const bool batched : {false, true}) {
    const Tensor y = batched ? vmap([&](const Tensor& i) { return rows(i); })(indices) : rows(indices);
    EXPECT_EQ(y.dtype(), dtype);
    Tensor weight = rows.weight();
    weight.zero_grad();
    sum(y).backward();
    // In vmap, each sample counts its own.
    const Tensor expected = batched ? tensor({1.0, 2.0, 1.0, 1.0}).to(f32).unsqueeze(1).expand({4, 2}) : ones({4, 2});
    EXPECT_TRUE(equal(weight.grad(), expected)) << weight.grad();
  }
  sum(bags(indices)).backward();
  EXPECT_TRUE(equal(bags.weight().grad(), ones({4, 2})));
}

TEST(Embedding, NamesTheFunctionWhateverItsOptions) {
  for (const auto& max_norm : {std::optional<double>(), std::optional<double>(1.0)})
    EXPECT_EQ(error_of([&] { Embedding(5, 3, {.max_norm = max_norm})(tensor({7})); }),
              "embedding([1] i64, [5, 3] f32): index 7 is out of range for an axis of size 5");
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

}  // namespace
}  // namespace weft::nn
