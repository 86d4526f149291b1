// What one small op costs: dispatch, the allocator, the record.
#include <benchmark/benchmark.h>

#include "weft.h"

namespace weft {
namespace {

/// Whether the first operand requires a gradient, so that every op is recorded.
Tensor operand_of(const Shape& shape, bool recorded) { return recorded ? parameter(rand(shape)) : rand(shape); }

void add(benchmark::State& state) {
  const Tensor a = operand_of({state.range(0)}, state.range(1) != 0), b = rand({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
void multiply(benchmark::State& state) {
  const Tensor a = operand_of({state.range(0)}, state.range(1) != 0), b = rand({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(a * b);
}
void relu_of(benchmark::State& state) {
  const Tensor a = operand_of({state.range(0)}, state.range(1) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(relu(a));
}
void product(benchmark::State& state) {
  const int64_t n = state.range(0) == 8 ? 3 : state.range(0) == 64 ? 8 : 32;
  const Tensor a = operand_of({n, n}, state.range(1) != 0), b = rand({n, n});
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b));
}
BENCHMARK(add)->ArgsProduct({{8, 64, 1024}, {0, 1}});
BENCHMARK(multiply)->ArgsProduct({{8, 64, 1024}, {0, 1}});
BENCHMARK(relu_of)->ArgsProduct({{8, 64, 1024}, {0, 1}});
BENCHMARK(product)->ArgsProduct({{8, 64, 1024}, {0, 1}});

void add_bias(benchmark::State& state) {
  const Tensor x = operand_of({8, 8}, state.range(0) != 0), bias = rand({8});
  for (auto _ : state) benchmark::DoNotOptimize(x + bias);
}
void add_in_place(benchmark::State& state) {
  Tensor x = rand({8, 8});
  const Tensor y = rand({8, 8});
  for (auto _ : state) benchmark::DoNotOptimize(x.add_(y));
}
BENCHMARK(add_bias)->Arg(0)->Arg(1);
BENCHMARK(add_in_place);

void view_op(benchmark::State& state) {
  const Tensor x = operand_of({8, 8}, state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(x.view({64}));
}
void transpose_op(benchmark::State& state) {
  const Tensor x = operand_of({8, 8}, state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(x.transpose(0, 1));
}
void slice_op(benchmark::State& state) {
  const Tensor x = operand_of({8, 8}, state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(x.slice(0, 1, 5));
}
BENCHMARK(view_op)->Arg(0)->Arg(1);
BENCHMARK(transpose_op)->Arg(0)->Arg(1);
BENCHMARK(slice_op)->Arg(0)->Arg(1);

/// 100 products and their backward; the time is per op of the chain.
void chain(benchmark::State& state) {
  const Tensor x = parameter(rand({64}));
  for (auto _ : state) {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = y * 1.01;
    y.sum().backward();
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(chain);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
