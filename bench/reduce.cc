// Reductions of 64K, 1M and 16M floats, against a copy loop of the same bytes (a reduction only reads).
#include "bench/family.h"

namespace weft::bench {
namespace {

/// f(x) for x of (rows, 1024).
template <class F> void reduction(benchmark::State& state, const F& f) {
  NoGrad guard;
  const Tensor x = rand({state.range(0) / 1024, 1024});
  memory_bound(state, streams(1, x.numel()), [&] { benchmark::DoNotOptimize(f(x)); });
}

#define WEFT_REDUCTION(name, expression)                          \
  void name(benchmark::State& state) {                            \
    reduction(state, [](const Tensor& x) { return expression; }); \
  }                                                               \
  BENCHMARK(name)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24)->UseRealTime()

WEFT_REDUCTION(sum_all, x.sum());
WEFT_REDUCTION(sum_columns, x.sum(0));
WEFT_REDUCTION(sum_rows, x.sum(1));
WEFT_REDUCTION(mean_all, x.mean());
WEFT_REDUCTION(max_all, x.max());
WEFT_REDUCTION(max_rows, x.max(1));
WEFT_REDUCTION(argmax_rows, x.argmax(1));
WEFT_REDUCTION(variance_rows, x.var(1));
WEFT_REDUCTION(norm_all, x.norm());
WEFT_REDUCTION(logsumexp_rows, x.logsumexp(1));

/// The bias gradient of a convolution: over all but the channels of a channels-last image.
void sum_pixels(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = rand({64, 28, 28, state.range(0)}).permute({0, 3, 1, 2});
  memory_bound(state, streams(1, x.numel()), [&] { benchmark::DoNotOptimize(x.sum({0, 2, 3})); });
}
BENCHMARK(sum_pixels)->Arg(16)->Arg(64)->UseRealTime();

/// Many short rows: what a row costs beyond its elements.
template <class F> void short_rows(benchmark::State& state, const F& f) {
  NoGrad guard;
  const Tensor x = rand({(1 << 20) / state.range(0), state.range(0)});
  memory_bound(state, streams(1, x.numel()), [&] { benchmark::DoNotOptimize(f(x)); });
}
void sum_short_rows(benchmark::State& state) {
  short_rows(state, [](const Tensor& x) { return x.sum(1); });
}
void max_short_rows(benchmark::State& state) {
  short_rows(state, [](const Tensor& x) { return x.max(1); });
}
void variance_short_rows(benchmark::State& state) {
  short_rows(state, [](const Tensor& x) { return x.var(1); });
}
BENCHMARK(sum_short_rows)->Arg(4)->Arg(32)->Arg(64)->UseRealTime();
BENCHMARK(max_short_rows)->Arg(4)->Arg(32)->Arg(64)->UseRealTime();
BENCHMARK(variance_short_rows)->Arg(4)->Arg(32)->Arg(64)->UseRealTime();

/// Pairs of adjacent outputs, (4096, 2) of 32 each: the shortest runs of outputs.
void sum_pairs(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = rand({4096, 3, 32}).slice(1, 0, 2);
  memory_bound(state, streams(1, x.numel()), [&] { benchmark::DoNotOptimize(x.sum(2)); });
}
BENCHMARK(sum_pairs)->UseRealTime();

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
