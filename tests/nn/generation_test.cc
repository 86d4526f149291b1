// Generation: rotary positions, caches of keys and values, causal masks of few queries.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/autocast.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TEST(Rope, ProductsDependOnDistances) {
  manual_seed(1);
  const Tensor q = randn({1, 8}, f64), k = randn({1, 8}, f64);
  for (const bool interleaved : {false, true}) {
    const auto product = [&](int64_t i, int64_t j) {
      return sum(rope(q, {.offset = i, .interleaved = interleaved}) *
                 rope(k, {.offset = j, .interleaved = interleaved}))
          .item<double>();
    };
    EXPECT_NEAR(product(0, 3), product(7, 10), 1e-12);
    EXPECT_NEAR(product(5, 5), sum(q * k).item<double>(), 1e-12);
    EXPECT_GT(std::abs(product(0, 3) - product(0, 4)), 1e-6);
  }
}

TEST(Rope, RotatesPairsByTheirAngles) {
  const Tensor x = tensor({{1.0, 2.0, 3.0, 4.0}, {1.0, 2.0, 3.0, 4.0}}, f64);
  const auto rotated = [](double a, double b, double angle) {
    return std::pair{a * std::cos(angle) - b * std::sin(angle), b * std::cos(angle) + a * std::sin(angle)};
  };
  const std::vector<double> halves = rope(x).to_vector<double>();
  const auto [a, c] = rotated(1, 3, 1.0);
  const auto [b, d] = rotated(2, 4, 0.01);
  for (const auto& [at, expected] : {std::pair{4, a}, {5, b}, {6, c}, {7, d}, {0, 1.0}, {3, 4.0}})
    EXPECT_NEAR(halves[static_cast<size_t>(at)], expected, 1e-12) << at;
  const std::vector<double> pairs = rope(x, {.interleaved = true}).to_vector<double>();
  const auto [e, f] = rotated(3, 4, 0.01);
  EXPECT_NEAR(pairs[6], e, 1e-12);
  EXPECT_NEAR(pairs[7], f, 1e-12);
  EXPECT_EQ(error_of([] { rope(ones({2, 3})); }), "rope([2, 3] f32): x must be (..., T, D) with an even D");
  const auto call = [](const std::vector<Tensor>& in) { return rope(in[0]); };
  EXPECT_EQ(gradgradcheck(call, {x}).report(), "");
}

void expect_steps_equal_whole(const MultiheadAttentionOptions& options) {
  manual_seed(2);
  MultiheadAttention attention(options);
  attention.to(f64);
  attention.eval();
  const Tensor x = randn({2, 21, options.embed_dim}, f64), whole = attention(x, {.causal = true});
  KvCache cache;
  int64_t from = 0;
  for (const int64_t count : {5, 1, 1, 9, 5}) {
    const Tensor y = attention(x.narrow(1, from, count), cache);
    EXPECT_TRUE(allclose(y, whole.narrow(1, from, count), 1e-10, 1e-12)) << from;
    from += count;
    EXPECT_EQ(cache.length(), from);
  }
  EXPECT_EQ(cache.keys().size(2), 21);
}

TEST(KvCache, StepsGiveWhatTheWholeGives) {
  expect_steps_equal_whole({.embed_dim = 8, .num_heads = 2});
  expect_steps_equal_whole({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 2});
  expect_steps_equal_whole({.embed_dim = 8, .num_heads = 2, .rope = RopeOptions{}});
  expect_steps_equal_whole(
      {.embed_dim = 16, .num_heads = 4, .num_kv_heads = 1, .rope = RopeOptions{.interleaved = true}});
}

TEST(KvCache, RefusesAnotherBatch) {
  MultiheadAttention attention(8, 2);
  KvCache cache;
  (void)attention(ones({2, 3, 8}), cache);
  EXPECT_NE(error_of([&] {
              (void)attention(ones({1, 1, 8}), cache);
            }).find("clear() it for another batch"),
            std::string::npos);
  cache.clear();
  EXPECT_EQ(attention(ones({1, 1, 8}), cache).shape(), (Shape{1, 1, 8}));
  EXPECT_THROW(cache.append(ones({2, 3}), ones({2, 3})), ShapeError);
}

TEST(KvCache, RefusesAnotherDtype) {
  MultiheadAttention attention(8, 2);
  KvCache cache;
  {
    const Autocast autocast(f16);  // on any CPU; bf16 needs its instructions
    (void)attention(ones({2, 3, 8}), cache);
  }
  EXPECT_NE(error_of<DtypeError>([&] {
              (void)attention(ones({2, 1, 8}), cache);
            }).find("the cache holds f16, not f32; clear() it first"),
            std::string::npos);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_THROW(cache.append(ones({2, 2, 1, 4}, f16), ones({2, 2, 1, 4})), DtypeError);
}

std::vector<double> numbers(const Tensor& x) { return x.to_vector<double>(); }

