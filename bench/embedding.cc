// Embeddings: rows of a table by index, and the sums of gradients into its rows.
#include "bench/family.h"
#include "tensor/adjoints/index.h"

namespace weft::bench {
namespace {

/// Arguments: rows of the table, indices, width.
void forward(benchmark::State& state) {
  NoGrad guard;
  const Tensor table = randn({state.range(0), state.range(2)}), indices = randint(0, state.range(0), {state.range(1)});
  memory_bound(state, streams(2, state.range(1) * state.range(2)),
               [&] { benchmark::DoNotOptimize(embedding(indices, table)); });
}
/// Reads each gradient and adds it to a row; writes the whole table.
void backward(benchmark::State& state) {
  NoGrad guard;
  const Tensor g = randn({state.range(1), state.range(2)}), indices = randint(0, state.range(0), {state.range(1)});
  const double bytes = streams(1, state.range(1) * state.range(2)) + streams(1, state.range(0) * state.range(2));
  memory_bound(state, bytes,
               [&] { benchmark::DoNotOptimize(adjoint::embedding_backward(g, indices, state.range(0), -1)); });
}
BENCHMARK(forward)->Args({256, 1024, 256})->Args({50000, 4096, 256})->Args({50000, 4096, 1024})->UseRealTime();
BENCHMARK(backward)->Args({256, 1024, 256})->Args({50000, 4096, 256})->Args({50000, 4096, 1024})->UseRealTime();

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
