// Element-wise ops on 64K, 1M and 16M floats, against a copy loop of the same bytes.
#include "bench/family.h"

namespace weft::bench {
namespace {

template <class F> void one_input(benchmark::State& state, const F& f) {
  NoGrad guard;
  const Tensor x = rand({state.range(0)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(f(x)); });
}

template <class F> void two_inputs(benchmark::State& state, const F& f) {
  NoGrad guard;
  const Tensor x = rand({state.range(0)}), y = rand({state.range(0)});
  memory_bound(state, streams(3, x.numel()), [&] { benchmark::DoNotOptimize(f(x, y)); });
}

#define WEFT_ONE(name, expression)                                \
  void name(benchmark::State& state) {                            \
    one_input(state, [](const Tensor& x) { return expression; }); \
  }                                                               \
  BENCHMARK(name)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24)->UseRealTime()
#define WEFT_TWO(name, expression)                                                  \
  void name(benchmark::State& state) {                                              \
    two_inputs(state, [](const Tensor& x, const Tensor& y) { return expression; }); \
  }                                                                                 \
  BENCHMARK(name)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24)->UseRealTime()

WEFT_TWO(add, x + y);
WEFT_TWO(multiply, x* y);
WEFT_TWO(divide, x / y);
WEFT_TWO(maximum_of, maximum(x, y));
WEFT_ONE(add_scalar, x + 1.0);
WEFT_ONE(clone, x.clone());
WEFT_ONE(relu_of, relu(x));
WEFT_ONE(square_root, sqrt(x));
WEFT_ONE(exponential, exp(x));
WEFT_ONE(logarithm, log(x));
WEFT_ONE(hyperbolic_tangent, tanh(x));
WEFT_ONE(sigmoid_of, sigmoid(x));
WEFT_ONE(gelu_of, gelu(x));
WEFT_ONE(sine, sin(x));

/// A matrix and a row that is added to each of its rows; a transposed copy.
void add_row(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = rand({4096, state.range(0)}), row = rand({state.range(0)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(x + row); });
}
void transposed_copy(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = rand({state.range(0), state.range(0)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(x.t().contiguous()); });
}
void in_place_add(benchmark::State& state) {
  NoGrad guard;
  Tensor x = rand({state.range(0)});
  const Tensor y = rand({state.range(0)});
  memory_bound(state, streams(3, x.numel()), [&] { x.add_(y); });
}
BENCHMARK(add_row)->Arg(64)->Arg(1024)->UseRealTime();
BENCHMARK(transposed_copy)->Arg(512)->Arg(2048)->UseRealTime();
BENCHMARK(in_place_add)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24)->UseRealTime();

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
