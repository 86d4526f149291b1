// Normalizations, against a copy loop of the bytes that must move: batch norm looks at its input twice (statistics
// first), a row of layer norm stays in the cache.
#include "bench/family.h"
#include "tensor/adjoints/batch_norm.h"

namespace weft::bench {
namespace {

/// Images (64, channels, 28, 28), channels-last as convolutions give them.
Tensor images(int64_t channels) { return randn({64, 28, 28, channels}).permute({0, 3, 1, 2}); }

void batch_norm_forward(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = images(state.range(0)), w = ones({state.range(0)}), b = zeros({state.range(0)});
  memory_bound(state, streams(3, x.numel()), [&] { benchmark::DoNotOptimize(batch_norm_with_statistics(x, w, b).y); });
}
void batch_norm_backward_of(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = images(state.range(0)), g = images(state.range(0)), w = ones({state.range(0)});
  const auto [y, mean, rstd, var] = batch_norm_with_statistics(x, w, zeros({state.range(0)}));
  const Tensor m = mean, r = rstd;
  memory_bound(state, streams(5, x.numel()),
               [&] { benchmark::DoNotOptimize(adjoint::batch_norm_backward(g, x, w, {}, m, r, 1e-5, false)); });
}
BENCHMARK(batch_norm_forward)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK(batch_norm_backward_of)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();

void layer_norm_forward(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = randn({state.range(0), state.range(1)}), w = ones({state.range(1)}), b = zeros({state.range(1)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(layer_norm(x, {x.size(-1)}, w, b)); });
}
void layer_norm_with_backward(benchmark::State& state) {
  const Tensor x = parameter(randn({state.range(0), state.range(1)})), w = parameter(ones({state.range(1)})),
               b = parameter(zeros({state.range(1)})), g = randn({state.range(0), state.range(1)});
  memory_bound(state, streams(5, x.numel()), [&] {
    Tensor(x).zero_grad(), Tensor(w).zero_grad(), Tensor(b).zero_grad();
    layer_norm(x, {x.size(-1)}, w, b).backward(g);
  });
}
BENCHMARK(layer_norm_forward)->Args({1024, 256})->Args({8192, 1024})->UseRealTime();
BENCHMARK(layer_norm_with_backward)->Args({1024, 256})->Args({8192, 1024})->UseRealTime();

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