TEST(KvCache, ACopyGoesOnByItself) {
  const auto one = [](double value) { return full({1, 1, 1, 1}, value); };
  KvCache a;
  a.append(ones({1, 1, 2, 1}), ones({1, 1, 2, 1}));
  KvCache b = a, c;
  c = a;
  a.append(one(5), one(6));
  b.append(one(7), one(8));
  EXPECT_EQ(numbers(a.keys()), (std::vector<double>{1, 1, 5}));
  EXPECT_EQ(numbers(a.values()), (std::vector<double>{1, 1, 6}));
  EXPECT_EQ(numbers(b.keys()), (std::vector<double>{1, 1, 7}));
  EXPECT_EQ(c.length(), 2);
  const KvCache moved = std::move(b);
  EXPECT_EQ(numbers(moved.values()), (std::vector<double>{1, 1, 8}));
  EXPECT_EQ(b.length(), 0);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what it promises
  c = KvCache(c);
  EXPECT_EQ(numbers(c.keys()), (std::vector<double>{1, 1}));
}

TEST(KvCache, TakesNoPositions) {
  KvCache cache;
  cache.append(ones({2, 1, 0, 3}), ones({2, 1, 0, 4}));
  EXPECT_EQ(cache.keys().shape(), (Shape{2, 1, 0, 3}));
  EXPECT_EQ(cache.values().shape(), (Shape{2, 1, 0, 4}));
  cache.append(ones({2, 1, 1, 3}), ones({2, 1, 1, 4}));
  EXPECT_EQ(cache.length(), 1);
}

TEST(KvCache, IsCutAndReordered) {
  KvCache cache;
  const Tensor keys = arange(6).to(f32).reshape({2, 1, 3, 1});
  cache.append(keys, keys + 10.0);
  cache.truncate(2);
  EXPECT_EQ(numbers(cache.keys()), (std::vector<double>{0, 1, 3, 4}));
  cache.reorder(tensor({1, 1, 0}));
  EXPECT_EQ(numbers(cache.keys()), (std::vector<double>{3, 4, 3, 4, 0, 1}));
  EXPECT_EQ(numbers(cache.values()), (std::vector<double>{13, 14, 13, 14, 10, 11}));
  cache.append(zeros({3, 1, 1, 1}), zeros({3, 1, 1, 1}));
  EXPECT_EQ(cache.length(), 3);
  EXPECT_EQ(error_of([&] { cache.truncate(4); }), "KvCache::truncate(4): the cache holds 3 positions");
  cache.truncate(0);
  cache.append(ones({1, 1, 1, 1}), ones({1, 1, 1, 1}));  // another batch
  EXPECT_EQ(cache.length(), 1);
}

TEST(KvCache, StaysAsItWasWhereACallThrows) {
  manual_seed(3);
  TransformerEncoder encoder(
      {.layer = {.d_model = 4, .nhead = 2, .dim_feedforward = 4, .dropout = 0}, .num_layers = 2});
  encoder.eval();
  const Tensor x = randn({1, 4, 4});
  std::vector<KvCache> caches;
  const Tensor whole = encoder(x, {.causal = true});
  (void)encoder(x.narrow(1, 0, 3), caches);
  const Tensor last = x.narrow(1, 3, 1);
  EXPECT_THROW((void)encoder(last, caches, {.mask = zeros({1, 7}, boolean)}), Error);
  EXPECT_THROW((void)encoder(last, caches, {.key_padding_mask = zeros({1, 9}, boolean)}), Error);
  for (const KvCache& cache : caches) EXPECT_EQ(cache.length(), 3);
  EXPECT_TRUE(allclose(encoder(last, caches), whole.narrow(1, 3, 1), 1e-5, 1e-6));
}

TEST(MultiheadAttention, RefusesWhatDoesNotFitTheFurtherOptions) {
  EXPECT_EQ(error_of([] { MultiheadAttention({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 3}); }),
            "MultiheadAttention(): 4 heads do not divide into 3 of keys and values");
  EXPECT_EQ(error_of([] { MultiheadAttention({.embed_dim = 6, .num_heads = 2, .rope = RopeOptions{}}); }),
            "MultiheadAttention(): heads of 3 features cannot be rotated in pairs");
  MultiheadAttention attention(8, 2);
  const Tensor x = ones({2, 3, 8});
  EXPECT_EQ(error_of([&] {
              (void)attention(x, {.key_padding_mask = ones({2, 4}, boolean)});
            }),
            "MultiheadAttention([2, 3, 8] f32): key_padding_mask must be [2, 3], not [2, 4]");
  EXPECT_EQ(error_of([&] {
              (void)attention(x, {.key_padding_mask = ones({2, 3})});
            }),
            "MultiheadAttention([2, 3, 8] f32): key_padding_mask must be bool, not f32");
}

TEST(MultiheadAttention, KeysThatArePaddingAreNotSeen) {
  manual_seed(4);
  MultiheadAttention attention(8, 2);
  const Tensor x = randn({1, 5, 8}), shorter = x.narrow(1, 0, 3);
  const Tensor y = attention(x, {.key_padding_mask = tensor({{false, false, false, true, true}})});
  EXPECT_TRUE(allclose(y.narrow(1, 0, 3), attention(shorter), 1e-5, 1e-6));
}

}  // namespace
}  // namespace weft::nn
