// Softmax and cross entropy over rows, against a copy loop of the bytes that must move.
#include "tensor/adjoints/softmax.h"

#include "bench/family.h"

namespace weft::bench {
namespace {

void softmax_forward(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = randn({state.range(0), state.range(1)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(softmax(x, -1)); });
}
void log_softmax_forward(benchmark::State& state) {
  NoGrad guard;
  const Tensor x = randn({state.range(0), state.range(1)});
  memory_bound(state, streams(2, x.numel()), [&] { benchmark::DoNotOptimize(log_softmax(x, -1)); });
}
void softmax_backward_of(benchmark::State& state) {
  NoGrad guard;
  const Tensor y = softmax(randn({state.range(0), state.range(1)}), -1), g = randn({state.range(0), state.range(1)});
  memory_bound(state, streams(3, y.numel()), [&] { benchmark::DoNotOptimize(adjoint::softmax_backward(g, y, -1)); });
}
/// Loss and gradient of the logits: two reads and a write.
void cross_entropy_with_backward(benchmark::State& state) {
  const Tensor x = parameter(randn({state.range(0), state.range(1)}));
  const Tensor targets = randint(0, state.range(1), {state.range(0)});
  memory_bound(state, streams(3, x.numel()), [&] {
    Tensor(x).zero_grad();
    cross_entropy(x, targets).backward();
  });
}

#define WEFT_ROWS(name) \
  BENCHMARK(name)->Args({64, 10})->Args({1024, 256})->Args({4096, 128})->Args({2048, 8192})->UseRealTime()
WEFT_ROWS(softmax_forward);
WEFT_ROWS(log_softmax_forward);
WEFT_ROWS(softmax_backward_of);
WEFT_ROWS(cross_entropy_with_backward);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
