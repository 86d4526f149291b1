// Causal self-attention of a packed projection, against a large matrix product of as many multiplications (those below
// the diagonal; the gradient's count the scores that it computes again).
#include "bench/family.h"

namespace weft::bench {
namespace {

struct Sizes {
  int64_t batch, length, heads, width;

  explicit Sizes(const benchmark::State& state)
      : batch(state.range(0)), length(state.range(1)), heads(state.range(2)), width(state.range(3)) {}
  Tensor qkv() const { return randn({batch, length, 3 * width}); }
  /// Of `products` products of all heads.
  double flops(double products) const {
    return products * static_cast<double>(batch * width) * static_cast<double>(length * (length + 1));
  }
};

/// A product of a matrix of 512 columns with a square one, `flops` in all.
struct Product {
  Tensor a, b = randn({512, 512});
  explicit Product(double flops) : a(randn({static_cast<int64_t>(flops / (2 * 512 * 512)) + 1, 512})) {}
  void operator()() const { benchmark::DoNotOptimize(matmul(a, b)); }
};

void attention_forward(benchmark::State& state) {
  NoGrad guard;
  const Sizes n(state);
  const Tensor qkv = n.qkv();
  const double flops = n.flops(2);
  product_bound(state, flops, Product(flops),
                [&] { benchmark::DoNotOptimize(packed_attention(qkv, n.heads, {.causal = true})); });
}

void attention_with_backward(benchmark::State& state) {
  const Sizes n(state);
  const Tensor qkv = parameter(n.qkv()), g = randn({n.batch, n.length, n.width});
  const double flops = n.flops(7);
  product_bound(state, flops, Product(flops), [&] {
    Tensor(qkv).zero_grad();
    packed_attention(qkv, n.heads, {.causal = true}).backward(g);
  });
}

#define WEFT_ATTENTION(name)    \
  BENCHMARK(name)               \
      ->Args({8, 128, 4, 256})  \
      ->Args({64, 32, 4, 64})   \
      ->Args({4, 512, 8, 512})  \
      ->Args({1, 2048, 8, 512}) \
      ->UseRealTime()
WEFT_ATTENTION(attention_forward);
WEFT_ATTENTION(attention_with_backward);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
